"""Guards: each looks at one proposal and answers allow (None) or a Refusal with its code and facts. Pure.

They stand in a fixed order; the first refusal is the answer, so that the same facts always give the same word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from collector.model.quantities import counted, format_duration
from collector.model.reading import Known
from collector.model.snapshot import Snapshot, Work
from controller.api.policy import Mode, Policy
from controller.policy.change import Stage, Verdict
from controller.policy.finding import Finding, Trouble
from controller.policy.ledger import BudgetUse, Ledger
from controller.policy.proposals import Proposal


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why not: a code for scripts, a sentence for people."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Circumstances:
    """All that guards may look at."""

    snapshot: Snapshot
    policy: Policy
    ceiling: Mode
    """The deployment's `--max-mode`."""
    ledger: Ledger
    used: BudgetUse
    now: float

    @property
    def mode(self) -> Mode:
        """The least permissive of deployment and policy."""
        return min(self.ceiling, self.policy.mode)


MOST_MORE_TICKS = 3
"""So many ticks more at most, so that trembling delays what is real by little."""
STEADY_RATIO = 0.5
"""Late work counts once its present object has stood for this share of its limit."""

Guard = Callable[[Proposal, Circumstances], Refusal | None]


def sighted(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """On absent or stale data the controller holds and says so."""
    reasons = at.snapshot.blind_reasons
    return Refusal("BLIND", f"Held: {reasons[0]}.") if reasons else None


def not_latched(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """After a broken invariant or a fight over a field, a person looks first."""
    return Refusal("LATCHED", f"Latched: {at.ledger.latched}.") if at.ledger.latched else None


def targeted(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """The policy's targets, and the tenants' own opt-out."""
    finding = proposal.finding
    if not at.policy.targets.covers(finding.tenant, finding.pool):
        return Refusal("NOT_TARGETED", f"The policy does not cover {finding.tenant} in pool {finding.pool}.")
    for tenant in (finding.tenant, proposal.source.tenant if proposal.source else None):
        state = at.snapshot.tenant_pool(tenant, finding.pool) if tenant else None
        if state is not None and state.opted_out:
            return Refusal("OPTED_OUT", f"{tenant} has opted out (annotation trimtab.io/opt-out).")
    return None


def holds_idle(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """A tenant whose idle-held GPUs cover its shortfall gets a notice, not quota."""
    state = at.snapshot.tenant_pool(proposal.finding.tenant, proposal.finding.pool)
    idle = state.idle_held if state else None
    if isinstance(idle, Known) and idle.value >= proposal.finding.shortfall:
        return Refusal(
            "IDLE_HELD", f"{proposal.finding.tenant} holds {idle.value:.0f} idle GPUs: enough for its own shortfall."
        )
    return None


def confirmed(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """A finding must be seen in several ticks in a row; in more of them when it came and went by itself of late."""
    key = proposal.finding.key
    seen = at.ledger.confirmations.get(key, 0)
    needed = idle_ticks(at.policy) if proposal.lends else at.policy.cadence.confirm_ticks
    went = len(at.ledger.vanished.get(key, ()))
    needed += min(went, MOST_MORE_TICKS)
    if seen >= needed:
        return None
    trembles = f" (it came and went {counted(went, 'time')} of late)" if went else ""
    return Refusal("NOT_CONFIRMED", f"Seen in {seen} of {needed} ticks{trembles}.")


def idle_ticks(policy: Policy) -> int:
    """A float must stand idle for a whole dwell before it is lent: giving away is slow, getting back is fast."""
    return max(policy.cadence.confirm_ticks, ceil(policy.cadence.dwell_seconds / policy.cadence.tick_seconds))


def steady(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """The wait must be one that lasts: work that comes and goes adds up to a long wait and needs no quota for it."""
    lasting = (work for work in proposal.works if work.limit_seconds is None or _stands(work, at.now))
    if proposal.finding.cycle is not None or not proposal.works or any(lasting):
        return None
    return Refusal("TREMBLING", "The late work was handed in again a moment ago: it comes and goes.")


def _stands(work: Work, now: float) -> bool:
    return work.overdue and now >= lasts_from(work)


def lasts_from(work: Work) -> float:
    """The moment from which on its wait counts as one that lasts."""
    return work.created_at + (work.limit_seconds or 0.0) * STEADY_RATIO


def on_trial(finding: Finding, ledger: Ledger) -> Refusal | None:
    """While a change for this tenant and pool is on trial, the trial is the answer, whatever is found meanwhile."""
    last = ledger.last_for(finding.tenant, finding.pool, lends=finding.kind is Trouble.IDLE_FLOAT)
    trying = last is not None and last.active and last.verdict is None
    return Refusal("ON_TRIAL", f"Change {last.id} for it is on trial.") if last is not None and trying else None


def not_offered(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """Native: where a cap follows what is safe to lend, what it does not allow is expected to be needed soon."""
    for change in at.ledger.active:
        if change.standing and change.destination == proposal.destination.name and proposal.source is None:
            lent = counted(change.given, "GPU")
            return Refusal("OFFERED", f"Its cap follows what is safe to lend: {lent} now.")
    return None


def dwelt(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """No second change for a tenant and pool within the dwell time; where idle floats are lent, giving more is fast."""
    finding = proposal.finding
    last = at.ledger.last_for(finding.tenant, finding.pool, lends=proposal.lends)
    more = at.policy.lending is not None and not proposal.lends and finding.cycle is None
    if more and last is not None and last.active and last.stage is Stage.KEPT and last.verdict is Verdict.HELPED:
        return None
    age = at.now - last.created_at if last is not None else at.policy.cadence.dwell_seconds
    if last is None or age >= at.policy.cadence.dwell_seconds:
        return None
    left = format_duration(at.policy.cadence.dwell_seconds - age)
    return Refusal("DWELL", f"Change {last.id} is too young; {left} to go.")


def not_failed_twice(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """Two trials that did not help: stop and tell people."""
    finding = proposal.finding
    count = at.ledger.failures(finding.tenant, finding.pool, at.now - at.policy.day_seconds)
    return (
        Refusal("FAILED_TWICE", f"{count} trials did not help {finding.tenant}: a person should look.")
        if (count >= 2)
        else None
    )


def within_change_budgets(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """Changes a day and tenants an hour that something is taken for; giving what stands idle is free."""
    if proposal.source is None:
        return None
    budgets, used = at.policy.budgets, at.used
    if used.changes_today >= budgets.changes_per_day:
        return Refusal(
            "BUDGET_CHANGES", f"{counted(used.changes_today, 'change')} today; the budget is {budgets.changes_per_day}."
        )
    tenants = used.tenants_this_hour | {proposal.finding.tenant}
    if len(tenants) > budgets.tenants_per_hour:
        return Refusal(
            "BUDGET_TENANTS",
            f"{counted(len(tenants), 'tenant')} within an hour; the budget is {budgets.tenants_per_hour}.",
        )
    return None


def within_eviction_budgets(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """Evictions and lost GPU-hours that the move may add."""
    budgets, used = at.policy.budgets, at.used
    evictions = used.added_evictions_today + len(proposal.forecast.evicted)
    if evictions > budgets.added_evictions_per_day:
        return Refusal(
            "BUDGET_EVICTIONS",
            f"{counted(evictions, 'eviction')} today; the budget is {budgets.added_evictions_per_day}.",
        )
    lost = used.added_lost_gpu_hours_today + proposal.forecast.lost_gpu_hours
    if lost > budgets.added_lost_gpu_hours_per_day:
        limit = budgets.added_lost_gpu_hours_per_day
        return Refusal("BUDGET_LOST_GPU_HOURS", f"{lost:.1f} GPU-hours lost today; the budget is {limit:.1f}.")
    return None


def feasible(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """What is freed must be enough, must form whole nodes, and the quota must stand on real GPUs."""
    if not proposal.victims.enough:
        missing = proposal.victims.wanted - proposal.victims.freed
        return Refusal(
            "INFEASIBLE", f"{counted(missing, 'GPU')} too few could be freed: relatives do not borrow so much."
        )
    if proposal.fragmented is not None:
        gang = proposal.fragmented
        return Refusal(
            "FRAGMENTED",
            f"{gang.title} needs {gang.pods} x {gang.gpus_per_pod} GPUs; what is freed forms no such nodes.",
        )
    state = at.snapshot.pools[proposal.finding.pool]
    if isinstance(state.quota_total, Known) and state.quota_total.value > state.allocatable:
        return Refusal(
            "OVERCOMMITTED",
            f"Quota adds up to {state.quota_total.value}, the pool has {state.allocatable} usable GPUs.",
        )
    return None


def owned(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """Never force a field that another manager owns."""
    for target in (proposal.source, proposal.destination):
        if target is not None and target.foreign_manager is not None:
            return Refusal("OWNED", f"{target.name} is owned by {target.foreign_manager}.")
    return None


def permitted(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """Last, so that a refusal for the mode says: all else would have allowed it."""
    if at.policy.paused:
        return Refusal("PAUSED", "The policy is paused.")
    if at.mode is Mode.RECOMMEND:
        return Refusal("MODE_RECOMMEND", "Mode Recommend: for a person to apply; `trimtab status` has the command.")
    if at.mode is not Mode.ENFORCE:
        return Refusal(f"MODE_{at.mode.name}", f"Mode {at.mode.word}: written down, not applied.")
    return None


GUARDS: tuple[Guard, ...] = (
    sighted,
    not_latched,
    targeted,
    holds_idle,
    confirmed,
    steady,
    not_offered,
    dwelt,
    not_failed_twice,
    within_change_budgets,
    owned,
    feasible,
    within_eviction_budgets,
    permitted,
)


def first_refusal(proposal: Proposal, at: Circumstances) -> Refusal | None:
    """The first guard's refusal, or None when all allow."""
    return next((refusal for guard in GUARDS if (refusal := guard(proposal, at)) is not None), None)
