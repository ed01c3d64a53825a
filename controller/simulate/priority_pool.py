"""One queue for all in which somebody sets priorities while jobs wait. Nobody is evicted. Pure, exact.

Served is the highest priority, then age in whole seconds as the API keeps it, then row; who does not fit is passed
over. How long a job runs, only this engine knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import floor

from controller.simulate.batch_setting import NEVER
from controller.simulate.job_table import JobTable
from controller.simulate.one_pool import OnePool
from controller.simulate.packing import Packing


class PriorityPool(OnePool):
    """A running trace. Jobs come with the priority that the table gives them."""

    def __init__(self, jobs: JobTable, gpus: int, nodes: Packing | None = None) -> None:
        super().__init__(jobs, gpus, nodes)
        self._priority = list(jobs.priority)
        self._heaps: dict[int, list[tuple[int, int, int]]] = {}
        """Size → (priority inverted, age, row), the next one on top; what no longer holds is dropped on the way."""

    def arrived(self, since: int) -> Iterator[int]:
        """The rows handed in after the first `since` ones."""
        yield from range(since, self._arrived)

    @property
    def arrivals(self) -> int:
        """How many were handed in so far."""
        return self._arrived

    def waits(self, row: int) -> bool:
        """Whether it is there and did not start."""
        return row < self._arrived and self.fates.first_start_seconds[row] == NEVER

    def priority(self, row: int) -> int:
        """As it stands."""
        return self._priority[row]

    def set_priority(self, row: int, priority: int) -> None:
        """Change that of a job that waits; who starts already keeps its place. Nobody starts before `advance`."""
        if self._priority[row] != priority and self.waits(row):
            self._priority[row] = priority
            self._wait(row)

    def _wait(self, row: int) -> None:
        entry = (-self._priority[row], floor(self._jobs.submit_seconds[row]), row)
        heappush(self._heaps.setdefault(self._jobs.gpus[row], []), entry)

    def _next(self) -> int | None:
        best: tuple[int, int, int] | None = None
        for size, heap in self._heaps.items():
            if not self._has_room(size):
                continue
            while heap and not self._holds(heap[0]):
                heappop(heap)
            if heap and (best is None or heap[0] < best):
                best = heap[0]
        if best is None:
            return None
        heappop(self._heaps[self._jobs.gpus[best[2]]])
        return best[2]

    def _holds(self, entry: tuple[int, int, int]) -> bool:
        row = entry[2]
        return self.fates.first_start_seconds[row] == NEVER and -entry[0] == self._priority[row]
