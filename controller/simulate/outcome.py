"""What a simulated trace came to: waits, evictions, losses and attainment, for all and by tenant. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, nan
from statistics import fmean

from controller.simulate.attainment import attainments
from controller.simulate.batch_setting import NEVER, Fates
from controller.simulate.job_table import JobTable
from controller.simulate.shares import Share


@dataclass(frozen=True, slots=True)
class TenantOutcome:
    """How one tenant fared. Means and quantiles are NaN where there is no job."""

    jobs: int
    mean_wait_seconds: float
    p95_wait_seconds: float
    max_wait_seconds: float
    preemptions: int
    gpu_seconds_lost: float
    attainment: float | None
    """None: not judged."""
    deadlines_missed_ratio: float | None
    """None: no job had a deadline."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How all fared."""

    all: TenantOutcome
    tenants: dict[str, TenantOutcome]
    allocation_ratio: float
    """GPU time in use over GPU time there was, from the first submission to the last."""
    unfinished: int


def outcome_of(jobs: JobTable, fates: Fates, shares: Sequence[Share], capacity_gpus: int) -> Outcome:
    """Sum a run up. Waits of jobs that never started count until the run's last event."""
    waits = _waits(jobs, fates)
    rows_of: list[list[int]] = [[] for _ in jobs.tenants]
    for row, tenant in enumerate(jobs.tenant):
        rows_of[tenant].append(row)
    attained = attainments(jobs, fates, shares)
    return Outcome(
        _of(range(len(jobs)), jobs, fates, waits, None),
        {name: _of(rows_of[number], jobs, fates, waits, attained[name]) for number, name in enumerate(jobs.tenants)},
        _allocation(jobs, fates, capacity_gpus),
        fates.end_seconds.count(NEVER),
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that this share of all values does not exceed, by rank; NaN for none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else nan


def _waits(jobs: JobTable, fates: Fates) -> list[float]:
    last = max(fates.end_seconds, default=0.0)
    starts = zip(fates.wait_seconds, fates.first_start_seconds, jobs.submit_seconds, strict=True)
    return [max(0.0, last - submitted) if start == NEVER else wait for wait, start, submitted in starts]


def _of(
    rows: Sequence[int], jobs: JobTable, fates: Fates, waits: Sequence[float], attainment: float | None
) -> TenantOutcome:
    own = sorted(waits[row] for row in rows)
    return TenantOutcome(
        len(rows),
        fmean(own) if own else nan,
        quantile(own, 0.95),
        own[-1] if own else nan,
        sum(fates.evictions[row] for row in rows),
        sum(fates.lost_gpu_seconds[row] for row in rows),
        attainment,
        _missed(rows, jobs, fates),
    )


def _missed(rows: Iterable[int], jobs: JobTable, fates: Fates) -> float | None:
    """Of the jobs with a deadline, those that ended after it or not at all."""
    due = [row for row in rows if jobs.deadline_seconds[row] < inf]
    late = sum(1 for row in due if not NEVER < fates.end_seconds[row] <= jobs.deadline_seconds[row])
    return late / len(due) if due else None


def _allocation(jobs: JobTable, fates: Fates, capacity_gpus: int) -> float:
    if not len(jobs):
        return nan
    begin, end = jobs.submit_seconds[0], jobs.submit_seconds[-1]
    held = sum(max(0.0, min(stop, end) - start) * jobs.gpus[row] for row, start, stop in fates.stays)
    there = capacity_gpus * (end - begin)
    return held / there if there > 0 else nan
