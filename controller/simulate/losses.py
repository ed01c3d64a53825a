"""What an eviction costs: a job goes back to its last checkpoint. When that was, no policy may see. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, exp, log, pi, sqrt

from controller.simulate.chance import Chance

_MEDIAN_SECONDS = 3600.0
_SIGMA = 0.5


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """A job saves its work at `phase_seconds` of progress and every `interval_seconds` after."""

    interval_seconds: float
    phase_seconds: float = 0.0


def saved_seconds(done_seconds: float, checkpoints: Checkpoints | None) -> float:
    """How much of the work outlives an eviction; None: the job saves nothing."""
    if checkpoints is None or done_seconds < checkpoints.phase_seconds:
        return 0.0
    return done_seconds - (done_seconds - checkpoints.phase_seconds) % checkpoints.interval_seconds


def hidden_checkpoints(seed: int, row: int) -> Checkpoints:
    """Those of one job of a trace: an interval around an hour (lognormal, sigma 0.5), and a phase within it."""
    stream = Chance(seed).apart("checkpoints", row)
    normal = sqrt(-2.0 * log(1.0 - stream.uniform())) * cos(2.0 * pi * stream.uniform())
    interval = _MEDIAN_SECONDS * exp(_SIGMA * normal)
    return Checkpoints(interval, interval * stream.uniform())
