"""`decide()`: one pure function from a snapshot to findings, decisions, and the ledger after them.

The same function runs live, in shadow, in replay, in simulation. Nothing is written here: the ledger it returns holds
intents, and `controller.runtime` writes objects until they agree with it. Equal input in any order gives equal output.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collector.model.quantities import counted, format_time
from collector.model.snapshot import Snapshot
from controller.api.policy import Mode, Policy
from controller.policy import lending, strategies
from controller.policy.change import IDLE, Change, Stage, WorkRef
from controller.policy.finding import Finding
from controller.policy.findings import find
from controller.policy.guards import MOST_MORE_TICKS, Circumstances, Refusal, first_refusal, idle_ticks, on_trial
from controller.policy.ledger import BudgetUse, Ledger, budget_use
from controller.policy.moments import next_moment
from controller.policy.proposals import NoProposal, Proposal, Terms, View
from controller.policy.standing import standing_offers
from controller.policy.strategies.deadlines import ClassChoice, choices, next_choice_at
from controller.policy.targets import Target, TargetKey, available, by_key, recorded
from controller.policy.trial import due, evictions_by, evictions_of, heeded, judged, softened

_NAMED_WORKS = 4


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done about one finding: a proposal with or without a refusal, or none at all, and one sentence."""

    finding: Finding
    proposal: Proposal | None
    refusal: Refusal | None
    sentence: str
    change_id: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One tick, judged."""

    findings: tuple[Finding, ...]
    decisions: tuple[Decision, ...]
    ledger: Ledger
    used: BudgetUse
    sentence: str
    wake_at: float
    """The same facts are answered in the same way before this moment: a look at them would change nothing.

    After a tick that changed the ledger it is the next one at the latest; infinite where nothing is to be waited for.
    """
    classes: tuple[ClassChoice, ...] = ()
    """Waiting work that should stand in another priority class."""


def decide(snapshot: Snapshot, policy: Policy, ceiling: Mode, ledger: Ledger, targets: Sequence[Target]) -> Outcome:
    """Judge what is on trial, send back what is due, then answer each finding. `snapshot.taken_at` is the time.

    Raises InputError for a policy with a strategy that is not shipped.
    """
    strategies.check(policy.strategies)
    now, places, before = snapshot.taken_at, by_key(targets), ledger
    ledger = _kept_up(snapshot, policy, min(ceiling, policy.mode), ledger, places)
    if not snapshot.blind:
        evictions = ledger.evictions.advance(snapshot, policy.day_seconds / 24)
        ledger = ledger if evictions is ledger.evictions else replace(ledger, evictions=evictions)
    ledger = standing_offers(snapshot, policy, min(ceiling, policy.mode), ledger, targets)
    findings = find(snapshot, ledger)
    if policy.lending is not None and not snapshot.blind:
        findings += tuple(lending.idle_floats(snapshot, ledger, policy.lending, policy.cadence.dwell_seconds))
    enough = max(policy.cadence.confirm_ticks, idle_ticks(policy) if policy.lending else 0) + MOST_MORE_TICKS
    seen = ledger.confirmed((finding.key for finding in findings), now, policy.day_seconds / 24, enough)
    ledger = ledger.unconfirmed() if snapshot.blind_reasons else seen
    terms = Terms(now, policy.cadence.dwell_seconds, policy.day_seconds, policy.targets, policy.lending)
    decisions: list[Decision] = []
    view = View(snapshot, by_key(available(targets, ledger.active)), terms, ledger.evictions)
    used = budget_use(ledger, now, policy.day_seconds)
    for finding in findings:
        at = Circumstances(snapshot, policy, ceiling, ledger, used, now)
        tried = on_trial(finding, ledger) or _coming_back(finding, ledger, now)
        if tried is not None:
            decision = Decision(finding, None, tried, f"{finding.sentence} {tried.sentence}")
        else:
            decision, ledger = _answer(strategies.propose(finding, view, policy.strategies), at, decisions)
        if ledger is not at.ledger:
            used = budget_use(ledger, now, policy.day_seconds)
        decisions.append(decision)
    return Outcome(
        findings=findings,
        decisions=tuple(decisions),
        ledger=ledger,
        used=used,
        sentence=_sentence(snapshot, decisions, ledger),
        wake_at=min(_wake_at(now, policy, (before, ledger), decisions), _next_class_at(snapshot, policy)),
        classes=_classes(snapshot, policy),
    )


def _classes(snapshot: Snapshot, policy: Policy) -> tuple[ClassChoice, ...]:
    return choices(snapshot, policy.targets) if _sets_classes(snapshot, policy) else ()


def _next_class_at(snapshot: Snapshot, policy: Policy) -> float:
    return next_choice_at(snapshot, policy.targets) if _sets_classes(snapshot, policy) else math.inf


def _sets_classes(snapshot: Snapshot, policy: Policy) -> bool:
    """Not on a picture that is no ground for decisions, and not while a person has paused it."""
    return not policy.paused and not snapshot.blind_reasons and "deadlines" in policy.strategies


def _kept_up(
    snapshot: Snapshot, policy: Policy, mode: Mode, ledger: Ledger, places: Mapping[TargetKey, Target]
) -> Ledger:
    """Every active change one look further: confirmed, judged, sent back when due, and followed down."""
    for change in ledger.active:
        kept = recorded(change, places, ledger.active, snapshot.taken_at)
        kept = heeded(kept, places, ledger.active, snapshot.taken_at)
        kept = lending.renewed(kept, snapshot, policy)
        kept = due(judged(kept, snapshot, policy), snapshot, places, policy.cadence.dwell_seconds)
        if kept.stage is Stage.INTENDED and (mode is not Mode.ENFORCE or policy.paused or snapshot.blind_reasons):
            kept = kept.returning(snapshot.taken_at, "not completed: writing is not allowed at the moment")
        if kept.stage is Stage.RETURNING and not snapshot.blind and not kept.lends:
            kept = softened(kept, snapshot, _entitled_without(kept, snapshot, ledger))
        ledger = ledger if kept == change else ledger.with_change(kept)
    if not snapshot.blind:
        ledger = lending.followed(snapshot, lending.recalled(snapshot, ledger, places))
    return ledger.pruned(snapshot.taken_at - policy.day_seconds)


def _entitled_without(change: Change, snapshot: Snapshot, ledger: Ledger) -> int:
    """The tenant's entitlement if this change were gone: agreed, and what other changes gave or took."""
    state = snapshot.tenant_pool(change.tenant, change.pool)
    guarantee = state.entitlement.guarantee if state is not None and change.source != IDLE else 0
    agreed = guarantee + (state.entitlement.floating if state is not None else 0)
    for other in ledger.active:
        if other.id != change.id and other.pool == change.pool:
            stays = min(other.given, other.amount)  # one that goes back already counts as what it leaves
            agreed += stays if other.destination == change.destination else 0
            agreed -= other.taken if other.source == change.destination else 0
    return agreed


