"""Native lending: extra work is refused by its cap while GPUs stand idle. How far a cap may rise, when it falls. Pure.

Idle GPUs belong to nobody, so nothing is taken from anybody: guaranteed pods preempt borrow pods by themselves. What a
cap allows beyond its baseline is therefore limited by what is idle now, less what other caps already allow.
"""

from __future__ import annotations

from collections.abc import Iterable

from collector.model.reading import Known
from collector.model.snapshot import Snapshot, TenantPool, Work, WorkPhase
from controller.policy.change import Change
from controller.policy.targets import Target


def refused_by_cap(snapshot: Snapshot, tenant: str, pool: str) -> tuple[Work, ...]:
    """Overdue borrow work whose pods were never made, oldest first (plain Jobs try again in no certain order)."""
    found = [
        work
        for work in snapshot.works
        if (work.tenant, work.pool) == (tenant, pool) and work.borrows and work.overdue and work.pods_missing
    ]
    return tuple(sorted(found, key=lambda work: (work.created_at, work.uid)))


def idle_gpus(snapshot: Snapshot, pool: str, targets: Iterable[Target]) -> int:
    """Free GPUs of usable nodes, less what other work waits for and what other caps still allow."""
    free = snapshot.pools[pool].free
    waiting = sum(w.gpus for w in snapshot.works if w.pool == pool and w.phase is WorkPhase.WAITING and not w.borrows)
    return max(0, free - waiting - sum(_headroom(snapshot, target) for target in targets if target.pool == pool))


def _headroom(snapshot: Snapshot, target: Target) -> int:
    """GPUs that a cap allows and nobody uses yet."""
    state = snapshot.tenant_pool(target.tenant, target.pool) if target.tenant else None
    if state is None or not isinstance(target.observed, Known):
        return 0
    return max(0, target.observed.value - state.preemptible)


def already_over(state: TenantPool, cap: int) -> int:
    """Borrow GPUs in use beyond the cap; negative: still allowed."""
    return state.preemptible - cap


def gone_back(change: Change, snapshot: Snapshot) -> str:
    """Why a raised cap should fall again: its GPUs are no longer idle, and their owners use them. "" when not so."""
    state = snapshot.tenant_pool(change.tenant, change.pool)
    free = snapshot.pools[change.pool].free if change.pool in snapshot.pools else 0
    if state is None or free:
        return ""
    unused = change.given - max(0, state.preemptible - state.entitlement.floating)
    return f"{unused} of the lent GPUs went back to their owners" if unused > 0 else ""
