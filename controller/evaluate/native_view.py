"""A trace under way on plain Kubernetes, as Trimtab sees it: tenants, nodes, refused work. Sees no run time. Pure.

Of what runs only the sums matter to who steers a native pool, so that only the first refused jobs are named. How long
work ran is kept by tenant, from what ended and from what runs now, as the objects of a real cluster tell it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from collector.model.reading import Known
from collector.model.snapshot import NodeState, PoolState, RunRecord, Snapshot, TenantPool, Work, WorkPhase
from collector.model.tenancy import Site, SizeClass
from controller.simulate.native import NativeBatch

NAMED_OF_A_TENANT: Final = 3


@dataclass(slots=True)
class NativeView:
    """Looks at a batch."""

    batch: NativeBatch
    site: Site
    capacity_gpus: int
    gpus_per_node: int

    def snapshot(self, caps: list[int]) -> Snapshot:
        """The whole picture now. `caps` are the levels of the own quotas, by tenant."""
        pool, batch = self.site.pools[0], self.batch
        tenants = tuple(self._state(number, cap) for number, cap in enumerate(caps))
        works = tuple(work for number in range(len(caps)) for work in self._refused(number))
        used = sum(tenant.reserved for tenant in tenants)
        state = PoolState(pool, self._nodes(used), Known(self.capacity_gpus), used)
        return Snapshot(batch.now, self.site, {pool.name: state}, tenants, works)

    def _state(self, tenant: int, cap: int) -> TenantPool:
        owner, seen = self.site.tenants[tenant], self.batch.tenant(tenant)
        asked = seen.asked
        return TenantPool(
            owner.name,
            owner.tier,
            self.site.pools[0].name,
            owner.entitlements[0],
            Known(cap),
            reserved=seen.normal_placed + seen.extra_placed,
            running=seen.normal_placed + seen.extra_placed,
            waiting=asked,
            queued=asked,
            preemptible=seen.extra_made,
            preemptible_placed=seen.extra_placed,
            refused=seen.refused,
            pending=seen.normal_made - seen.normal_placed,
            ran=RunRecord(seen.ran_seconds, seen.ended),
        )

    def _refused(self, tenant: int) -> Iterator[Work]:
        owner = self.site.tenants[tenant]
        for sighting, gpus in self.batch.refused(tenant, NAMED_OF_A_TENANT):
            pods = -(-gpus // self.gpus_per_node)
            name = f"job-{sighting.row:07}"
            yield Work(
                key=name,
                uid=name,
                kind="Job",
                namespace=owner.name,
                name=name,
                tenant=owner.name,
                tier=owner.tier,
                pool=self.site.pools[0].name,
                queue="",
                priority=0,
                pods=pods,
                gpus_per_pod=-(-gpus // pods),
                gpus=gpus,
                size=SizeClass.SINGLE_NODE,
                phase=WorkPhase.WAITING,
                created_at=self.batch.now - sighting.waited_seconds,
                waited_seconds=sighting.waited_seconds,
                evictions=sighting.evictions,
                borrows=True,
                pods_missing=pods,
            )

    def _nodes(self, used: int) -> tuple[NodeState, ...]:
        size, free = self.gpus_per_node, self.batch.free_by_node
        if free is None:
            return (NodeState("nodes", self.capacity_gpus, used),)
        return tuple(NodeState(f"node-{number}", size, size - left) for number, left in enumerate(free))