def _coming_back(finding: Finding, ledger: Ledger, now: float) -> Refusal | None:
    """Who gets its own float back in this tick is looked at again before it is given anything of others."""
    loans = (one for one in ledger.changes if one.lends and (one.tenant, one.pool) == (finding.tenant, finding.pool))
    if not any(loan.recalled_at == now for loan in loans):
        return None
    return Refusal("COMING_BACK", f"{finding.tenant} gets what it lent back.")


def _answer(proposed: Proposal | NoProposal, at: Circumstances, decided: Sequence[Decision]) -> tuple[Decision, Ledger]:
    finding = proposed.finding
    if isinstance(proposed, NoProposal):
        refusal = Refusal(proposed.code, proposed.sentence)
        return Decision(finding, None, refusal, f"{finding.sentence} No change: {refusal.sentence}"), at.ledger
    refused = first_refusal(proposed, at) or _one_per_pool(proposed, decided)
    told = _told(proposed)
    if refused is not None:
        return Decision(finding, proposed, refused, f"{told} Not now: {refused.sentence}"), at.ledger
    change = _change(proposed, at)
    ledger = at.ledger.with_change(change)
    if finding.cycle is not None:
        parties = finding.cycle.parties
        ledger = replace(ledger, evictions=ledger.evictions.without(finding.pool, parties))
    return Decision(finding, proposed, None, told, change.id), ledger


