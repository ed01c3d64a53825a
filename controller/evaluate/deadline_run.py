"""A trace of jobs with deadlines, with Trimtab setting priorities: the same `decide()` as live, every 60 s, exact.

Of each piece of work only its own words count, so each look shows those alone whose class may be another one by now:
what came since the last look, and whose moment has come. What else waits would be answered as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import ceil, inf
from typing import Final

from collector.model.deadline import Deadline, DeadlineClass
from collector.model.snapshot import PoolState, Snapshot, Work, WorkPhase
from collector.model.tenancy import Engine, Pool, Site, SizeClass
from controller.api.policy import Mode, Policy
from controller.policy.engine import decide
from controller.policy.ledger import Ledger
from controller.policy.strategies.deadlines import next_change_at
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Packing
from controller.simulate.priority_pool import PriorityPool

_HOUR: Final = 3600.0
LADDER_HOURS: Final = (1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
"""Due within so many hours: each class reaches half as far again, or a third, as the one before."""
CLASSES: Final = (
    *(
        DeadlineClass(f"due-within-{hours:g}h", len(LADDER_HOURS) - number, hours * _HOUR)
        for number, hours in enumerate(LADDER_HOURS)
    ),
    DeadlineClass("missed", -1, None),
)
"""Work without a class has priority 0: after all that is due in a few days, before what can not be in time any more."""
_LATER: Final = 1e-3
"""A class changes just after the moment itself."""
_POOL: Final = Pool("gpus", "nvidia.com/gpu", {}, Engine.KUEUE, flavor="gpus")
_SITE: Final = Site("deadlines", (_POOL,), (), ())


@dataclass(slots=True)
class DeadlineRun:
    """A pool of `gpus` and what decides on it. `writes`: changes of a class so far."""

    jobs: JobTable
    policy: Policy
    pool: PriorityPool
    classes: tuple[DeadlineClass, ...] = CLASSES
    writes: int = 0
    _names: dict[int, str] = field(default_factory=dict)
    """Row → its class, where it has one."""
    _moments: list[tuple[float, int]] = field(default_factory=list)
    _seen: int = 0

    @classmethod
    def begun(cls, jobs: JobTable, policy: Policy, gpus: int, nodes: Packing | None) -> DeadlineRun:
        """Ready to run; nobody has a class yet."""
        unclassed = replace(jobs, priority=[0] * len(jobs))
        return cls(unclassed, replace(policy, mode=Mode.ENFORCE, paused=False), PriorityPool(unclassed, gpus, nodes))

    def advance(self) -> None:
        """Until all is done."""
        tick = self.policy.cadence.tick_seconds
        now = ceil(self.jobs.submit_seconds[0] / tick) * tick if len(self.jobs) else inf
        while self.pool.next_moment() < inf:
            self.pool.advance(now)
            self._decide(now)
            following = min(self.pool.next_moment(), self._moments[0][0] if self._moments else inf)
            if following == inf:
                break
            now = max(now + tick, ceil(following / tick) * tick)

    def _decide(self, now: float) -> None:
        rows = self._due(now)
        if not rows:
            return
        works = tuple(self._work(row, now) for row in rows)
        snapshot = Snapshot(now, _SITE, {_POOL.name: PoolState(_POOL, ())}, (), works, deadline_classes=self.classes)
        values = {one.name: one.value for one in self.classes}
        for choice in decide(snapshot, self.policy, Mode.ENFORCE, Ledger(), ()).classes:
            row = int(choice.key)
            self._names[row] = choice.after
            self.pool.set_priority(row, values.get(choice.after, 0))
            self.writes += 1
        self._remember(rows, now)

    def _due(self, now: float) -> list[int]:
        rows = [row for row in self.pool.arrived(self._seen) if self.jobs.deadline_seconds[row] < inf]
        self._seen = self.pool.arrivals
        while self._moments and self._moments[0][0] <= now:
            rows.append(heappop(self._moments)[1])
        return [row for row in rows if self.pool.waits(row)]

    def _remember(self, rows: Iterable[int], now: float) -> None:
        for row in rows:
            at = next_change_at(self._deadline(row), self.classes, now)
            if at < inf:
                heappush(self._moments, (max(at, now) + _LATER, row))

    def _deadline(self, row: int) -> Deadline:
        return Deadline(self.jobs.deadline_seconds[row], self.jobs.run_seconds[row])

    def _work(self, row: int, now: float) -> Work:
        tenant, gpus = self.jobs.tenants[self.jobs.tenant[row]], self.jobs.gpus[row]
        return Work(
            key=str(row),
            uid=str(row),
            kind="Job",
            namespace=tenant,
            name=f"job-{row}",
            tenant=tenant,
            tier="",
            pool=_POOL.name,
            queue="all",
            priority=self.pool.priority(row),
            pods=1,
            gpus_per_pod=gpus,
            gpus=gpus,
            size=SizeClass.SINGLE_NODE,
            phase=WorkPhase.WAITING,
            created_at=self.jobs.submit_seconds[row],
            waited_seconds=now - self.jobs.submit_seconds[row],
            priority_class=self._names.get(row, ""),
            deadline=self._deadline(row),
        )
