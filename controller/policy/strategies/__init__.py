"""The shipped decision rules: each answers a finding with a proposal, says why none would help, or passes it on. Pure.

A policy names those that it wants, in order of precedence. A later one is preferred only where it starts more of the
overdue gangs, or spares work that was hit often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from collector.model.reading import Known
from controller.api.errors import InputError, Mistake
from controller.policy.finding import Cause, Finding
from controller.policy.proposals import NoProposal, Proposal, View
from controller.policy.strategies.deadlines import deadlines
from controller.policy.strategies.guard import guard, hits_the_often_hit
from controller.policy.strategies.lend import lend
from controller.policy.strategies.objectives import objectives
from controller.policy.strategies.offer import offer

Strategy = Callable[[Finding, View], Proposal | NoProposal | None]

SHIPPED: Mapping[str, Strategy] = {
    "guard": guard,
    "lend": lend,
    "objectives": objectives,
    "deadlines": deadlines,
    "offer": offer,
}


def check(names: Sequence[str]) -> None:
    """Raise InputError for a strategy that is not shipped."""
    for name in names:
        if name not in SHIPPED:
            raise InputError((Mistake("strategies", name, f"one of {', '.join(SHIPPED)}"),))


def _impossible(finding: Finding, view: View) -> NoProposal | None:
    """What no strategy can do anything about."""
    if finding.cause is Cause.UNKNOWN:
        return NoProposal(finding, "CAUSE_UNKNOWN", "Held: nothing is moved while the cause is not known.")
    if finding.cause is not Cause.SCHEDULING:
        return NoProposal(finding, "NOT_SCHEDULING", f"The cause is {finding.cause.value}: no quota would cure it.")
    state = view.states.get((finding.tenant, finding.pool))
    if state is None or view.own(finding) is None:
        return NoProposal(finding, "NO_KNOB", f"{finding.tenant} has no own object for pool {finding.pool}.")
    if not isinstance(state.entitled_now, Known):
        return NoProposal(finding, "UNKNOWN", f"Its entitlement is not known: {state.entitled_now.reason}.")
    return None


def propose(finding: Finding, view: View, names: Sequence[str]) -> Proposal | NoProposal:
    """The best answer of the named strategies, or why there is none."""
    impossible = _impossible(finding, view)
    if impossible is not None:
        return impossible
    answers = [answer for name in names if (answer := SHIPPED[name](finding, view)) is not None]
    proposals = [answer for answer in answers if isinstance(answer, Proposal)]
    if proposals:
        spares = [hits_the_often_hit(one, view) if "guard" in names else False for one in proposals]
        best = min(range(len(proposals)), key=lambda number: (spares[number], -len(proposals[number].works)))
        return proposals[best]
    refused = [answer for answer in answers if isinstance(answer, NoProposal)]
    if refused:
        return refused[0]
    told = ", ".join(names) or "none"
    return NoProposal(finding, "NO_STRATEGY", f"No strategy of the policy answers it (strategies: {told}).")
