"""One pool from which nobody is evicted: time, starts and ends. Who is next, its kinds say. Pure, exact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from heapq import heappop, heappush
from math import inf

from controller.simulate.batch_setting import Fates
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Held, Packing


class OnePool(ABC):
    """A running trace. Who does not fit is passed over."""

    def __init__(self, jobs: JobTable, gpus: int, nodes: Packing | None = None) -> None:
        self.now, self.fates = -inf, Fates.none_yet(len(jobs))
        self._jobs, self._free, self._nodes = jobs, gpus, nodes
        self._arrived = 0
        self._ends: list[tuple[float, int]] = []
        self._held: dict[int, Held] = {}

    def advance(self, until: float = inf) -> None:
        """Let time pass, by default until all is done."""
        times, total = self._jobs.submit_seconds, len(self._jobs)
        while (now := self.next_moment()) <= until and now < inf:
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

    def next_moment(self) -> float:
        """When something happens next by itself; infinite: never again."""
        arrival = self._jobs.submit_seconds[self._arrived] if self._arrived < len(self._jobs) else inf
        return min(arrival, self._ends[0][0] if self._ends else inf)

    @abstractmethod
    def _wait(self, row: int) -> None:
        """A job joins those that wait."""

    @abstractmethod
    def _next(self) -> int | None:
        """Takes the row to start now from those that wait; None: nobody can."""

    def _has_room(self, size: int) -> bool:
        return size <= self._free and (self._nodes is None or self._nodes.fits(size))

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
