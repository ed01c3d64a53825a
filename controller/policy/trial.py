"""Every change is on trial: helped, no effect, hurt, cannot tell; then it is kept, extended once, or returned. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from collector.model.quantities import counted, format_time
from collector.model.reading import Known
from collector.model.snapshot import Snapshot, WorkPhase
from controller.api.policy import Policy
from controller.policy.borrowing import gone_back
from controller.policy.change import IDLE, Change, Stage, Verdict, WorkRef
from controller.policy.targets import Target, TargetKey, holds_level, left_baseline, level


def evictions_by(snapshot: Snapshot, tenant: str) -> int:
    """Evictions of live work of others that this tenant's work caused, as far as the objects tell."""
    return sum(
        work.evictions_by.get(tenant, 0)
        for group in snapshot.groups
        if group.tenant != tenant
        for work in group.evicted
    )


def evictions_of(snapshot: Snapshot, works: Iterable[WorkRef]) -> int:
    """How often these workloads have been evicted so far."""
    keys = {work.key for work in works}
    return sum(work.evictions for work in snapshot.works if work.key in keys)


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
    if change.lends:
        return _with(change, Verdict.HELPED, "what stood idle is lent; its lender gets it back when it needs it", now)
    return _lent(change, snapshot) if change.standing else _tried(watched(change, snapshot), snapshot, policy)


def _tried(change: Change, snapshot: Snapshot, policy: Policy) -> Change:
    """What became of who was named."""
    now = snapshot.taken_at
    if change.forecast.stays:
        return _calmed(change, snapshot)
    named, ready = len(change.forecast.ready), len(change.seen_ready)
    hurt = evictions_by(snapshot, change.tenant) - change.evictions_before - len(change.forecast.evicted)
    if hurt > _evictions_of_others(change, snapshot):
        return _with(change, Verdict.HURT, f"{hurt} more evictions than forecast", now)
    if ready == named:
        return _with(change, Verdict.HELPED, f"all {named} named workloads became Ready", now)
    if now < min(change.forecast.ready_by, change.expires_at):
        return change
    ready_by = now + policy.cadence.dwell_seconds
    if not change.extended and ready_by < change.expires_at:
        return replace(change, extended=True, forecast=replace(change.forecast, ready_by=ready_by))
    alive = {work.key for work in snapshot.works}
    gone = [item for item in change.forecast.ready if item.key not in alive and item.key not in change.seen_ready]
    if ready:
        return _with(change, Verdict.HELPED, f"{ready} of {named} named workloads became Ready", now)
    if len(gone) == named:
        return _with(change, Verdict.CANNOT_TELL, "the named workloads are gone and were not seen to start", now)
    return _with(change, Verdict.NO_EFFECT, f"none of {named} named workloads became Ready in time", now)


def _lent(change: Change, snapshot: Snapshot) -> Change:
    """A cap that follows what is safe helped once extra work runs under it. It evicts nobody, so it can not hurt."""
    now, state = snapshot.taken_at, snapshot.tenant_pool(change.tenant, change.pool)
    if state is not None and state.preemptible_placed:
        lent = counted(state.preemptible_placed, "GPU")
        return _with(change, Verdict.HELPED, f"extra work of it runs on {lent} that stood idle", now)
    if now < min(change.forecast.ready_by, change.expires_at):
        return change
    return _with(change, Verdict.CANNOT_TELL, "no extra work of it started meanwhile", now)


def _calmed(change: Change, snapshot: Snapshot) -> Change:
    """Against a cycle: who was named keeps its place until the end of the trial, or the change did nothing."""
    now, alive = snapshot.taken_at, {work.key for work in snapshot.works}
    again = evictions_of(snapshot, change.forecast.stays) - change.stays_evictions_before
    if again > 0:
        return _with(
            change, Verdict.NO_EFFECT, f"the named workloads lost their place {counted(again, 'time')} more", now
        )
    if not any(work.key in alive for work in change.forecast.stays):
        return _with(change, Verdict.CANNOT_TELL, "the named workloads are gone", now)
    if now < min(change.forecast.ready_by, change.expires_at):
        return change
    return _with(change, Verdict.HELPED, "the named workloads kept their place", now)


def _evictions_of_others(change: Change, snapshot: Snapshot) -> int:
    """Evictions at most that unnamed work of the tenant, admitted since the decision, may have caused by its own right.

    Each needs a GPU at least, so that it can not have evicted more workloads than it has GPUs.
    """
    named = {item.key for item in change.forecast.ready}
    return sum(
        work.gpus
        for group in snapshot.groups_of(change.tenant, change.pool)
        for work in group.works
        if work.key not in named and work.admitted_at is not None and work.admitted_at >= change.created_at
    )


