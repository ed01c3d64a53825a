"""`objectives`: who misses its objective gets float of tenants that do not need theirs, lowest tier first."""

from __future__ import annotations

from collections.abc import Sequence

from collector.model.reading import Known
from collector.model.snapshot import TenantPool, WaitingName
from controller.policy.finding import Finding
from controller.policy.proposals import NoProposal, Proposal, View
from controller.policy.strategies.quota import best_move
from controller.policy.targets import Target


def objectives(finding: Finding, view: View) -> Proposal | NoProposal | None:
    """A move from the float of another tenant; None for what quota is no answer to."""
    if not isinstance(finding.kind, WaitingName) or finding.kind is WaitingName.REFUSED:
        return None
    return best_move(finding, view, _floats(finding, view))


def _floats(finding: Finding, view: View) -> Sequence[tuple[Target, int]]:
    """Floats of others with what they have to spare: lowest tier first, then who has most."""
    snapshot = view.snapshot
    ranks = {tier.name: tier.rank for tier in snapshot.site.tiers}
    found: list[tuple[tuple[int, int, str], Target, int]] = []
    for target in view.of_pool(finding.pool):
        if target.tenant in (None, finding.tenant) or not isinstance(target.observed, Known):
            continue
        lender = view.states.get((target.tenant or "", target.pool))
        if lender is None or lender.opted_out or not view.terms.targets.covers(lender.tenant, lender.pool):
            continue
        supply = spare(lender, target.observed.value)
        if view.terms.lending is not None and _yields(lender, finding, view):
            supply = target.observed.value
        if supply > 0:
            found.append(((ranks.get(lender.tier, 0), -supply, target.name), target, supply))
    return [(target, supply) for _, target, supply in sorted(found, key=lambda item: item[0])]


def _yields(lender: TenantPool, finding: Finding, view: View) -> bool:
    """Whether its float goes first: it is of the lowest tier, and who is late of the highest. Its guarantee stays."""
    ranks = {tier.name: tier.rank for tier in view.snapshot.site.tiers}
    late = view.states.get((finding.tenant, finding.pool))
    if late is None:
        return False
    lowest, highest = min(ranks.values(), default=0), max(ranks.values(), default=0)
    return ranks.get(lender.tier, 0) == lowest < highest == ranks.get(late.tier, 0)


def spare(lender: TenantPool, floating: int) -> int:
    """What of a tenant's float it neither uses nor waits for: taking more would leave it worse than it was agreed."""
    return max(0, min(floating, lender.entitlement.guarantee + floating - lender.needed))
