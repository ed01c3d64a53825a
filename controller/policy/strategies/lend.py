"""`lend`: who starves gets of what is lent to everybody: the shared Cohort (Kueue), idle GPUs under a cap (native)."""

from __future__ import annotations

from collector.model.quantities import counted
from collector.model.reading import Known
from collector.model.snapshot import WaitingName
from controller.policy.borrowing import already_over, idle_gpus, refused_by_cap
from controller.policy.change import Forecast
from controller.policy.finding import Finding, Trouble
from controller.policy.forecast import Victims, reference, whole_nodes
from controller.policy.lending import idle_float
from controller.policy.proposals import NoProposal, Proposal, View, move, prefix, room
from controller.policy.strategies.quota import best_move


def lend(finding: Finding, view: View) -> Proposal | NoProposal | None:
    """A move out of the shared part, or a higher cap; None for what quota is no answer to."""
    if finding.kind is Trouble.IDLE_FLOAT:
        return _lent(finding, view)
    if not isinstance(finding.kind, WaitingName):
        return None
    if finding.kind is WaitingName.REFUSED:
        return _raised_cap(finding, view)
    shared = [
        (target, target.observed.value)
        for target in view.of_pool(finding.pool)
        if target.tenant is None and isinstance(target.observed, Known) and target.observed.value > 0
    ]
    return best_move(finding, view, shared)


def _lent(finding: Finding, view: View) -> Proposal | NoProposal | None:
    """What a tenant does not use of its float, to everybody."""
    source, lending = view.own(finding), view.terms.lending
    shared = next((target for target in view.of_pool(finding.pool) if target.tenant is None), None)
    state = view.states.get((finding.tenant, finding.pool))
    if source is None or shared is None or lending is None or state is None or not isinstance(source.observed, Known):
        return NoProposal(finding, "NO_KNOB", f"Pool {finding.pool} has no part that could be lent to everybody.")
    amount = idle_float(state.reserved, source.observed.value, lending)
    if amount < lending.least:
        return NoProposal(finding, "NOTHING_TO_TAKE", "What it does not use was only given to it, or is lent already.")
    return move(finding, view, (source, shared), (), amount)


def _raised_cap(finding: Finding, view: View) -> Proposal | NoProposal | None:
    """Native: let more extra work run on GPUs that stand idle. Evicts nobody."""
    snapshot, cap = view.snapshot, view.own(finding)
    state = view.states.get((finding.tenant, finding.pool))
    if cap is None or state is None:
        return None
    refused = refused_by_cap(snapshot, finding.tenant, finding.pool)
    if not refused or not isinstance(cap.observed, Known):
        return NoProposal(finding, "GIT_OWNED", "What refuses it is the guarantee in Git, which is never touched.")
    most = room(state, snapshot, state.entitlement.guarantee + cap.observed.value)
    idle = idle_gpus(snapshot, finding.pool, [target for target in view.targets.values() if target.name != cap.name])
    works, amount = prefix(refused, already_over(state, cap.observed.value), min(most, idle))
    if not works:
        sentence = (
            f"{refused[0].title} needs {counted(refused[0].gpus, 'GPU')}; idle: {idle}, allowed: {most} in one step."
        )
        return NoProposal(finding, "NOTHING_TO_TAKE", sentence)
    forecast = Forecast(tuple(reference(work) for work in works), view.terms.now + view.terms.trial_seconds)
    fragmented = whole_nodes(snapshot.pools[finding.pool], works, ())
    return Proposal(finding, None, cap, amount, works, Victims((), 0), fragmented, forecast)
