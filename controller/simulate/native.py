"""Plain Kubernetes: quotas refuse, Jobs try again, normal work preempts extra work of any namespace. Pure, exact.

A ResourceQuota counts pods from when they are made. Who is refused tries again (`retries`), so there is no queue in
front of it. Pods that are made and find no room wait in the scheduler's queue: by class, then by when they were made;
who does not fit is passed over. A gang starts and is evicted whole, as with the coscheduling plugin; without it see
`native_pods`.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from heapq import heappop, heappush
from itertools import islice
from math import inf

from controller.simulate.batch_setting import NEVER, Fates, Saves, Sighting
from controller.simulate.job_table import JobTable
from controller.simulate.losses import saved_seconds
from controller.simulate.native_room import Counted, OnNodes
from controller.simulate.packing import Held
from controller.simulate.retries import Refused


class WorkClass(IntEnum):
    """Under which class a job's pods are made."""

    NORMAL = 0
    BORROW = 1
    EITHER = 2
    """Normal where its tenant's quota has room for it, else borrow: one class for the whole gang."""


@dataclass(frozen=True, slots=True)
class NativeSetting:
    """The cluster: quotas of the normal class and caps of the borrow class by tenant, in GPUs."""

    quotas: Sequence[float]
    caps: Sequence[float]
    capacity: int
    classes: Sequence[WorkClass] | None = None
    """By row; None: all EITHER."""
    gpus_per_node: int | None = None
    """None: GPUs are only counted."""
    restart_seconds: float = 30.0
    requeue_seconds: float = 5.0
    """From an eviction until its pods are made anew."""


@dataclass(frozen=True, slots=True)
class Holding:
    """What one tenant holds and asks for, in GPUs, and how long its work ran, all as anybody can see it."""

    normal_made: int
    normal_placed: int
    extra_made: int
    extra_placed: int
    asked: int
    """Of all its jobs that do not run."""
    refused: int
    """Of extra work without pods."""
    ran_seconds: float
    """Of all its runs together, also of those that go on."""
    ended: int
    """How many of them came to their end."""


_NORMAL, _BORROW = WorkClass.NORMAL, WorkClass.BORROW


