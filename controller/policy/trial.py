"""Every change is on trial: helped, no effect, hurt, cannot tell; then it is kept, extended once, or returned. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from collector.model.quantities import format_time
from collector.model.snapshot import Snapshot, WorkPhase
from controller.api.policy import Policy
from controller.policy.change import Change, Stage, Verdict
from controller.policy.targets import Target, TargetKey


def evictions_by(snapshot: Snapshot, tenant: str) -> int:
    """Evictions of live work of others that this tenant's work caused, as far as the objects tell."""
    return sum(work.evictions for work in snapshot.works if work.tenant != tenant and work.evicted_by == tenant)


def watched(change: Change, snapshot: Snapshot) -> Change:
    """Remember which of the named workloads were seen Ready since the change came into force."""
    running = {work.key for work in snapshot.works if work.phase is WorkPhase.RUNNING}
    seen = [named.key for named in change.forecast.ready if named.key in running or named.key in change.seen_ready]
    return replace(change, seen_ready=tuple(seen))


def judged(change: Change, snapshot: Snapshot, policy: Policy) -> Change:
    """The change with its verdict, when the time for one has come. Blind ticks judge nothing."""
    if change.stage is not Stage.ON_TRIAL or snapshot.blind_reasons:
        return change
    now = snapshot.taken_at
    change = watched(change, snapshot)
    named, ready = len(change.forecast.ready), len(change.seen_ready)
    hurt = evictions_by(snapshot, change.tenant) - change.evictions_before - len(change.forecast.evicted)
    if hurt > 0:
        return _with(change, Verdict.HURT, f"{hurt} more evictions than forecast", now)
    if ready == named:
        return _with(change, Verdict.HELPED, f"all {named} named workloads became Ready", now)
    if now < change.forecast.ready_by:
        return change
    if not change.extended:
        ready_by = now + policy.cadence.dwell_seconds
        return replace(change, extended=True, forecast=replace(change.forecast, ready_by=ready_by))
    alive = {work.key for work in snapshot.works}
    gone = [item for item in change.forecast.ready if item.key not in alive and item.key not in change.seen_ready]
    if ready:
        return _with(change, Verdict.HELPED, f"{ready} of {named} named workloads became Ready", now)
    if len(gone) == named:
        return _with(change, Verdict.CANNOT_TELL, "the named workloads were withdrawn before they could start", now)
    return _with(change, Verdict.NO_EFFECT, f"none of {named} named workloads became Ready in time", now)


def _with(change: Change, verdict: Verdict, reason: str, now: float) -> Change:
    judged_change = replace(change, verdict=verdict, verdict_reason=reason, judged_at=now)
    if verdict in (Verdict.HELPED, Verdict.CANNOT_TELL):
        return replace(judged_change, stage=Stage.KEPT)
    return judged_change.returning(now, f"verdict {verdict.value}: {reason}")


def due(change: Change, snapshot: Snapshot, targets: Mapping[TargetKey, Target]) -> Change:
    """The change, on its way back when its time is up, its lender needs its own, or a person ended it at the object."""
    now = snapshot.taken_at
    if not change.active:
        return change
    if _ended_outside(change, targets):
        return change.ended(now, "its mark is gone from the object: ended by a person")
    if change.stage is Stage.RETURNING:
        return change
    if now >= change.expires_at:
        return change.returning(now, f"its time to live ended at {format_time(change.expires_at)}")
    if snapshot.blind_reasons or change.stage is not Stage.KEPT:
        return change
    reason = _needed_elsewhere(change, snapshot, targets) or _no_longer_needed(change, snapshot)
    return change.returning(now, reason) if reason else change


def _needed_elsewhere(change: Change, snapshot: Snapshot, targets: Mapping[TargetKey, Target]) -> str:
    """A lender whose work is overdue while it uses less than was agreed gets its float back."""
    source = targets.get((change.source, change.pool))
    lender = snapshot.tenant_pool(source.tenant, change.pool) if source is not None and source.tenant else None
    if lender is None:
        return ""
    agreed = lender.entitlement.guarantee + lender.entitlement.floating
    short = lender.overdue > 0 and lender.reserved < agreed
    return f"its lender {lender.tenant} needs its own float back" if short else ""


def _no_longer_needed(change: Change, snapshot: Snapshot) -> str:
    state = snapshot.tenant_pool(change.tenant, change.pool)
    if state is None:
        return f"{change.tenant} is gone"
    agreed = state.entitlement.guarantee + state.entitlement.floating
    return f"{change.tenant} no longer needs it" if state.reserved + state.waiting <= agreed else ""


def _ended_outside(change: Change, targets: Mapping[TargetKey, Target]) -> bool:
    """A confirmed write whose mark is gone: someone wrote the baseline over it."""
    for name, written in ((change.source, change.taken_written), (change.destination, change.given_written)):
        target = targets.get((name, change.pool))
        if written and target is not None and change.id not in target.change_ids:
            return True
    return False


def softened(change: Change, snapshot: Snapshot, baseline_entitlement: int) -> Change:
    """How much of a returning change may stay for now: what work admitted before its end still uses. Only ever less.

    New work does not widen it again: the tap is closed. A hard return keeps nothing.
    """
    if change.stage is not Stage.RETURNING:
        return change
    if change.hard:
        return replace(change, amount=0)
    since = change.returning_since if change.returning_since is not None else snapshot.taken_at
    used = sum(
        work.gpus
        for work in snapshot.works
        if (work.tenant, work.pool) == (change.tenant, change.pool)
        and work.phase in (WorkPhase.RUNNING, WorkPhase.STARTING)
        and (work.admitted_at or work.created_at) <= since
    )
    return replace(change, amount=min(change.amount, change.given, max(0, used - baseline_entitlement)))
