"""From the jobs of a trace to the columns that a simulation reads; every job left out is counted by its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from controller.simulate.job_table import JobTable
from controller.simulate.shares import Share
from controller.traces.trace import TraceJob


@dataclass(frozen=True, slots=True)
class Selection:
    """The jobs that are simulated, and how many are not, by reason."""

    jobs: JobTable
    left_out: Mapping[str, int]


def within(jobs: Iterable[TraceJob], begin: float = -inf, end: float = inf) -> list[TraceJob]:
    """Jobs handed in from `begin` on and before `end`, in the trace's own seconds."""
    return [job for job in jobs if begin <= job.submitted_seconds < end]


def largest_jobs(jobs: Iterable[TraceJob]) -> dict[str, int]:
    """Tenant → GPUs of its largest job."""
    largest: dict[str, int] = {}
    for job in jobs:
        if job.gpus > largest.get(job.tenant, 0):
            largest[job.tenant] = job.gpus
    return largest


def selected(jobs: Iterable[TraceJob], shares: Sequence[Share], most_gpus: Mapping[str, int]) -> Selection:
    """Jobs of known tenants that can ever start. `most_gpus` is tenant → the largest gang that it can be given."""
    index = {share.tenant: number for number, share in enumerate(shares)}
    left_out: Counter[str] = Counter()
    kept: list[TraceJob] = []
    for job in jobs:
        if job.tenant not in index:
            left_out["its tenant has no quota"] += 1
        elif job.gpus > most_gpus[job.tenant]:
            left_out["larger than all its tenant can be given"] += 1
        else:
            kept.append(job)
    table = JobTable(
        tuple(share.tenant for share in shares),
        [job.submitted_seconds for job in kept],
        [job.run_seconds for job in kept],
        [job.gpus for job in kept],
        [index[job.tenant] for job in kept],
        [job.priority for job in kept],
        [inf if job.deadline_seconds is None else job.deadline_seconds for job in kept],
    )
    return Selection(table.in_order(), dict(left_out))
