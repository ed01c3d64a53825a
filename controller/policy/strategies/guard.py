"""`guard`: stops preemption cycles, and spares work that was evicted often.

Engines evict only work of tenants that use more than they are entitled to. So a cycle ends when one of its parties is
given, for a while, what it fights over: out of the part that is lent to everybody, which it was using anyway, or out of
the spare float of another party. Nobody outside of the cycle is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from collector.model.quantities import counted
from collector.model.reading import Known
from collector.model.snapshot import TenantPool, Work, WorkPhase
from controller.policy.change import Forecast
from controller.policy.evictions import HIT, Cycle
from controller.policy.finding import Finding, Trouble
from controller.policy.forecast import reference
from controller.policy.proposals import NoProposal, Proposal, View, move
from controller.policy.strategies.objectives import spare
from controller.policy.targets import Target

_HELD = (WorkPhase.RUNNING, WorkPhase.STARTING)


def guard(finding: Finding, view: View) -> Proposal | NoProposal | None:
    """What ends the cycle; None for what is no cycle."""
    cycle, state = finding.cycle, view.states.get((finding.tenant, finding.pool))
    if finding.kind is not Trouble.THRASHING or cycle is None or state is None:
        return None
    if set(cycle.parties) == {finding.tenant} or _only_by_itself(finding.tenant, cycle):
        return _head_covered(finding, view, state, cycle)
    return _holder_covered(finding, view, state, cycle)


def hits_the_often_hit(proposal: Proposal, view: View) -> bool:
    """Whether it would evict work that lost its place often of late."""
    return any(view.evictions.hits(work.key) >= HIT for work in proposal.victims.works)


def _only_by_itself(tenant: str, cycle: Cycle) -> bool:
    return {by for by, victim in cycle.edges if victim == tenant} == {tenant}


def _holder_covered(finding: Finding, view: View, state: TenantPool, cycle: Cycle) -> Proposal | NoProposal:
    """Cover what the tenant holds now: then nobody may evict it, and nobody has to be evicted for it."""
    holding = tuple(work for work in finding.works if work.phase in _HELD)
    if not holding:
        return NoProposal(
            finding, "NOT_HOLDING", f"{finding.works[0].title} is out of its place right now: not its turn."
        )
    return _covered(finding, view, cycle, _Claim(state.reserved, holding))


def _head_covered(finding: Finding, view: View, state: TenantPool, cycle: Cycle) -> Proposal | NoProposal:
    """Its own queue evicts for a head that then does not get the room: cover the head, so that it starts and stays."""
    head = next(iter(view.queue(finding)), None)
    if head is None:
        return NoProposal(finding, "NOT_HOLDING", "Nothing of it waits right now.")
    yields = tuple(work for work in finding.works if work.phase in _HELD and work.priority < head.priority)
    needed = state.reserved - sum(work.gpus for work in yields) + head.gpus
    return _covered(finding, view, cycle, _Claim(needed, (head,), (head,), yields))


@dataclass(frozen=True, slots=True)
class _Claim:
    """GPUs that a party needs in all, so that `stays` keeps its place; for `starts` work that `yields` makes room."""

    gpus: int
    stays: tuple[Work, ...]
    starts: tuple[Work, ...] = ()
    yields: tuple[Work, ...] = ()


def _covered(finding: Finding, view: View, cycle: Cycle, claim: _Claim) -> Proposal | NoProposal:
    """Raise the entitlement to what is claimed."""
    state, destination = view.states.get((finding.tenant, finding.pool)), view.own(finding)
    if state is None or destination is None or not isinstance(state.entitled_now, Known):
        return NoProposal(finding, "UNKNOWN", "Its entitlement is not known.")
    amount = claim.gpus - state.entitled_now.value
    if amount <= 0:
        sentence = "It is evicted within its own entitlement: no quota would stop that. Look at the scheduler."
        return NoProposal(finding, "NOT_QUOTA", sentence)
    # No step and no burst bounds it: this is what the work uses or fights over anyway.
    ceiling = state.entitlement.ceiling
    for source, supply in _sources(finding, view, cycle):
        if supply < amount or (ceiling is not None and claim.gpus > ceiling):
            continue
        proposal = move(finding, view, (source, destination), claim.starts, amount, claim.yields)
        strangers = [work.title for work in proposal.victims.works if work.tenant not in cycle.parties]
        if not strangers:
            return replace(proposal, works=claim.stays, forecast=_forecast(proposal.forecast, claim.stays))
    wanted = counted(amount, "GPU")
    sentence = f"{wanted} would end it, and neither the shared part nor a party of the cycle has so many to give."
    return NoProposal(finding, "NOTHING_TO_TAKE", sentence)


def _forecast(forecast: Forecast, stays: Sequence[Work]) -> Forecast:
    return replace(forecast, ready=(), stays=tuple(reference(work) for work in stays))


def _sources(finding: Finding, view: View, cycle: Cycle) -> Sequence[tuple[Target, int]]:
    """The shared part first, then what the other parties can spare of their floats."""
    found: list[tuple[Target, int]] = []
    for target in view.of_pool(finding.pool):
        if not isinstance(target.observed, Known) or target.tenant == finding.tenant:
            continue
        if target.tenant is None:
            found.insert(0, (target, target.observed.value))
        elif target.tenant in cycle.parties:
            lender = view.states.get((target.tenant, target.pool))
            if lender is not None and not lender.opted_out:
                found.append((target, spare(lender, target.observed.value)))
    return [(target, supply) for target, supply in found if supply > 0]
