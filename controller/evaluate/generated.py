"""A workload that nobody recorded: eight tenants whose jobs are drawn from published distributions and a seed."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Final

from controller.simulate.generator import DAY, HOUR, Demand, submissions
from controller.traces.trace import Trace, TraceJob

GENERATED: Final = Path("generated")
"""What stands for it where a file is asked for; a file of that name comes first."""
_MEAN_GPUS: Final = (96.0, 64.0, 48.0, 32.0, 24.0, 16.0, 12.0, 8.0)
"""GPUs that each tenant would use if it never waited: few large ones and many small, as virtual clusters are."""
_LONGEST_SECONDS: Final = 7 * DAY
_FIRST: Final = datetime(2026, 1, 5, tzinfo=UTC).timestamp()
_SPAN_SECONDS: Final = 28 * DAY


def is_generated(trace: Path) -> bool:
    """Whether this asks for a drawn workload and names no file."""
    return trace == GENERATED and not trace.exists()


def generated(seed: int, begin: float, end: float) -> Trace:
    """All that is handed in from `begin` to `end` (epoch seconds); four weeks where an end of the span is infinite."""
    begin = begin if isfinite(begin) else end - _SPAN_SECONDS if isfinite(end) else _FIRST
    end = end if isfinite(end) else begin + _SPAN_SECONDS
    demands = [
        Demand(f"tenant-{number}", gpus, longest_seconds=_LONGEST_SECONDS)
        for number, gpus in enumerate(_MEAN_GPUS, start=1)
    ]
    drawn = submissions(demands, seed, max(0.0, end - begin), begin % DAY / HOUR)
    jobs = (TraceJob(begin + one.at, one.job.run_seconds, one.job.gpus, one.job.tenant) for one in drawn)
    return Trace(tuple(jobs), {}, "generated")
