"""One pool in which the earliest deadline goes first: jobs without one after them, hopeless jobs last. Pure, exact.

A baseline to measure against. It knows how long jobs run, as they declared; no policy of Trimtab's does.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from math import inf

from controller.simulate.job_table import JobTable
from controller.simulate.one_pool import OnePool
from controller.simulate.packing import Packing

_HOPELESS = 2


class DeadlinePool(OnePool):
    """A running trace of jobs with deadlines. Nobody is evicted; who does not fit is passed over."""

    def __init__(self, jobs: JobTable, gpus: int, nodes: Packing | None = None) -> None:
        super().__init__(jobs, gpus, nodes)
        self._heaps: dict[int, list[tuple[int, float, int]]] = {}
        """Size → (class, deadline or submission, row), the next one on top."""

    def _wait(self, row: int) -> None:
        deadline = self._jobs.deadline_seconds[row]
        entry = (0, deadline, row) if deadline < inf else (1, self._jobs.submit_seconds[row], row)
        heappush(self._heaps.setdefault(self._jobs.gpus[row], []), entry)

    def _next(self) -> int | None:
        best: tuple[int, float, int] | None = None
        for size, heap in self._heaps.items():
            if heap and self._has_room(size):
                self._put_hopeless_last(heap)
                if best is None or heap[0] < best:
                    best = heap[0]
        if best is None:
            return None
        heappop(self._heaps[self._jobs.gpus[best[2]]])
        return best[2]

    def _put_hopeless_last(self, heap: list[tuple[int, float, int]]) -> None:
        """Only who comes next is looked at: what is hopeless further down is found when it comes up."""
        while heap[0][0] == 0 and heap[0][1] < self.now + self._jobs.run_seconds[heap[0][2]]:
            row = heap[0][2]
            heapreplace(heap, (_HOPELESS, self._jobs.submit_seconds[row], row))
