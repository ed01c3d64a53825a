"""What a move would do, by name: who starts, who may be evicted, and whether the freed GPUs form whole nodes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from collector.model.reading import Known
from collector.model.snapshot import PoolState, Snapshot, TenantPool, Work
from controller.policy.change import WorkRef


@dataclass(frozen=True, slots=True)
class Victims:
    """The work that the engine would evict to free `wanted` GPUs, and what of it can be freed at all."""

    works: tuple[Work, ...]
    wanted: int

    @property
    def freed(self) -> int:
        """GPUs that their eviction frees."""
        return sum(work.gpus for work in self.works)

    @property
    def enough(self) -> bool:
        """Whether that is as much as is wanted."""
        return self.freed >= self.wanted


def reference(work: Work) -> WorkRef:
    """How a forecast names a workload."""
    return WorkRef(work.key, work.title, work.gpus)


def usable_quota(snapshot: Snapshot, beneficiary: TenantPool, floats: Mapping[str, int]) -> int:
    """Quota of the pool that `beneficiary` could use now without an eviction; 0 when it is not known.

    What a tenant does not use of its own float is its reserve and nobody else's. `floats`: tenant → float after the
    move.
    """
    state = snapshot.pools[beneficiary.pool]
    if not isinstance(state.quota_total, Known):
        return 0
    kept = sum(
        max(0, floats.get(item.tenant, 0) - item.reserved)
        for item in snapshot.tenants
        if item.pool == beneficiary.pool and item.tenant != beneficiary.tenant
    )
    return max(0, state.quota_total.value - state.reserved - kept)


def victims(
    snapshot: Snapshot, beneficiary: TenantPool, gangs: Sequence[Work], usable: int, entitled: Mapping[str, int]
) -> Victims:
    """Who would be evicted so that `gangs` of `beneficiary` can start one after the other, `usable` GPUs being free.

    The engine makes room for each gang by itself. It takes from those who use more than `entitled` (tenant → GPUs after
    the move), lowest priority first and youngest first, and leaves a tenant alone once it no longer borrows.
    """
    over = {
        item.tenant: item.reserved - entitled.get(item.tenant, 0)
        for item in snapshot.tenants
        if item.pool == beneficiary.pool and item.tenant != beneficiary.tenant
    }
    borrows = {tenant for tenant, gpus in over.items() if gpus > 0}
    left = sorted(
        (work for tenant in borrows for group in snapshot.groups_of(tenant, beneficiary.pool) for work in group.placed),
        key=lambda w: (w.priority, -(w.admitted_at or w.created_at), w.uid),
    )
    chosen: list[Work] = []
    missing = 0
    for gang in gangs:
        hit = _victims_of(gang.gpus - usable, left, over)
        for work in hit:
            left.remove(work)
            over[work.tenant] -= work.gpus
        usable += sum(work.gpus for work in hit) - gang.gpus
        chosen += hit
        missing, usable = missing + max(0, -usable), max(0, usable)
    return Victims(tuple(chosen), sum(work.gpus for work in chosen) + missing)


def _victims_of(wanted: int, candidates: Sequence[Work], over: Mapping[str, int]) -> Sequence[Work]:
    """The first candidates whose tenants borrow until `wanted` GPUs are free, without those that are not needed."""
    chosen: list[Work] = []
    left, freed = dict(over), 0
    for work in candidates:
        if freed >= wanted:
            break
        if left[work.tenant] > 0:
            chosen.append(work)
            left[work.tenant] -= work.gpus
            freed += work.gpus
    for work in reversed(chosen):  # engines fill back: the one chosen last is spared first
        if freed - work.gpus >= wanted:
            chosen.remove(work)
            freed -= work.gpus
    return chosen


def lost_gpu_hours(works: Sequence[Work], now: float, day_seconds: float) -> float:
    """At most this much computing is thrown away: GPUs by run time so far. Scaled days make scaled hours."""
    run = sum(work.gpus * max(0.0, now - work.ready_at) for work in works if work.ready_at is not None)
    return run / (day_seconds / 24)


def whole_nodes(state: PoolState, gangs: Sequence[Work], freed: Sequence[Work]) -> Work | None:
    """The first gang that would find no nodes for all its pods after `freed` is gone; None when all fit."""
    free: dict[str, int] = defaultdict(int)
    for node in state.nodes:
        if not node.unusable:
            free[node.name] = node.free
    for work in freed:
        for name, gpus in work.nodes.items():
            if name in free:
                free[name] += gpus
    by_free: dict[int, list[str]] = defaultdict(list)
    for name, gpus in sorted(free.items()):
        by_free[gpus].append(name)  # in order, which is a heap
    for gang in gangs:
        size = max(1, gang.gpus_per_pod)
        for _ in range(gang.pods):
            fullest = min((gpus for gpus, names in by_free.items() if gpus >= size and names), default=None)
            if fullest is None:
                return gang
            heappush(by_free[fullest - size], heappop(by_free[fullest]))
    return None
