"""`offer`: native caps follow what is safe to lend, so that extra work starts before anybody waited too long for it.

GPUs that stand idle belong to nobody, and guaranteed work takes them back by itself: so extra work may have what the
owners do not use, less what they are about to need. What is to be had goes to those first whose work is soon through,
as far as it is known how long their work runs; the rest stands open to all. A cap may fall below what is in use: that
evicts nobody, and lets what runs be the last that came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collector.model.snapshot import Snapshot, TenantPool, WaitingName
from controller.policy.finding import Finding
from controller.policy.owners import OwnersMemory, held_by_owners
from controller.policy.proposals import NoProposal, Proposal, View

_USUAL_RUN_DAYS = 1 / 24


def offer(finding: Finding, view: View) -> Proposal | NoProposal | None:
    """Answers no finding: its caps stand before anybody is overdue (`controller.policy.standing`)."""
    if finding.kind is not WaitingName.REFUSED or not any(work.borrows for work in finding.works):
        return None
    idle = view.snapshot.pools[finding.pool].free
    return NoProposal(finding, "OFFERED", f"Its cap follows what is safe to lend; {idle} GPUs are idle.")


@dataclass(frozen=True, slots=True)
class Borrower:
    """One tenant that may have extra work, in GPUs."""

    tenant: str
    made: int
    """Its extra pods that exist: what its cap counts."""
    refused: int
    agreed: int
    """What its cap allows whatever we do."""
    run_seconds: float
    """How long its work runs, as far as is known."""


def borrower(state: TenantPool, day_seconds: float) -> Borrower:
    """A tenant as the offer sees it."""
    seconds = state.ran.expected_seconds(day_seconds * _USUAL_RUN_DAYS)
    return Borrower(state.tenant, state.preemptible, state.refused, state.entitlement.floating, seconds)


def safe_gpus(snapshot: Snapshot, pool: str, memory: OwnersMemory, day_seconds: float) -> int:
    """GPUs that extra work of all tenants together may hold: what owners do not use, nor are about to."""
    total = snapshot.pools[pool].allocatable
    soon, at_once = memory.soon(pool, day_seconds), memory.at_once(pool, total, day_seconds)
    return max(0, total - held_by_owners(snapshot, pool) - soon - at_once)


def caps(borrowers: Sequence[Borrower], safe: int, pool_gpus: int) -> Mapping[str, int]:
    """Tenant → what its cap should allow, together no more than the pool has. Who is soon through comes first."""
    order = sorted(borrowers, key=lambda one: (one.run_seconds, one.tenant))
    levels = {one.tenant: one.made for one in order}
    room = safe - sum(levels.values())
    most = pool_gpus - sum(max(one.made, one.agreed) for one in order)
    for one in order if room > 0 else ():
        given = max(0, min(one.refused, room, most))
        levels[one.tenant] += given
        room, most = room - given, most - given
    for one in reversed(order) if room < 0 else ():
        taken = min(levels[one.tenant], -room)
        levels[one.tenant] -= taken
        room += taken
    open_to_each = max(0, min(room, most // len(order))) if order else 0
    return {tenant: level + open_to_each for tenant, level in levels.items()}
