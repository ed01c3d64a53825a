"""What a move would do, by name: who starts, who may be evicted, and whether the freed GPUs form whole nodes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collector.model.reading import Known
from collector.model.snapshot import PoolState, Snapshot, TenantPool, Work, WorkPhase
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


def unused_quota(snapshot: Snapshot, pool: str) -> int:
    """Quota of the pool that nobody uses now: admission needs no eviction up to there. 0 when it is not known."""
    state = snapshot.pools[pool]
    return max(0, state.quota_total.value - state.reserved) if isinstance(state.quota_total, Known) else 0


def victims(snapshot: Snapshot, beneficiary: TenantPool, wanted: int, entitled: Mapping[str, int]) -> Victims:
    """Who would be evicted so that `wanted` GPUs come free for `beneficiary`.

    The engine takes from those who use more than `entitled` (tenant → GPUs after the move), lowest priority first and
    youngest first, and leaves a tenant alone once it no longer borrows.
    """
    pool = beneficiary.pool
    over = {
        item.tenant: item.reserved - entitled.get(item.tenant, 0)
        for item in snapshot.tenants
        if item.pool == pool and item.tenant != beneficiary.tenant
    }
    candidates = [
        work
        for work in snapshot.works
        if work.pool == pool and work.phase in (WorkPhase.RUNNING, WorkPhase.STARTING) and over.get(work.tenant, 0) > 0
    ]
    chosen: list[Work] = []
    freed = 0
    for work in sorted(candidates, key=lambda w: (w.priority, -(w.admitted_at or w.created_at), w.key, w.uid)):
        if freed >= wanted:
            break
        if over[work.tenant] > 0:
            chosen.append(work)
            freed += work.gpus
            over[work.tenant] -= work.gpus
    return Victims(_without_needless(chosen, wanted), wanted)


def _without_needless(chosen: Sequence[Work], wanted: int) -> tuple[Work, ...]:
    """Spare, last chosen first, whoever is not needed to reach `wanted` (engines fill back the same way)."""
    kept = list(chosen)
    for work in reversed(chosen):
        if sum(item.gpus for item in kept) - work.gpus >= wanted:
            kept.remove(work)
    return tuple(kept)


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
    for gang in gangs:
        for _ in range(gang.pods):
            place = min(
                (name for name, gpus in free.items() if gpus >= gang.gpus_per_pod),
                key=lambda name: (free[name], name),
                default=None,
            )
            if place is None:
                return gang
            free[place] -= gang.gpus_per_pod
    return None
