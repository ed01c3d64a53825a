"""A trace under way as Trimtab sees a cluster: tenants, nodes and named work of one pool. Sees no run time. Pure.

Many thousand jobs wait where nothing is lent, so of each queue only its head is named; the sums count all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from typing import Final

from collector.assemble.waiting import Named, named, naming_context
from collector.model.objects import Picture
from collector.model.reading import Known
from collector.model.snapshot import NodeState, PoolState, Snapshot, TenantPool, WaitingName, Work, WorkPhase
from collector.model.tenancy import Entitlement, Site, SizeClass, size_class
from controller.simulate.batch_setting import Sighting
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Packing
from controller.simulate.watched import WatchedBatch

NAMED_OF_A_QUEUE: Final = 100
_SPARE: Final = "node-0"
"""Where GPUs are only counted: the node that stands for all that others hold."""


@dataclass(slots=True)
class TraceView:
    """Looks at a batch. Work that runs is kept from look to look: it does not change."""

    jobs: JobTable
    site: Site
    capacity_gpus: int
    gpus_per_node: int
    nodes: Packing | None = None
    _running: dict[int, tuple[float, Work]] = field(default_factory=dict)
    """Row → since when, and the work."""
    _judged: list[dict[int, tuple[SizeClass, float | None]]] = field(init=False)
    """Tenant → GPUs of a job → what size that is, and how long it may wait."""
    limits: list[dict[int, float]] = field(init=False)
    """Tenant → GPUs of a job → how long it may wait; without a limit no entry. The batch has to know them."""

    def __post_init__(self) -> None:
        """Sort all sizes that occur, once."""
        limits_of = {tier.name: tier.start_within_seconds for tier in self.site.tiers}
        self._judged = [{} for _ in self.site.tenants]
        for tenant, gpus in set(zip(self.jobs.tenant, self.jobs.gpus, strict=True)):
            size = self._size(tenant, gpus)
            self._judged[tenant][gpus] = (size, limits_of[self.site.tenants[tenant].tier].get(size))
        self.limits = [
            {gpus: limit for gpus, (_, limit) in sizes.items() if limit is not None} for sizes in self._judged
        ]

    def snapshot(self, batch: WatchedBatch, floats: Sequence[int], shared: int, picture: Picture) -> Snapshot:
        """The whole picture now. `floats` are the movable parts as they stand, by tenant."""
        tenants = tuple(self._state(number, batch, floating) for number, floating in enumerate(floats))
        guarantees = sum(tenant.entitlement.guarantee for tenant in tenants)
        used = sum(tenant.reserved for tenant in tenants)
        pool = self.site.pools[0]
        state = PoolState(pool, self._nodes(used), Known(guarantees + sum(floats) + shared), used)
        context = naming_context(picture, {pool.name: state}, tenants, batch.now)
        works = [work for tenant in range(len(tenants)) for work in self._run(tenant, batch)]
        for number, tenant in enumerate(tenants):
            if tenant.overdue:  # of others only the sums matter
                works += self._head(number, batch, context)
        return Snapshot(batch.now, self.site, {pool.name: state}, tenants, tuple(works))

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

    def _run(self, tenant: int, batch: WatchedBatch) -> Iterator[Work]:
        for sighting in batch.running(tenant):
            since, work = self._running.get(sighting.row, (None, None))
            if work is None or since != sighting.began_seconds:
                work = self._work(tenant, sighting, batch)
                self._running[sighting.row] = (sighting.began_seconds or 0.0, work)
            yield work

    def _head(self, tenant: int, batch: WatchedBatch, context: Named) -> Iterator[Work]:
        """Who is late is named as live. Of one queue all late work of one size has the same name and sentence."""
        late: dict[int, Work] = {}
        for sighting in batch.waiting(tenant, NAMED_OF_A_QUEUE):
            gpus = self.jobs.gpus[sighting.row]
            if sighting.waited_seconds <= self.limits[tenant].get(gpus, inf):
                yield self._work(tenant, sighting, batch, WaitingName.WITHIN_LIMIT)
                continue
            if gpus not in late:
                late[gpus] = named(self._work(tenant, sighting, batch), context)
            yield self._work(tenant, sighting, batch, late[gpus].waiting, late[gpus].why)

    def _work(
        self, tenant: int, sighting: Sighting, batch: WatchedBatch, waiting: WaitingName | None = None, why: str = ""
    ) -> Work:
        row, owner, jobs = sighting.row, self.site.tenants[tenant], self.jobs
        gpus = jobs.gpus[row]
        size, limit = self._judged[tenant][gpus]
        pods = gpus if self.nodes is None else ceil(gpus / self.gpus_per_node)
        began, name = sighting.began_seconds, f"job-{row:07}"
        evictors = batch.fates.evictors.get(row)
        return Work(
            key=name,
            uid=name,
            kind="Job",
            namespace=owner.name,
            name=name,
            tenant=owner.name,
            tier=owner.tier,
            pool=self.site.pools[0].name,
            queue="",
            priority=jobs.priority[row],
            pods=pods,
            gpus_per_pod=ceil(gpus / pods),
            gpus=gpus,
            size=size,
            phase=WorkPhase.WAITING if began is None else WorkPhase.RUNNING,
            created_at=jobs.submit_seconds[row],
            waited_seconds=sighting.waited_seconds,
            limit_seconds=limit,
            waiting=waiting,
            why=why,
            evictions=sighting.evictions,
            evictions_by={jobs.tenants[one]: count for one, count in evictors.items()} if evictors else {},
            admitted_at=began,
            ready_at=began,
            nodes={} if began is None else self._places(row, gpus, batch),
        )

    def _places(self, row: int, gpus: int, batch: WatchedBatch) -> dict[str, int]:
        if self.nodes is None:
            return {_SPARE: gpus}
        return {f"node-{node}": held for node, held in batch.places(row)}

    def _nodes(self, used: int) -> tuple[NodeState, ...]:
        size = self.gpus_per_node
        if self.nodes is None:
            full, rest = divmod(used, size)
            held = [size] * full + [rest] + [0] * (self.capacity_gpus // size)
            return tuple(NodeState(f"node-{n}", size, held[n]) for n in range(self.capacity_gpus // size))
        return tuple(NodeState(f"node-{n}", size, size - free) for n, free in enumerate(self.nodes.free))
