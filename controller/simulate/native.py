"""Plain Kubernetes: a ResourceQuota refuses what is too much, the Job controller tries again. Pure, exact.

There is no queue: who tries first after something became free is served, so a large or an old job has no precedence. A
try follows the last after 1, 2, 4 … seconds, at most 60. Only tries that can succeed are looked at, and they are found
by their phase within the minute. A job starts whole, as with the coscheduling plugin.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from math import ceil, inf

from controller.simulate.batch_setting import Fates
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Held, Packing

_FIRST_TRIES = (0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0)
"""Seconds after submission; from the last on it is a try every `_LONGEST_PAUSE`."""
_LONGEST_PAUSE = 60.0


def next_try(submitted: float, now: float) -> float:
    """The first moment from `now` on at which such a job is tried."""
    waited = now - submitted
    if waited <= _FIRST_TRIES[-1]:
        return submitted + _FIRST_TRIES[bisect_left(_FIRST_TRIES, waited)]
    return submitted + _FIRST_TRIES[-1] + _LONGEST_PAUSE * ceil((waited - _FIRST_TRIES[-1]) / _LONGEST_PAUSE)


class _Waiting:
    """Jobs of one tenant and one size that were refused."""

    def __init__(self, submits: Sequence[float]) -> None:
        self._submits = submits
        self._young: deque[int] = deque()
        self._old: list[tuple[float, int]] = []
        """(phase, row), by phase: all are tried once in each longest pause."""

    def add(self, row: int) -> None:
        """One more; rows come in order of submission."""
        self._young.append(row)

    def remove(self, row: int) -> None:
        """It was served."""
        if row in self._young:
            self._young.remove(row)
        else:
            del self._old[bisect_left(self._old, (self._phase(row), row))]

    def first(self, now: float) -> tuple[float, int] | None:
        """(when, row) of the first try after `now`."""
        while self._young and now - self._submits[self._young[0]] > _FIRST_TRIES[-1]:
            row = self._young.popleft()
            insort(self._old, (self._phase(row), row))
        tries = [(next_try(self._submits[row], now), row) for row in self._young]
        if self._old:
            place = bisect_left(self._old, (now % _LONGEST_PAUSE, -1)) % len(self._old)
            row = self._old[place][1]
            tries.append((next_try(self._submits[row], now), row))
        return min(tries, default=None)

    def _phase(self, row: int) -> float:
        return (self._submits[row] + _FIRST_TRIES[-1]) % _LONGEST_PAUSE


class QuotaRetries:
    """A running trace on plain Kubernetes."""

    def __init__(self, jobs: JobTable, quotas: Sequence[int], nodes: Packing | None = None) -> None:
        """`quotas` is GPUs by tenant; with `nodes` a job also has to find its nodes."""
        self.now, self.fates = -inf, Fates.none_yet(len(jobs))
        self._jobs, self._nodes = jobs, nodes
        self._free = list(quotas)
        self._arrived = 0
        self._ends: list[tuple[float, int]] = []
        self._held: dict[int, Held] = {}
        self._waiting: list[dict[int, _Waiting]] = [{} for _ in quotas]
        self._tries: list[tuple[float, int] | None] = [None] * len(quotas)
        """By tenant: the next try that would succeed as things stand."""

    def advance(self, until: float = inf) -> None:
        """Let time pass, by default until all is done."""
        times, total = self._jobs.submit_seconds, len(self._jobs)
        while True:
            arrival = times[self._arrived] if self._arrived < total else inf
            end = self._ends[0][0] if self._ends else inf
            attempt = min((one for one in self._tries if one is not None), default=(inf, -1))
            now = min(arrival, end, attempt[0])
            if now > until or now == inf:
                break
            self.now = now
            if end == now:
                self._finish(heappop(self._ends)[1])
            elif attempt[0] == now:
                self._serve(attempt[1])
            else:
                self._arrive(self._arrived)
                self._arrived += 1
        if inf > until > self.now:
            self.now = until

    def _fits(self, row: int) -> bool:
        size = self._jobs.gpus[row]
        return size <= self._free[self._jobs.tenant[row]] and (self._nodes is None or self._nodes.fits(size))

    def _arrive(self, row: int) -> None:
        if self._fits(row):
            self._start(row)
        else:
            of_tenant = self._waiting[self._jobs.tenant[row]]
            of_tenant.setdefault(self._jobs.gpus[row], _Waiting(self._jobs.submit_seconds)).add(row)
        self._look_again(self._jobs.tenant[row])

    def _serve(self, row: int) -> None:
        self._waiting[self._jobs.tenant[row]][self._jobs.gpus[row]].remove(row)
        self._start(row)
        self._look_again(self._jobs.tenant[row])

    def _finish(self, row: int) -> None:
        self._free[self._jobs.tenant[row]] += self._jobs.gpus[row]
        if self._nodes is not None:
            self._nodes.give(self._held.pop(row))
        self.fates.end_seconds[row] = self.now
        self.fates.stays.append((row, self.fates.first_start_seconds[row], self.now))
        self._look_again(self._jobs.tenant[row])

    def _start(self, row: int) -> None:
        size = self._jobs.gpus[row]
        self._free[self._jobs.tenant[row]] -= size
        if self._nodes is not None:
            self._held[row] = self._nodes.take(size)
        self.fates.first_start_seconds[row] = self.now
        self.fates.wait_seconds[row] = self.now - self._jobs.submit_seconds[row]
        heappush(self._ends, (self.now + self._jobs.run_seconds[row], row))

    def _look_again(self, tenant: int) -> None:
        """Find the next try of a tenant; where nodes are shared, of all tenants."""
        for one in range(len(self._free)) if self._nodes is not None else (tenant,):
            sizes = (size for size in self._waiting[one] if size <= self._free[one])
            fitting = (size for size in sizes if self._nodes is None or self._nodes.fits(size))
            tries = (self._waiting[one][size].first(self.now) for size in fitting)
            self._tries[one] = min((found for found in tries if found is not None), default=None)
