"""Loans: floats that stand idle are lent to everybody, and their tenants get them back as soon as they are late. Pure.

A loan is a Change from a tenant's own leaf to the part that all may use. It falls by what its lender lacks, at once:
the engine then makes room for the lender as it would have done had nothing been lent, and evicts nobody for more than
that. The rest of it stays lent. At its end it follows usage down and evicts nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from collector.model.quantities import counted
from collector.model.reading import Known
from collector.model.snapshot import Snapshot, TenantPool
from collector.model.tenancy import Engine
from controller.api.policy import Lending, Policy
from controller.policy.change import Change, Stage
from controller.policy.finding import Cause, Finding, Trouble
from controller.policy.ledger import Ledger
from controller.policy.targets import Target, TargetKey, level


def idle_float(used: int, floating: int, lending: Lending) -> int:
    """GPUs of a float beyond all that its tenant uses and its reserve: what is guaranteed is not counted on."""
    return max(0, floating - used - lending.reserve)


def idle_floats(snapshot: Snapshot, ledger: Ledger, lending: Lending, dwell_seconds: float) -> Iterator[Finding]:
    """One finding for each tenant whose float stands idle; not of one that is late, or that got its own back lately."""
    for state in snapshot.tenants:
        if snapshot.pools[state.pool].pool.engine is not Engine.KUEUE:
            continue  # there nothing is lent out of floats: caps say what may run beyond the guarantee
        if state.opted_out or state.overdue or not isinstance(state.floating_now, Known):
            continue
        idle = idle_float(state.reserved, min(state.floating_now.value, state.entitlement.floating), lending)
        if idle < lending.least or snapshot.taken_at - _recalled_at(state, ledger) < dwell_seconds:
            continue
        told = f"{state.tenant} does not use {counted(idle, 'GPU')} of its float in pool {state.pool}."
        yield Finding(state.tenant, state.pool, Trouble.IDLE_FLOAT, Cause.SCHEDULING, 0, (), told, evidence=(told,))


def _recalled_at(state: TenantPool, ledger: Ledger) -> float:
    moments = (one.recalled_at for one in ledger.changes if one.lends and _of(one, state))
    return max((moment for moment in moments if moment is not None), default=float("-inf"))


def _of(change: Change, state: TenantPool) -> bool:
    return (change.tenant, change.pool) == (state.tenant, state.pool)


@dataclass(slots=True)
class _Recall:
    """What is given back in one tick, with the ledger as it becomes."""

    snapshot: Snapshot
    ledger: Ledger
    places: Mapping[TargetKey, Target]

    def loans(self, state: TenantPool) -> Sequence[Change]:
        """Of one lender, the youngest first."""
        mine = [one for one in self.ledger.active if one.lends and _of(one, state) and one.given == one.amount > 0]
        return sorted(mine, key=lambda one: (-one.created_at, one.id))

    def lent(self, pool: str) -> int:
        """What the shared part still holds, less what is on its way back."""
        shared = next((one for one in self.places.values() if one.pool == pool and one.tenant is None), None)
        if shared is None:
            return 0
        pending = sum(one.given - one.amount for one in self.ledger.active if one.lends and one.pool == pool)
        return max(0, level(shared, self.ledger.active) - pending)

    def back(self, state: TenantPool, wanted: int) -> int:
        """Give a lender so many of its own GPUs back, as far as they are there; how many that were."""
        wanted = left = min(wanted, self.lent(state.pool))
        for loan in self.loans(state):
            some = min(left, loan.amount)
            if some > 0:
                now = self.snapshot.taken_at
                fallen = replace(loan, amount=loan.amount - some, recalled_at=now)
                if not fallen.amount:
                    fallen = fallen.returning(now, f"its lender {state.tenant} needs its own float back")
                self.ledger, left = self.ledger.with_change(fallen), left - some
        return wanted - left


def recalled(snapshot: Snapshot, ledger: Ledger, places: Mapping[TargetKey, Target]) -> Ledger:
    """The ledger after every lender that is late, and whose own would help, got back what it lacks; highest first."""
    if not any(change.lends for change in ledger.active):
        return ledger
    ranks = {tier.name: tier.rank for tier in snapshot.site.tiers}
    recall = _Recall(snapshot, ledger, places)
    late = [state for state in snapshot.tenants if state.overdue]
    for state in sorted(late, key=lambda state: (-ranks.get(state.tier, 0), state.tenant, state.pool)):
        lack = _lack(state, ledger, state.entitlement.guarantee + state.entitlement.floating)
        if lack > 0:
            recall.back(state, lack)
        if lack <= 0 or state.needed > state.entitlement.guarantee + state.entitlement.floating:
            _for_a_burst(recall, state, ranks)
    return recall.ledger


def _for_a_burst(recall: _Recall, state: TenantPool, ranks: Mapping[str, int]) -> None:
    """Call back what lower tiers do not need of their loans, so that it can be given to who is late beyond its own."""
    burst = state.entitlement.burst_gpus
    most = burst if state.entitlement.ceiling is None else min(burst, state.entitlement.ceiling)
    lack = _lack(state, recall.ledger, most)
    rank = ranks.get(state.tier, 0)
    lower = [
        one
        for one in recall.snapshot.tenants
        if one.pool == state.pool and ranks.get(one.tier, 0) < rank and not one.opted_out
    ]
    lack -= sum(home(one) for one in lower)
    for lender in sorted(lower, key=lambda one: (ranks.get(one.tier, 0), one.needed, one.tenant)):
        if lack <= 0:
            return
        spare = lender.entitlement.guarantee + lender.entitlement.floating - lender.needed
        lack -= recall.back(lender, min(lack, max(0, spare)))


def home(state: TenantPool) -> int:
    """GPUs of a float that are not lent now and that its tenant neither uses nor waits for."""
    return max(0, state.entitled_now.value - state.needed) if isinstance(state.entitled_now, Known) else 0


def _lack(state: TenantPool, ledger: Ledger, most: int) -> int:
    """GPUs of entitlement that it needs and does not have, within what was agreed; on their way back: not again."""
    if not isinstance(state.entitled_now, Known):
        return 0
    coming = sum(one.taken - one.amount for one in ledger.active if one.lends and _of(one, state))
    return min(state.needed, most) - state.entitled_now.value - coming


def renewed(change: Change, snapshot: Snapshot, policy: Policy) -> Change:
    """A loan at its end goes on while the policy lends and its lender is seen to do without it."""
    if not change.lends or change.stage is not Stage.KEPT or snapshot.taken_at < change.expires_at:
        return change
    lender = snapshot.tenant_pool(change.tenant, change.pool)
    if policy.lending is None or snapshot.blind or lender is None or lender.overdue or lender.opted_out:
        return change
    return replace(change, expires_at=snapshot.taken_at + policy.revert.ttl_seconds)


def followed(snapshot: Snapshot, ledger: Ledger) -> Ledger:
    """Loans that have ended keep no more than what is in use of them; those that go on are used first."""
    for pool in sorted({one.pool for one in ledger.active if one.lends and one.stage is Stage.RETURNING}):
        inside = [one for one in ledger.active if one.lends and one.pool == pool]
        left = in_use(snapshot, pool) - sum(one.amount for one in inside if one.stage is not Stage.RETURNING)
        for loan in inside:
            if loan.stage is not Stage.RETURNING:
                continue
            stays = 0 if loan.hard else min(loan.amount, loan.given_written, max(0, left))
            left -= stays
            if stays != loan.amount:
                ledger = ledger.with_change(replace(loan, amount=stays))
    return ledger


def in_use(snapshot: Snapshot, pool: str) -> int:
    """GPUs of the shared part that somebody uses: what is guaranteed and idle is borrowed before it."""
    states = [state for state in snapshot.tenants if state.pool == pool and isinstance(state.floating_now, Known)]
    beyond = sum(
        max(0, state.reserved - state.floating_now.value) for state in states if isinstance(state.floating_now, Known)
    )
    return max(0, beyond - sum(state.entitlement.guarantee for state in states))