def _one_per_pool(proposal: Proposal, decided: Sequence[Decision]) -> Refusal | None:
    """A little at a time: the next move in a pool is decided on the picture that shows the first."""
    busy = any(decision.change_id and decision.finding.pool == proposal.finding.pool for decision in decided)
    return Refusal("ONE_PER_TICK", "Another change in this pool was decided in this tick.") if busy else None


def _told(proposal: Proposal) -> str:
    finding, forecast, gpus = proposal.finding, proposal.forecast, counted(proposal.amount, "GPU")
    if proposal.lends:
        way = f"from {proposal.source_name} to {proposal.destination.name}"
        return f"{finding.sentence} Move {gpus} {way}: lent to everybody until {finding.tenant} is late."
    starts = f"{_named(forecast.ready)} can start by {format_time(forecast.ready_by)}"
    stays = f"{_named(forecast.stays)} keeps its place until {format_time(forecast.ready_by)} at least"
    may = f"may evict {_named(forecast.evicted)}" if forecast.evicted else "evicts nobody"
    return (
        f"{finding.tenant} is {finding.kind.value} in pool {finding.pool}: move {gpus} from "
        f"{proposal.source_name} to {proposal.destination.name}, so that {starts if forecast.ready else stays}; {may}."
    )


def _named(works: Sequence[WorkRef]) -> str:
    """The first workloads by name, the rest as a count: the change itself holds them all."""
    rest = len(works) - _NAMED_WORKS
    return ", ".join(work.title for work in works[:_NAMED_WORKS]) + (f" and {rest} more" if rest > 0 else "")


def _change(proposal: Proposal, at: Circumstances) -> Change:
    finding, stamp = proposal.finding, format_time(at.now).replace("-", "").replace(":", "").lower()
    return Change(
        id=f"{stamp}-{finding.tenant}-{finding.pool}",
        policy=at.policy.name,
        tenant=finding.tenant,
        pool=finding.pool,
        source=proposal.source_name,
        destination=proposal.destination.name,
        amount=proposal.amount,
        reason=_told(proposal),
        finding=finding.sentence,
        forecast=proposal.forecast,
        created_at=at.now,
        expires_at=at.now + at.policy.revert.ttl_seconds,
        evictions_before=evictions_by(at.snapshot, finding.tenant),
        stays_evictions_before=evictions_of(at.snapshot, proposal.forecast.stays),
    )


def _sentence(snapshot: Snapshot, decisions: Sequence[Decision], ledger: Ledger) -> str:
    """The one sentence of this tick."""
    if snapshot.blind_reasons:
        return f"Blind, so nothing new is decided: {snapshot.blind_reasons[0]}."
    made = [decision for decision in decisions if decision.change_id]
    if made:
        return made[0].sentence
    if decisions:
        return decisions[0].sentence
    active = ledger.active
    if active:
        return f"All objectives hold; {counted(len(active), 'change')} in force, the next ends by {_next_end(active)}."
    return "All objectives hold; nothing to do."


def _next_end(active: Sequence[Change]) -> str:
    return format_time(min(change.expires_at for change in active))


def _wake_at(now: float, policy: Policy, ledgers: tuple[Ledger, Ledger], decisions: Sequence[Decision]) -> float:
    before, after = ledgers
    proposals = [decision.proposal for decision in decisions if decision.proposal is not None]
    moment = next_moment(after, proposals, policy, now)
    if after == before:
        return moment
    # Where even the tick is shorter than what a clock can tell apart, at once: always later than now.
    return min(moment, max(now + policy.cadence.tick_seconds, math.nextafter(now, math.inf)))
