"""The same trace as it might as well have been: jobs handed in a little earlier or later, by a seed. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from controller.simulate.chance import Chance
from controller.simulate.job_table import JobTable

JITTER_SECONDS: Final = 600.0


def jittered(jobs: JobTable, seed: int, seconds: float = JITTER_SECONDS) -> JobTable:
    """Each job up to `seconds` earlier or later, its deadline with it; never before the clock's begin."""
    chance = Chance(seed).apart("submit")
    moves = [max(-at, chance.between(-seconds, seconds)) for at in jobs.submit_seconds]
    moved = replace(
        jobs,
        submit_seconds=[at + move for at, move in zip(jobs.submit_seconds, moves, strict=True)],
        deadline_seconds=[at + move for at, move in zip(jobs.deadline_seconds, moves, strict=True)],
    )
    return moved.in_order()
