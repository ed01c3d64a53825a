"""A trace under way as Trimtab sees a cluster: tenants, nodes and named work of one pool. Sees no run time. Pure.

Many thousand jobs wait where nothing is lent, so of each queue only its head is named; the sums count all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from types import MappingProxyType
from typing import Final

from collector.assemble.waiting import NameAndWhy, Named, name_of_waiting, naming_context
from collector.model.objects import Picture
from collector.model.reading import Known
from collector.model.snapshot import (
    GroupedWorks,
    NodeState,
    PoolState,
    Snapshot,
    TenantPool,
    WaitingName,
    Work,
    WorkGroup,
    WorkPhase,
)
from collector.model.tenancy import Entitlement, Site, SizeClass, size_class
from controller.simulate.batch_setting import Sighting
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Packing
from controller.simulate.watched import WatchedBatch

NAMED_OF_A_QUEUE: Final = 32
"""A step of a change starts a few gangs from the head of a queue."""
_SPARE: Final = "node-0"
"""Where GPUs are only counted: the node that stands for all that others hold."""


_NOBODY: Final[Mapping[str, int]] = MappingProxyType({})
_NOWHERE: Final[Mapping[str, int]] = _NOBODY


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
class TraceView:
    """Looks at one batch. What did not change since the last look is the same object: a state, a group of work, a pool."""

    jobs: JobTable
    site: Site
    capacity_gpus: int
    gpus_per_node: int
    nodes: Packing | None = None
    _states: list[TenantPool] = field(default_factory=list)
    _running: list[dict[int, Work]] = field(init=False)
    """Tenant → row → the work that runs: it does not change."""
    _groups: list[WorkGroup] = field(init=False)
    """Tenant → the same as a group."""
    _pool: PoolState | None = None
    _filled: dict[int, tuple[NodeState, ...]] = field(default_factory=dict)
    """Where GPUs are only counted: GPUs in use → nodes."""
    _shapes: list[dict[int, _Shape]] = field(init=False)
    """Tenant → GPUs of a job → what all such jobs have in common."""
    limits: list[dict[int, float]] = field(init=False)
    """Tenant → GPUs of a job → how long it may wait; without a limit no entry. The batch has to know them."""

    def __post_init__(self) -> None:
        """Sort all sizes that occur, once."""
        self._running = [{} for _ in self.site.tenants]
        self._groups = [WorkGroup(owner.name, self.site.pools[0].name, ()) for owner in self.site.tenants]
        limits_of = {tier.name: tier.start_within_seconds for tier in self.site.tiers}
        self._shapes = [{} for _ in self.site.tenants]
        for tenant, gpus in set(zip(self.jobs.tenant, self.jobs.gpus, strict=True)):
            owner, pods = self.site.tenants[tenant], gpus if self.nodes is None else ceil(gpus / self.gpus_per_node)
            size = self._size(tenant, gpus)
            limit = limits_of[owner.tier].get(size)
            pool = self.site.pools[0].name
            self._shapes[tenant][gpus] = _Shape(owner.name, owner.tier, pool, pods, ceil(gpus / pods), size, limit)
        self.limits = [
            {gpus: shape.limit_seconds for gpus, shape in shapes.items() if shape.limit_seconds is not None}
            for shapes in self._shapes
        ]

    def snapshot(self, batch: WatchedBatch, floats: Sequence[int], shared: int, picture: Picture) -> Snapshot:
        """The whole picture now. `floats` are the movable parts as they stand, by tenant."""
        touched = batch.touched()
        if not self._states:
            self._states = [self._state(number, batch, floating) for number, floating in enumerate(floats)]
        for number in touched:
            self._states[number] = self._state(number, batch, floats[number])
            self._groups[number] = self._run(number, batch)
        tenants = tuple(self._states)
        pool = self._pool_state(tenants, sum(floats) + shared, changed=bool(touched))
        late = [number for number, tenant in enumerate(tenants) if tenant.overdue]  # of others only the sums matter
        groups = list(self._groups)
        if late:
            context = naming_context(picture, {pool.pool.name: pool}, tenants, batch.now)
            groups += (self._head(number, batch, context) for number in late)
        return Snapshot(batch.now, self.site, {pool.pool.name: pool}, tenants, GroupedWorks.of(groups))

    def _pool_state(self, tenants: Sequence[TenantPool], movable: int, *, changed: bool) -> PoolState:
        guaranteed = sum(tenant.entitlement.guarantee for tenant in tenants)
        last, total = self._pool, Known(guaranteed + movable)
        if last is None or changed or last.quota_total != total:
            used = sum(tenant.reserved for tenant in tenants)
            self._pool = last = PoolState(self.site.pools[0], self._nodes(used), total, used)
        return last

    def _entitlement(self, tenant: int) -> Entitlement:
        return self.site.tenants[tenant].entitlements[0]

    def _size(self, tenant: int, gpus: int) -> SizeClass:
        return size_class(
            interactive=False,
            gpus=gpus,
            pods=ceil(gpus / self.gpus_per_node),
            gpus_per_node=self.gpus_per_node,
            pool_gpus=self.capacity_gpus,
            burst_gpus=self._entitlement(tenant).burst_gpus,
        )

    def _state(self, tenant: int, batch: WatchedBatch, floating: int) -> TenantPool:
        owner, used, asked = self.site.tenants[tenant], batch.used(tenant), batch.waiting_gpus(tenant)
        return TenantPool(
            owner.name,
            owner.tier,
            self.site.pools[0].name,
            self._entitlement(tenant),
            Known(floating),
            reserved=used,
            running=used,
            waiting=asked,
            queued=asked,
            overdue=batch.late_gpus(tenant),
        )

    def _run(self, tenant: int, batch: WatchedBatch) -> WorkGroup:
        before, now = self._running[tenant], dict[int, Work]()
        for row, began in batch.running_since(tenant):
            work = before.get(row)
            now[row] = work if work is not None and work.admitted_at == began else self._begun(tenant, row, began, batch)
        self._running[tenant] = now
        return WorkGroup(self.site.tenants[tenant].name, self.site.pools[0].name, tuple(now.values()))

    def _begun(self, tenant: int, row: int, began: float, batch: WatchedBatch) -> Work:
        return self._work(tenant, Sighting(row, batch.fates.wait_seconds[row], began, batch.fates.evictions[row]), batch)

    def _head(self, tenant: int, batch: WatchedBatch, context: Named) -> WorkGroup:
        """Who is late is named as live. Of one queue all late work of one size has the same name and sentence."""
        limits, late, works = self.limits[tenant], dict[int, NameAndWhy](), list[Work]()
        for sighting in batch.waiting(tenant, NAMED_OF_A_QUEUE):
            gpus = self.jobs.gpus[sighting.row]
            if sighting.waited_seconds <= limits.get(gpus, inf):
                works.append(self._work(tenant, sighting, batch, WaitingName.WITHIN_LIMIT))
                continue
            if gpus not in late:
                late[gpus] = name_of_waiting(self._work(tenant, sighting, batch), context)
            works.append(self._work(tenant, sighting, batch, *late[gpus]))
        return WorkGroup(self.site.tenants[tenant].name, self.site.pools[0].name, tuple(works))

    def _work(
        self, tenant: int, sighting: Sighting, batch: WatchedBatch, waiting: WaitingName | None = None, why: str = ""
    ) -> Work:
        row, jobs = sighting.row, self.jobs
        gpus = jobs.gpus[row]
        shape = self._shapes[tenant][gpus]
        began, name, evictors = sighting.began_seconds, f"job-{row:07}", batch.fates.evictors.get(row)
        return Work(  # by position: many thousand are made
            name,
            name,
            "Job",
            shape.tenant,
            name,
            shape.tenant,
            shape.tier,
            shape.pool,
            "",
            jobs.priority[row],
            shape.pods,
            shape.gpus_per_pod,
            gpus,
            shape.size,
            WorkPhase.WAITING if began is None else WorkPhase.RUNNING,
            jobs.submit_seconds[row],
            sighting.waited_seconds,
            limit_seconds=shape.limit_seconds,
            waiting=waiting,
            why=why,
            evictions=sighting.evictions,
            evictions_by={jobs.tenants[one]: count for one, count in evictors.items()} if evictors else _NOBODY,
            admitted_at=began,
            ready_at=began,
            nodes=_NOWHERE if began is None else self._places(row, gpus, batch),
        )

    def _places(self, row: int, gpus: int, batch: WatchedBatch) -> dict[str, int]:
        if self.nodes is None:
            return {_SPARE: gpus}
        return {f"node-{node}": held for node, held in batch.places(row)}

    def _nodes(self, used: int) -> tuple[NodeState, ...]:
        size = self.gpus_per_node
        if self.nodes is not None:
            return tuple(NodeState(f"node-{n}", size, size - free) for n, free in enumerate(self.nodes.free))
        if used not in self._filled:
            full, rest = divmod(used, size)
            held = [size] * full + [rest] + [0] * (self.capacity_gpus // size)
            self._filled[used] = tuple(NodeState(f"node-{n}", size, held[n]) for n in range(self.capacity_gpus // size))
        return self._filled[used]
