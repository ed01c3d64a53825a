"""The jobs of a whole trace as columns: what a simulation of many thousand jobs reads. Plain values. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobTable:
    """Jobs in order of submission; equal positions belong to one job. Times are seconds on the trace's own clock."""

    tenants: tuple[str, ...]
    submit_seconds: Sequence[float]
    run_seconds: Sequence[float]
    gpus: Sequence[int]
    tenant: Sequence[int]
    """Index into `tenants`."""
    priority: Sequence[int]
    """Higher is served first; between jobs of one queue, and between tenants."""
    deadline_seconds: Sequence[float]
    """When it should have ended, on the trace's clock; infinite where nobody said so."""

    def __len__(self) -> int:
        """How many jobs."""
        return len(self.submit_seconds)

    def until(self, seconds: float) -> JobTable:
        """The jobs handed in before that moment; they are in order of time."""
        return self.of_rows(range(bisect_left(self.submit_seconds, seconds)))

    def from_row(self, first: int) -> JobTable:
        """The jobs from that position on."""
        return self.of_rows(range(first, len(self)))

    def in_order(self) -> JobTable:
        """The same by time of submission; jobs of one moment stay in their order."""
        return self.of_rows(sorted(range(len(self)), key=self.submit_seconds.__getitem__))

    def of_rows(self, rows: Sequence[int]) -> JobTable:
        """Just these jobs, in the order in which the rows are given."""
        return JobTable(
            self.tenants,
            [self.submit_seconds[row] for row in rows],
            [self.run_seconds[row] for row in rows],
            [self.gpus[row] for row in rows],
            [self.tenant[row] for row in rows],
            [self.priority[row] for row in rows],
            [self.deadline_seconds[row] for row in rows],
        )
