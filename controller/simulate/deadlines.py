"""One pool in which the earliest deadline goes first: jobs without one after them, hopeless jobs last. Pure, exact.

A baseline to measure against. It knows how long jobs run, as they declared; no policy of Trimtab's does.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from math import inf

from controller.simulate.batch_setting import Fates
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Held, Packing

_HOPELESS = 2


class DeadlinePool:
    """A running trace of jobs with deadlines. Nobody is evicted; who does not fit is passed over."""

    def __init__(self, jobs: JobTable, gpus: int, nodes: Packing | None = None) -> None:
        self.now, self.fates = -inf, Fates.none_yet(len(jobs))
        self._jobs, self._free, self._nodes = jobs, gpus, nodes
        self._arrived = 0
        self._ends: list[tuple[float, int]] = []
        self._held: dict[int, Held] = {}
        self._heaps: dict[int, list[tuple[int, float, int]]] = {}
        """Size → (class, deadline or submission, row), the next one on top."""

    def advance(self, until: float = inf) -> None:
        """Let time pass, by default until all is done."""
        times, total = self._jobs.submit_seconds, len(self._jobs)
        while True:
            arrival = times[self._arrived] if self._arrived < total else inf
            now = min(arrival, self._ends[0][0] if self._ends else inf)
            if now > until or now == inf:
                break
            self.now = now
            while self._ends and self._ends[0][0] == now:
                self._finish(heappop(self._ends)[1])
            while self._arrived < total and times[self._arrived] == now:
                self._wait(self._arrived)
                self._arrived += 1
            while (row := self._next()) is not None:
                self._start(row)
        if inf > until > self.now:
            self.now = until

    def _wait(self, row: int) -> None:
        deadline = self._jobs.deadline_seconds[row]
        entry = (0, deadline, row) if deadline < inf else (1, self._jobs.submit_seconds[row], row)
        heappush(self._heaps.setdefault(self._jobs.gpus[row], []), entry)

    def _next(self) -> int | None:
        """The row to start now; None: nobody can."""
        best: tuple[int, float, int] | None = None
        for size, heap in self._heaps.items():
            if heap and size <= self._free and (self._nodes is None or self._nodes.fits(size)):
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

    def _start(self, row: int) -> None:
        size = self._jobs.gpus[row]
        self._free -= size
        if self._nodes is not None:
            self._held[row] = self._nodes.take(size)
        self.fates.first_start_seconds[row] = self.now
        self.fates.wait_seconds[row] = self.now - self._jobs.submit_seconds[row]
        heappush(self._ends, (self.now + self._jobs.run_seconds[row], row))

    def _finish(self, row: int) -> None:
        self._free += self._jobs.gpus[row]
        if self._nodes is not None:
            self._nodes.give(self._held.pop(row))
        self.fates.end_seconds[row] = self.now
        self.fates.stays.append((row, self.fates.first_start_seconds[row], self.now))
