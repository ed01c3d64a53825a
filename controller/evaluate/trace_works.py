"""The work of a trace under way, in groups that are the same objects until they change. Sees no run time. Pure.

Many thousand jobs wait where nothing is lent, so of each queue only its head is named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from types import MappingProxyType
from typing import Final

from collector.assemble.waiting import NameAndWhy, Named, name_of_waiting
from collector.model.snapshot import WaitingName, Work, WorkGroup, WorkPhase
from collector.model.tenancy import Site, SizeClass, size_class
from controller.simulate.job_table import JobTable
from controller.simulate.watched import WatchedBatch

NAMED_OF_A_QUEUE: Final = 100
_SPARE: Final = "node-0"
"""Where GPUs are only counted: the node that stands for all that others hold."""
_NOTHING: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Shape:
    """What all jobs of one tenant that ask for the same GPUs have in common."""

    tenant: str
    tier: str
    pool: str
    pods: int
    gpus_per_pod: int
    size: SizeClass
    limit_seconds: float | None


@dataclass(slots=True)
class _Head:
    """The first of a queue as they were named last."""

    stale: bool = True
    """Something of the queue changed since."""
    line: Sequence[tuple[int, bool]] = ()
    """(row, whether it is late), in the order in which they are served."""
    firsts: Mapping[int, int] = field(default_factory=dict)
    """GPUs of a job → row of the first late one."""
    known: Mapping[int, Work] = field(default_factory=dict)
    """By row."""
    told: Mapping[int, NameAndWhy] = field(default_factory=dict)
    """GPUs of a job → the name of all late ones, and why."""
    first: WorkGroup | None = None
    """The first late one of each size."""
    rest: WorkGroup | None = None
    """All others."""


def _same_names(one: Mapping[int, NameAndWhy], other: Mapping[int, NameAndWhy]) -> bool:
    return one.keys() == other.keys() and all(name is other[gpus][0] for gpus, (name, _) in one.items())


class TraceWorks:
    """Looks at one batch, which has to know `limits`."""

    def __init__(self, jobs: JobTable, site: Site, capacity_gpus: int, gpus_per_node: int, *, on_nodes: bool) -> None:
        """Sort all sizes that occur, once."""
        self._jobs, self._site, self._on_nodes = jobs, site, on_nodes
        self._capacity_gpus, self._gpus_per_node = capacity_gpus, gpus_per_node
        self._shapes: list[dict[int, _Shape]] = [{} for _ in site.tenants]
        """Tenant → GPUs of a job → what such jobs have in common."""
        for tenant, gpus in set(zip(jobs.tenant, jobs.gpus, strict=True)):
            self._shapes[tenant][gpus] = self._shape(tenant, gpus)
        self.limits = [
            {gpus: shape.limit_seconds for gpus, shape in shapes.items() if shape.limit_seconds is not None}
            for shapes in self._shapes
        ]
        """Tenant → GPUs of a job → how long it may wait; without a limit no entry."""
        self._placed: list[dict[int, Work]] = [{} for _ in site.tenants]
        """Tenant → row → the work that runs."""
        self._running = [self._group(tenant, ()) for tenant in range(len(site.tenants))]
        self._heads = [_Head() for _ in site.tenants]

    @property
    def running(self) -> Sequence[WorkGroup]:
        """What runs, by tenant, as at the last look."""
        return self._running

    def look_again(self, tenant: int, rows: Collection[int], batch: WatchedBatch) -> None:
        """Something of the tenant changed; `rows` began to run, or run no more."""
        self._heads[tenant].stale = True
        if rows:
            placed = self._placed[tenant]
            for row in sorted(rows):
                placed.pop(row, None)
                if batch.runs(row):
                    placed[row] = self._work(tenant, row, batch)
            self._running[tenant] = self._group(tenant, placed.values())

    def head(self, tenant: int, batch: WatchedBatch, context: Named) -> Sequence[WorkGroup]:
        """Who waits, named as live. Of one queue all late work of one size has the same name; the first of it says why.

        What does not change but for the time is not made anew: it tells when its wait was counted.
        """
        head, gpus_of = self._heads[tenant], self._jobs.gpus
        if head.stale:
            head.line = batch.line(tenant, NAMED_OF_A_QUEUE)
            head.firsts = {gpus_of[row]: row for row, late in reversed(head.line) if late}
        told: dict[int, NameAndWhy] = {}
        for gpus, row in head.firsts.items():
            work = head.known.get(row)
            if work is None or work.waiting is WaitingName.WITHIN_LIMIT:
                work = self._work(tenant, row, batch)
            told[gpus] = name_of_waiting(work, context)
        if head.first is None or head.stale or told != head.told:
            head.first = self._group(
                tenant, [self._work(tenant, row, batch, *told[gpus]) for gpus, row in head.firsts.items()]
            )
        if head.rest is None or head.stale or not _same_names(told, head.told):
            head.known = self._line_named(tenant, told, batch)
            first = set(head.firsts.values())
            head.rest = self._group(tenant, [work for row, work in head.known.items() if row not in first])
        head.told, head.stale = told, False
        return head.first, head.rest

    def _line_named(self, tenant: int, told: Mapping[int, NameAndWhy], batch: WatchedBatch) -> Mapping[int, Work]:
        head, gpus_of, evictions = self._heads[tenant], self._jobs.gpus, batch.fates.evictions
        found: dict[int, Work] = {}
        for row, late in head.line:
            name = told[gpus_of[row]][0] if late else WaitingName.WITHIN_LIMIT
            work = head.known.get(row)
            if work is None or work.waiting is not name or work.evictions != evictions[row]:
                work = self._work(tenant, row, batch, name)
            found[row] = work
        return found

    def _group(self, tenant: int, works: Iterable[Work]) -> WorkGroup:
        return WorkGroup(self._site.tenants[tenant].name, self._site.pools[0].name, tuple(works))

    def _shape(self, tenant: int, gpus: int) -> _Shape:
        owner, per_node = self._site.tenants[tenant], self._gpus_per_node
        size = size_class(
            interactive=False,
            gpus=gpus,
            pods=ceil(gpus / per_node),
            gpus_per_node=per_node,
            pool_gpus=self._capacity_gpus,
            burst_gpus=owner.entitlements[0].burst_gpus,
        )
        pods = ceil(gpus / per_node) if self._on_nodes else gpus
        tier = self._site.tier(owner.tier)
        limit = tier.start_within_seconds.get(size) if tier is not None else None
        return _Shape(owner.name, owner.tier, self._site.pools[0].name, pods, ceil(gpus / pods), size, limit)

    def _work(
        self, tenant: int, row: int, batch: WatchedBatch, waiting: WaitingName | None = None, why: str = ""
    ) -> Work:
        jobs, seen, name = self._jobs, batch.sighting(row), f"job-{row:07}"
        gpus = jobs.gpus[row]
        shape, began, evictors = self._shapes[tenant][gpus], seen.began_seconds, batch.fates.evictors.get(row)
        return Work(
            key=name,
            uid=name,
            kind="Job",
            namespace=shape.tenant,
            name=name,
            tenant=shape.tenant,
            tier=shape.tier,
            pool=shape.pool,
            queue="",
            priority=jobs.priority[row],
            pods=shape.pods,
            gpus_per_pod=shape.gpus_per_pod,
            gpus=gpus,
            size=shape.size,
            phase=WorkPhase.WAITING if began is None else WorkPhase.RUNNING,
            created_at=jobs.submit_seconds[row],
            waited_seconds=seen.waited_seconds,
            limit_seconds=shape.limit_seconds,
            waiting=waiting,
            why=why,
            evictions=seen.evictions,
            evictions_by={jobs.tenants[one]: count for one, count in evictors.items()} if evictors else _NOTHING,
            admitted_at=began,
            ready_at=began,
            nodes=_NOTHING if began is None else self._places(row, gpus, batch),
            counted_at=batch.now if began is None else None,
        )

    def _places(self, row: int, gpus: int, batch: WatchedBatch) -> dict[str, int]:
        if not self._on_nodes:
            return {_SPARE: gpus}
        return {f"node-{node}": held for node, held in batch.places(row)}
