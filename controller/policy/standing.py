"""Standing changes: caps of native pools that follow, tick by tick, what strategy `offer` finds safe to lend. Pure.

One change for each cap, as long as its tenant has extra work. It takes from nobody and evicts nobody, so it needs no
finding, no second look and no budget; it obeys mode, targets, opt-outs, ownership and blindness like any other, ends
when nobody follows it up, and is judged by whether extra work runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from collector.model.quantities import counted, format_time
from collector.model.reading import Known
from collector.model.snapshot import Snapshot, TenantPool
from controller.api.policy import Mode, Policy
from controller.policy.change import IDLE, Change, Forecast, Stage
from controller.policy.forecast import reference
from controller.policy.ledger import Ledger
from controller.policy.strategies.offer import borrower, caps, safe_gpus
from controller.policy.targets import Target, moved

_NAMED_WORKS = 20
_GOES_ON = (Stage.INTENDED, Stage.ON_TRIAL, Stage.KEPT)


def standing_offers(
    snapshot: Snapshot, policy: Policy, mode: Mode, ledger: Ledger, targets: Sequence[Target]
) -> Ledger:
    """The ledger with every cap's standing change at its present amount. While blind, nothing is touched."""
    if snapshot.blind_reasons:
        return ledger
    ledger = replace(ledger, owners=ledger.owners.advance(snapshot, policy.day_seconds))
    if mode is not Mode.ENFORCE or policy.paused or ledger.latched or "offer" not in policy.strategies:
        return ledger
    by_pool: dict[str, list[tuple[Target, TenantPool]]] = defaultdict(list)
    for target, state in _steered(snapshot, policy, targets):
        by_pool[target.pool].append((target, state))
    for pool, pairs in by_pool.items():
        borrowers = [borrower(state, policy.day_seconds) for _, state in pairs]
        safe = safe_gpus(snapshot, pool, ledger.owners, policy.day_seconds)
        levels = caps(borrowers, safe, _left_to_us(snapshot, pool, pairs, targets))
        of_target: dict[str, list[Change]] = defaultdict(list)
        for change in ledger.changes:
            if change.pool == pool and (change.active or change.standing):
                of_target[change.destination].append(change)
        for target, state in pairs:
            known = of_target[target.name]
            followed = _followed(known, policy, snapshot, target, state, levels[state.tenant])
            ledger = ledger if followed is None or followed in known else ledger.with_change(followed)
    return ledger


def _steered(snapshot: Snapshot, policy: Policy, targets: Sequence[Target]) -> Iterator[tuple[Target, TenantPool]]:
    """Caps that may be moved, with the tenant that each serves."""
    for target in targets:
        if target.limit is None or target.tenant is None or target.foreign_manager is not None:
            continue
        state = snapshot.tenant_pool(target.tenant, target.pool)
        if state is None or state.opted_out or not isinstance(target.observed, Known):
            continue
        if policy.targets.covers(target.tenant, target.pool):
            yield target, state


def _left_to_us(
    snapshot: Snapshot, pool: str, pairs: Sequence[tuple[Target, TenantPool]], targets: Sequence[Target]
) -> int:
    """GPUs of the pool less what caps allow that we do not move."""
    ours = {target.name for target, _ in pairs}
    others = (one for one in targets if one.pool == pool and one.limit is not None and one.name not in ours)
    allowed = sum(one.observed.value if isinstance(one.observed, Known) else one.baseline for one in others)
    return max(0, snapshot.pools[pool].allocatable - allowed)


def _followed(
    known: Sequence[Change], policy: Policy, snapshot: Snapshot, target: Target, state: TenantPool, level: int
) -> Change | None:
    """The standing change of one cap as it should be now, or a new one; None: there is none. `known`: its changes."""
    now = snapshot.taken_at
    mine = [change for change in known if change.standing]
    standing = next((one for one in mine if one.stage in _GOES_ON), None)
    if state.entitlement.ceiling is not None:
        level = min(level, max(0, state.entitlement.ceiling - state.entitlement.guarantee))
    others = sum(moved(one, target.name) for one in known if one is not standing)
    amount = max(0, level - target.baseline - others)
    if standing is not None:
        wanted = state.preemptible + state.refused > target.baseline
        return _kept(standing, policy, amount, wanted, now)
    undone = any(one.hard and now - (one.ended_at or now) < policy.revert.ttl_seconds for one in mine)
    if not amount or not state.refused or undone or any(one.active for one in mine):
        return None
    return _begun(policy, snapshot, target, state, amount)


def _kept(change: Change, policy: Policy, amount: int, wanted: bool, now: float) -> Change:
    """Followed up, so it goes on; not wanted for a dwell time, it ends."""
    since = None if wanted else (now if change.unneeded_since is None else change.unneeded_since)
    if since is not None and now - since >= policy.cadence.dwell_seconds:
        return change.returning(now, f"{change.tenant} no longer needs it")
    half = policy.revert.ttl_seconds / 2  # renewed in time, and not written anew in every tick
    ends = change.expires_at if change.expires_at - now > half else now + 2 * half
    return replace(change, amount=amount, unneeded_since=since, expires_at=ends)


def _begun(policy: Policy, snapshot: Snapshot, target: Target, state: TenantPool, amount: int) -> Change:
    now = snapshot.taken_at
    refused = [
        work
        for work in snapshot.works
        if (work.tenant, work.pool) == (state.tenant, state.pool) and work.borrows and work.pods_missing and work.waits
    ]
    named = sorted(refused, key=lambda work: (work.created_at, work.uid))[:_NAMED_WORKS]
    asked, given = counted(state.refused, "GPU"), counted(amount, "GPU")
    finding = f"Extra work of {state.tenant} asks for {asked} that its cap refuses, while owners do not need {given}."
    stamp = format_time(now).replace("-", "").replace(":", "").lower()
    return Change(
        id=f"{stamp}-{state.tenant}-{state.pool}-offer",
        policy=policy.name,
        tenant=state.tenant,
        pool=state.pool,
        source=IDLE,
        destination=target.name,
        amount=amount,
        reason=f"{finding} Its cap rises by {given} and then follows what is safe to lend; that evicts nobody.",
        finding=finding,
        forecast=Forecast(tuple(reference(work) for work in named), now + policy.cadence.dwell_seconds),
        created_at=now,
        expires_at=now + policy.revert.ttl_seconds,
        standing=True,
    )
