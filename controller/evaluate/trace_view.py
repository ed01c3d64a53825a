"""A trace under way as Trimtab sees a cluster: tenants, nodes and named work of one pool. Sees no run time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from collector.assemble.waiting import naming_context
from collector.model.objects import Picture
from collector.model.reading import Known
from collector.model.snapshot import GroupedWorks, NodeState, PoolState, Snapshot, TenantPool
from collector.model.tenancy import Site
from controller.evaluate.trace_works import TraceWorks
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Packing
from controller.simulate.watched import WatchedBatch

_KEPT_POOLS: Final = 1000


class TraceView:
    """Looks at one batch. States, groups of work and pools that did not change since the last look stay the same."""

    def __init__(
        self, jobs: JobTable, site: Site, capacity_gpus: int, gpus_per_node: int, nodes: Packing | None = None
    ) -> None:
        """Without `nodes` GPUs are only counted."""
        self.site = site
        self._capacity_gpus, self._gpus_per_node, self._nodes = capacity_gpus, gpus_per_node, nodes
        self._works = TraceWorks(jobs, site, capacity_gpus, gpus_per_node, on_nodes=nodes is not None)
        self._states: list[TenantPool] = []
        self._pool: PoolState | None = None
        self._pools: dict[tuple[int, int], PoolState] = {}
        """Where GPUs are only counted: (GPUs in use, all quota) → the pool."""
        self._guaranteed = sum(tenant.entitlements[0].guarantee for tenant in site.tenants)

    @property
    def limits(self) -> Sequence[dict[int, float]]:
        """Tenant → GPUs of a job → how long it may wait; without a limit no entry. The batch has to know them."""
        return self._works.limits

    def snapshot(self, batch: WatchedBatch, floats: Sequence[int], shared: int, picture: Picture) -> Snapshot:
        """The whole picture now. `floats` are the movable parts as they stand, by tenant."""
        touched = batch.touched()
        if not self._states:
            self._states = [self._state(number, batch, floating) for number, floating in enumerate(floats)]
        for number, rows in touched.items():
            self._states[number] = self._state(number, batch, floats[number])
            self._works.look_again(number, rows, batch)
        tenants = tuple(self._states)
        used = sum([tenant.reserved for tenant in tenants])
        pool = self._pool_state(used, self._guaranteed + sum(floats) + shared, changed=bool(touched))
        groups = list(self._works.running)
        late = [number for number, tenant in enumerate(tenants) if tenant.overdue]  # of others only the sums matter
        context = naming_context(picture, {pool.pool.name: pool}, tenants if late else (), batch.now)
        for number in late:
            groups += self._works.head(number, batch, context)
        return Snapshot(batch.now, self.site, {pool.pool.name: pool}, tenants, GroupedWorks.of(groups))

    def _pool_state(self, used: int, total: int, *, changed: bool) -> PoolState:
        if self._nodes is not None:
            if self._pool is None or changed or self._pool.quota_total != Known(total):
                self._pool = self._pool_of(used, total)
            return self._pool
        if (used, total) not in self._pools:
            if len(self._pools) >= _KEPT_POOLS:
                self._pools.clear()
            self._pools[used, total] = self._pool_of(used, total)
        return self._pools[used, total]

    def _pool_of(self, used: int, total: int) -> PoolState:
        return PoolState(self.site.pools[0], self._node_states(used), Known(total), used)

    def _state(self, tenant: int, batch: WatchedBatch, floating: int) -> TenantPool:
        owner, used, asked = self.site.tenants[tenant], batch.used(tenant), batch.waiting_gpus(tenant)
        return TenantPool(
            owner.name,
            owner.tier,
            self.site.pools[0].name,
            owner.entitlements[0],
            Known(floating),
            reserved=used,
            running=used,
            waiting=asked,
            queued=asked,
            overdue=batch.late_gpus(tenant),
        )

    def _node_states(self, used: int) -> tuple[NodeState, ...]:
        size = self._gpus_per_node
        if self._nodes is not None:
            return tuple(NodeState(f"node-{n}", size, size - free) for n, free in enumerate(self._nodes.free))
        full, rest = divmod(used, size)
        held = [size] * full + [rest] + [0] * (self._capacity_gpus // size)
        return tuple(NodeState(f"node-{n}", size, held[n]) for n in range(self._capacity_gpus // size))
