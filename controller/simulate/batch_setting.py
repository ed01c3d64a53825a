"""What a whole-trace simulation is set up with, and what it gives: plain values. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import floor, inf
from typing import Final, TypeAlias

from controller.simulate.job_table import JobTable
from controller.simulate.losses import Checkpoints
from controller.simulate.packing import Packing

NEVER: Final = -1.0
"""A moment that did not come; traces begin at 0 or later."""

Saves: TypeAlias = Callable[[int], Checkpoints | None]
"""When the job of a row saves its work. Only evictions ask; no policy may."""


@dataclass(frozen=True, slots=True)
class QueueQuota:
    """GPUs of one queue: its own entitlement, how much of that is never lent, and where its use ends."""

    quota: int
    reserve: int = 0
    ceiling: float = inf


@dataclass(frozen=True, slots=True)
class Rules:
    """How queues compete. Times are seconds."""

    reclaims: bool = True
    """Who stays within its quota may evict from queues that are above theirs."""
    preempts_within_queue: bool = False
    """Higher priority may evict lower priority of its own queue."""
    restart_seconds: float = 30.0
    """Work that an evicted job does again on top of what it lost."""
    requeue_seconds: float = 5.0
    """From an eviction until the job may start again; above 0, see `Timings`."""

    def __post_init__(self) -> None:
        """Raise ValueError for times that can not be."""
        if not (self.requeue_seconds > 0 and self.restart_seconds >= 0):
            raise ValueError(
                f"requeue {self.requeue_seconds} s, restart {self.restart_seconds} s, expected above 0, and 0 or more"
            )


@dataclass(frozen=True, slots=True)
class Setting:
    """The cluster that a trace runs on."""

    quotas: Sequence[QueueQuota]
    """By queue."""
    queue_of: Sequence[int]
    """Tenant → its queue."""
    rules: Rules
    nodes: Sequence[Packing] | None = None
    """Queue → the nodes its gangs go to, which queues may share; None: GPUs are only counted."""
    shared: int = 0
    """GPUs that belong to no queue and may be borrowed by all."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One job as whoever watches the cluster sees it: not how long it will run, nor when it saves its work."""

    row: int
    waited_seconds: float
    """So far, summed over evictions."""
    began_seconds: float | None
    """Since when it holds its GPUs; None: it waits."""
    evictions: int


@dataclass(slots=True)
class Fates:
    """What became of each job, by row of the table. Times are on the trace's clock; NEVER where it did not happen."""

    first_start_seconds: list[float]
    end_seconds: list[float]
    wait_seconds: list[float]
    """Summed over evictions."""
    evictions: list[int]
    evictors: dict[int, dict[int, int]]
    """Evicted row → tenant of the job that it gave way to → how often."""
    lost_gpu_seconds: list[float]
    """Work done in vain, without restarts."""
    stays: list[tuple[int, float, float]] = field(default_factory=list)
    """(row, begin, end) of every stretch in which a job held its GPUs, in order of its end."""

    @classmethod
    def none_yet(cls, rows: int) -> Fates:
        """All jobs still to come."""
        return cls([NEVER] * rows, [NEVER] * rows, [0.0] * rows, [0] * rows, {}, [0.0] * rows)

    def from_row(self, first: int) -> Fates:
        """Of the jobs from that position on, which is the first one then."""
        return Fates(
            self.first_start_seconds[first:],
            self.end_seconds[first:],
            self.wait_seconds[first:],
            self.evictions[first:],
            {row - first: by for row, by in self.evictors.items() if row >= first},
            self.lost_gpu_seconds[first:],
            [(row - first, begin, end) for row, begin, end in self.stays if row >= first],
        )


def served_by_priority(jobs: JobTable) -> list[int]:
    """Rows as a queue serves them: priority, then age in whole seconds as the API keeps it, then row."""
    ages = [floor(at) for at in jobs.submit_seconds]
    return sorted(range(len(jobs)), key=lambda row: (-jobs.priority[row], ages[row], row))
