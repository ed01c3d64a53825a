"""Recipe `speed`: jobs simulated per second of processor time on this machine, GPUs counted, loading apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from controller.evaluate.folder import TraceFolder
from controller.evaluate.philly import BEGIN, END, load_philly
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell
from controller.evaluate.score import SHIPPED
from controller.evaluate.steered_trace import SteeredTrace, Steering
from controller.simulate.baselines import Baseline, Conditions, prepared
from controller.simulate.fifo import fifo_starts

_CAPACITY_RATIO: Final = 0.25
"""The stress point: half of all jobs wait, and lent GPUs are reclaimed thousands of times."""
_ROUNDS: Final = 3
CONTROLLED_SECONDS: Final = END - BEGIN
"""What is submitted within this time from the beginning is decided on every minute, until its last job has ended."""


def _load(folder: TraceFolder) -> Run:
    philly = load_philly(folder)
    jobs, shares = philly.table(), philly.at(_CAPACITY_RATIO)
    quotas = [share.quota for share in shares]

    def run(seeds: int, tell: Tell) -> Outcome:
        del seeds  # no chance is involved
        tell(0.1, "first come, first served")
        fifo = _fastest(lambda: fifo_starts(jobs, quotas))
        tell(0.3, "borrow, reclaim, preempt")
        quota = _fastest(lambda: prepared(Baseline.KUEUE_FIXED, jobs, shares, Conditions()).advance())
        tell(0.5, "decided every minute")
        steered = jobs.until(BEGIN + CONTROLLED_SECONDS)
        controlled = _fastest(lambda: SteeredTrace(steered, shares, Conditions(), Steering(SHIPPED)).advance(), 1)
        results = {
            "fifo_jobs_per_second": len(jobs) / fifo,
            "quota_jobs_per_second": len(jobs) / quota,
            "controlled_jobs_per_second": len(steered) / controlled,
        }
        details = {
            "jobs": float(len(jobs)),
            "fifo_seconds": fifo,
            "quota_seconds": quota,
            "controlled_jobs": float(len(steered)),
            "controlled_seconds": controlled,
        }
        return Outcome(results, (SeedResult(0, results, "counts"),), details)

    return run


def _fastest(work: Callable[[], object], most_rounds: int = _ROUNDS) -> float:
    """Processor seconds of the fastest round: what else this machine does is no part of the answer."""
    rounds = []
    for _ in range(most_rounds):
        begin = time.process_time()
        work()
        rounds.append(time.process_time() - begin)
    return min(rounds)


SPEED: Final = Recipe(
    "speed",
    "Jobs simulated per processor second: Philly, October and November 2017, at a quarter of its size.",
    "185 jobs/s Helios; 10-16 GFS and Gavel; plain prototypes 250,000 (counts), 55,000 (borrow and reclaim)",
    (
        Goal("fifo_jobs_per_second", Sense.AT_LEAST, 150_000),
        Goal("quota_jobs_per_second", Sense.AT_LEAST, 50_000),
        Goal("controlled_jobs_per_second", Sense.AT_LEAST, 5_000),
    ),
    _load,
    seeds=1,
)