def _with(change: Change, verdict: Verdict, reason: str, now: float) -> Change:
    judged_change = replace(change, verdict=verdict, verdict_reason=reason, judged_at=now)
    if verdict in (Verdict.HELPED, Verdict.CANNOT_TELL):
        return replace(judged_change, stage=Stage.KEPT)
    return judged_change.returning(now, f"verdict {verdict.value}: {reason}")


def due(change: Change, snapshot: Snapshot, targets: Mapping[TargetKey, Target], hold_seconds: float) -> Change:
    """The change, on its way back when its time is up, its lender needs its own, or it was not needed for so long."""
    now = snapshot.taken_at
    if change.stage in (Stage.RETURNING, Stage.ENDED):
        return change
    if now >= change.expires_at:
        return change.returning(now, f"its time to live ended at {format_time(change.expires_at)}")
    if change.standing:
        return change
    if snapshot.blind_reasons or change.stage is not Stage.KEPT or change.lends:
        return _needed_still(change)
    reason = _needed_elsewhere(change, snapshot, targets)
    if reason:
        return change.returning(now, reason)
    unneeded = _no_longer_needed(change, snapshot)
    if not unneeded:
        return _needed_still(change)
    # Giving is fast, taking is slow: one quiet look is no reason.
    since = now if change.unneeded_since is None else change.unneeded_since
    if now - since >= hold_seconds:
        return change.returning(now, unneeded)
    return change if since == change.unneeded_since else replace(change, unneeded_since=since)


def _needed_still(change: Change) -> Change:
    return change if change.unneeded_since is None else replace(change, unneeded_since=None)


def _needed_elsewhere(change: Change, snapshot: Snapshot, targets: Mapping[TargetKey, Target]) -> str:
    """A lender with overdue work that uses less than was agreed gets its own back; so does who owns idle GPUs."""
    if change.source == IDLE:
        return gone_back(change, snapshot)
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
    if change.source == IDLE:
        own = snapshot.groups_of(change.tenant, change.pool)
        wanting = sum(work.gpus for group in own for work in group.works if work.borrows and work.waits)
        return (
            f"{change.tenant} no longer needs it" if state.preemptible + wanting <= state.entitlement.floating else ""
        )
    agreed = state.entitlement.guarantee + state.entitlement.floating
    return f"{change.tenant} no longer needs it" if state.needed <= agreed else ""


def heeded(change: Change, targets: Mapping[TargetKey, Target], changes: Sequence[Change], now: float) -> Change:
    """The change after what people did to its objects or to the baseline, which always wins.

    An object that was written over has lost the change's mark and its level. Without the mark alone, the change goes
    back softly, as at its end.
    """
    if not change.active:
        return change
    source, destination = (targets.get((name, change.pool)) for name in (change.source, change.destination))
    gone = left_baseline(change, targets)
    if gone:
        return change.overruled(now, f"{gone[0]} is no longer in the baseline")
    if source is not None and change.taken and level(source, changes) < 0:
        return change.overruled(now, f"the baseline of {change.source} no longer holds what was taken from it")
    for target, intended, written in (
        (source, change.taken, change.taken_written),
        (destination, change.given, change.given_written),
    ):
        unmarked = target is not None and isinstance(target.observed, Known) and change.id not in target.change_ids
        if intended and written and unmarked:
            if holds_level(target, changes):
                return change.returning(now, "its mark is gone from the object")
            return change.overruled(now, "its mark is gone from the object: undone by a person")
    return change


def softened(change: Change, snapshot: Snapshot, baseline_entitlement: int) -> Change:
    """How much of a returning change may stay for now: what work admitted before its end still uses. Only ever less.

    New work does not widen it again: the tap is closed. A hard return keeps nothing, but is soft while blind.
    """
    if change.stage is not Stage.RETURNING:
        return change
    if change.hard and not snapshot.blind_reasons:
        return replace(change, amount=0)
    since = change.returning_since if change.returning_since is not None else snapshot.taken_at
    used = sum(
        work.gpus
        for group in snapshot.groups_of(change.tenant, change.pool)
        for work in group.placed
        if (work.borrows or change.source != IDLE) and (work.admitted_at or work.created_at) <= since
    )
    # What was intended and never written is not written any more either.
    stays = min(change.amount, change.given_written, max(0, used - baseline_entitlement))
    return change if stays == change.amount else replace(change, amount=stays)