class NativeBatch:
    """A running trace. `advance` moves the clock; between two calls it may be watched, and caps moved."""

    def __init__(self, jobs: JobTable, setting: NativeSetting, saves: Saves | None = None) -> None:
        """Without `saves` nothing is saved."""
        rows, tenants = len(jobs), len(setting.quotas)
        self.now, self.fates = -inf, Fates.none_yet(rows)
        self._jobs, self._setting = jobs, setting
        self._saves: Saves = saves or (lambda row: None)
        self._classes = setting.classes
        self._room: Counted | OnNodes = (
            Counted(setting.capacity)
            if setting.gpus_per_node is None
            else OnNodes(setting.capacity // setting.gpus_per_node, setting.gpus_per_node)
        )
        self._limits = ([*setting.quotas], [*setting.caps])
        self._made = ([0] * tenants, [0] * tenants)
        """By class and tenant: GPUs of pods that are made."""
        self._bound = ([0] * tenants, [0] * tenants)
        """The part of it that has its place."""
        # By row.
        self._as = [_NORMAL] * rows
        self._done, self._owed = [0.0] * rows, [0.0] * rows
        self._waits_since = [*jobs.submit_seconds]
        self._tried_since = [*jobs.submit_seconds]
        self._ends_at = [NEVER] * rows
        self._began: dict[int, float] = {}
        """Who runs, and since when; by that."""
        self._refused: list[dict[tuple[WorkClass, int], Refused]] = [{} for _ in range(tenants)]
        self._tries: list[tuple[float, int]] = [(inf, -1)] * tenants
        """By tenant: the next try that would succeed as things stand."""
        self._pending: tuple[dict[int, list[tuple[float, int]]], ...] = ({}, {})
        """By class: size → (since, row) of made pods without a place."""
        self._asked, self._refused_extra = [0] * tenants, [0] * tenants
        """GPUs that all ask for who do not run; of these, of extra work without pods."""
        self._ran, self._ended = [0.0] * tenants, [0] * tenants
        """By tenant: seconds of all runs, each less its begin while it goes on; how many came to their end."""
        self._runs = [0] * tenants
        self._arrived = self.evictions = 0
        self._events: list[tuple[float, int]] = []
        """(when, row) of ends; of evicted jobs whose pods are made anew with the row inverted."""

    # Time

    def advance(self, until: float = inf) -> None:
        """Let time pass, by default until all is done."""
        times, total, events = self._jobs.submit_seconds, len(self._jobs), self._events
        while True:
            arrival = times[self._arrived] if self._arrived < total else inf
            event = events[0][0] if events else inf
            attempt = min(self._tries)
            now = min(arrival, event, attempt[0])
            if now > until or now == inf:
                break
            self.now = now
            if event == now:
                self._happen(heappop(events)[1])
            elif attempt[0] == now:
                self._try_again(attempt[1])
            else:
                row = self._arrived
                self._arrived += 1
                self._asked[self._jobs.tenant[row]] += self._jobs.gpus[row]
                self._try(row)
        if inf > until > self.now:
            self.now = until

    def _happen(self, row: int) -> None:
        if row < 0:
            self._tried_since[~row] = self.now
            self._try(~row)
        elif self._ends_at[row] == self.now:
            self.fates.end_seconds[row] = self.now
            self._ended[self._jobs.tenant[row]] += 1
            self._leave(row)
            self._schedule()
            self._look_again(self._jobs.tenant[row])

    # Quota

    def _try(self, row: int) -> None:
        """The first try of pods to be made."""
        made = self._class_now(row)
        if made is not None:
            self._make(row, made)
            self._look_again(self._jobs.tenant[row])
            return
        wanted, tenant, gpus = self._wanted(row), self._jobs.tenant[row], self._jobs.gpus[row]
        self._refused[tenant].setdefault((wanted, gpus), Refused(self._tried_since)).add(row)
        self._refused_extra[tenant] += gpus if wanted is not _NORMAL else 0
        self._look_again(tenant)

    def _try_again(self, row: int) -> None:
        tenant, key = self._jobs.tenant[row], (self._wanted(row), self._jobs.gpus[row])
        refused = self._refused[tenant][key]
        refused.remove(row)
        if not refused:
            del self._refused[tenant][key]
        self._refused_extra[tenant] -= key[1] if key[0] is not _NORMAL else 0
        made = self._class_now(row)
        if made is not None:
            self._make(row, made)
        self._look_again(tenant)

    def _wanted(self, row: int) -> WorkClass:
        return WorkClass.EITHER if self._classes is None else self._classes[row]

    def _class_now(self, row: int) -> WorkClass | None:
        """The class whose quota takes it now; None: it is refused."""
        return self._taken(self._wanted(row), self._jobs.tenant[row], self._jobs.gpus[row])

    def _taken(self, wanted: WorkClass, tenant: int, gpus: int) -> WorkClass | None:
        if wanted is not _BORROW and self._made[0][tenant] + gpus <= self._limits[0][tenant]:
            return _NORMAL
        if wanted is not _NORMAL and self._made[1][tenant] + gpus <= self._limits[1][tenant]:
            return _BORROW
        return None

    def _look_again(self, tenant: int) -> None:
        """Find the next try of a tenant that succeeds as things stand."""
        best = (inf, -1)
        for (wanted, gpus), refused in self._refused[tenant].items():
            if self._taken(wanted, tenant, gpus) is not None:
                best = min(best, refused.first(self.now) or best)
        self._tries[tenant] = best

    def _make(self, row: int, made: WorkClass) -> None:
        """Its pods are made; they are bound at once where there is room, or where normal work can make it."""
        gpus = self._jobs.gpus[row]
        self._as[row] = made
        self._made[made][self._jobs.tenant[row]] += gpus
        if not self._bind(row):
            waiting = self._pending[made].setdefault(gpus, [])
            insort(waiting, (self.now, row))

    # The scheduler

    def _schedule(self) -> None:
        """Bind what can be bound now: normal work first, then who was made first."""
        for pending in self._pending:
            full: set[int] = set()
            while heads := [(waiting[0], gpus) for gpus, waiting in pending.items() if gpus not in full]:
                (since, row), gpus = min(heads)
                if not self._bind(row):
                    full.add(gpus)
                    continue
                pending[gpus].remove((since, row))
                if not pending[gpus]:
                    del pending[gpus]

    def _bind(self, row: int) -> bool:
        gpus, room = self._jobs.gpus[row], self._room
        if room.fits(gpus):
            self._start(row, ())
            return True
        if self._as[row] is not _NORMAL or not room.fits_by_force(gpus):
            return False
        victims, held = room.forced(gpus, self._began)
        for victim in victims:
            self._evict(victim, row)
        self._start(row, held)
        return True

    def _start(self, row: int, held: Held) -> None:
        jobs, fates, now = self._jobs, self.fates, self.now
        tenant, gpus = jobs.tenant[row], jobs.gpus[row]
        self._room.take(row, gpus, held, extra=self._as[row] is _BORROW)
        self._bound[self._as[row]][tenant] += gpus
        self._asked[tenant] -= gpus
        self._began[row] = now
        self._ran[tenant] -= now
        self._runs[tenant] += 1
        self._work(row)
        fates.wait_seconds[row] += now - self._waits_since[row]
        if fates.first_start_seconds[row] == NEVER:
            fates.first_start_seconds[row] = now

    def _work(self, row: int) -> None:
        """It has its place, and runs until it is through."""
        self._ends_at[row] = self.now + self._jobs.run_seconds[row] + self._owed[row] - self._done[row]
        heappush(self._events, (self._ends_at[row], row))

    def _leave(self, row: int) -> None:
        tenant, gpus, made = self._jobs.tenant[row], self._jobs.gpus[row], self._as[row]
        self._room.give(row)
        self._made[made][tenant] -= gpus
        self._bound[made][tenant] -= gpus
        self._ends_at[row] = NEVER
        self._ran[tenant] += self.now
        self._runs[tenant] -= 1
        self.fates.stays.append((row, self._began.pop(row), self.now))

    def _evict(self, row: int, preemptor: int) -> None:
        fates, now = self.fates, self.now
        self._lose(row)
        self._leave(row)
        self._waits_since[row] = now
        self._asked[self._jobs.tenant[row]] += self._jobs.gpus[row]
        self.evictions += 1
        fates.evictions[row] += 1
        by = fates.evictors.setdefault(row, {})
        tenant = self._jobs.tenant[preemptor]
        by[tenant] = by.get(tenant, 0) + 1
        heappush(self._events, (now + self._setting.requeue_seconds, ~row))
        self._look_again(self._jobs.tenant[row])

    def _lose(self, row: int) -> None:
        """Go back to the last checkpoint, and owe the restart."""
        ran = self.now - self._began[row]
        if ran > 0:
            done = self._done[row] + ran
            self._done[row] = saved_seconds(done, self._saves(row))
            self._owed[row] += self._setting.restart_seconds
            self.fates.lost_gpu_seconds[row] += (done - self._done[row]) * self._jobs.gpus[row]

    # Hands and eyes

    def set_cap(self, tenant: int, gpus: float) -> None:
        """Move a tenant's cap. What is made stays: nobody is evicted by it."""
        self._limits[1][tenant] = gpus
        self._look_again(tenant)

    def tenant(self, tenant: int) -> Holding:
        """How one tenant stands."""
        made, bound = self._made, self._bound
        return Holding(
            made[0][tenant],
            bound[0][tenant],
            made[1][tenant],
            bound[1][tenant],
            self._asked[tenant],
            self._refused_extra[tenant],
            self._ran[tenant] + self._runs[tenant] * self.now,
            self._ended[tenant],
        )

    def refused(self, tenant: int, most: int) -> Iterator[tuple[Sighting, int]]:
        """Some jobs of a tenant that are refused, each with its GPUs: those of each size that will try next."""
        for (_, gpus), waiting in islice(self._refused[tenant].items(), most):
            first = waiting.first(self.now)
            if first is not None:
                row = first[1]
                waited = self.fates.wait_seconds[row] + self.now - self._waits_since[row]
                yield Sighting(row, waited, None, self.fates.evictions[row]), gpus

    def places(self, row: int) -> Held:
        """The nodes of a job that runs; empty where GPUs are only counted."""
        return self._room.places(row)

    @property
    def free_by_node(self) -> Sequence[int] | None:
        """Free GPUs of each node; None where GPUs are only counted."""
        return self._room.free if isinstance(self._room, OnNodes) else None

    def next_moment(self) -> float:
        """When something happens next by itself; infinite: never again."""
        arrival = self._jobs.submit_seconds[self._arrived] if self._arrived < len(self._jobs) else inf
        return min(arrival, self._events[0][0] if self._events else inf, min(self._tries)[0])

    def is_done(self) -> bool:
        """Whether all jobs came and went."""
        return self._arrived == len(self._jobs) and not self._events and not any(self._refused)
