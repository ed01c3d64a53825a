"""One queue for all in which somebody sets priorities while jobs wait. Nobody is evicted. Pure, exact.

Served is the highest priority, then age in whole seconds as the API keeps it, then row; who does not fit is passed
over. How long a job runs, only this engine knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import floor, inf

from controller.simulate.batch_setting import NEVER, Fates
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Held, Packing


class PriorityPool:
    """A running trace. Jobs come with the priority that the table gives them."""

    def __init__(self, jobs: JobTable, gpus: int, nodes: Packing | None = None) -> None:
        self.now, self.fates = -inf, Fates.none_yet(len(jobs))
        self._jobs, self._free, self._nodes = jobs, gpus, nodes
        self._priority = list(jobs.priority)
        self._arrived = 0
        self._ends: list[tuple[float, int]] = []
        self._held: dict[int, Held] = {}
        self._heaps: dict[int, list[tuple[int, int, int]]] = {}
        """Size → (priority inverted, age, row), the next one on top; what no longer holds is dropped on the way."""

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
            self._settle()
        if inf > until > self.now:
            self.now = until

    def next_moment(self) -> float:
        """When something happens next by itself; infinite: never again."""
        arrival = self._jobs.submit_seconds[self._arrived] if self._arrived < len(self._jobs) else inf
        return min(arrival, self._ends[0][0] if self._ends else inf)

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

    def _settle(self) -> None:
        while (row := self._next()) is not None:
            self._start(row)

    def _next(self) -> int | None:
        """The row to start now; None: nobody can."""
        best: tuple[int, int, int] | None = None
        for size, heap in self._heaps.items():
            if size > self._free or (self._nodes is not None and not self._nodes.fits(size)):
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
