"""Proposals: for a finding that quota would cure, what to move from where to where, and what that would do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from collector.model.quantities import counted
from collector.model.reading import Known, known_or
from collector.model.snapshot import Snapshot, TenantPool, WaitingName, Work, WorkPhase
from collector.model.tenancy import SizeClass
from controller.api.policy import Targets
from controller.policy.borrowing import already_over, idle_gpus, refused_by_cap
from controller.policy.change import IDLE, Forecast
from controller.policy.findings import Cause, Finding, queue_order
from controller.policy.forecast import Victims, lost_gpu_hours, reference, usable_quota, victims, whole_nodes
from controller.policy.targets import Target, TargetKey

STEP_RATIO = 0.25
"""One change moves at most this share of its pool: small steps can be judged."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A move that would cure a finding, with its named forecast."""

    finding: Finding
    source: Target | None
    """None: idle GPUs of the pool, which belong to nobody."""
    destination: Target
    amount: int
    works: tuple[Work, ...]
    """The overdue workloads that should start."""
    victims: Victims
    fragmented: Work | None
    """The gang that would find no whole nodes even then."""
    forecast: Forecast

    @property
    def source_name(self) -> str:
        """Name of the own object that GPUs are taken from, or `idle`."""
        return self.source.name if self.source is not None else IDLE


@dataclass(frozen=True, slots=True)
class NoProposal:
    """No move would cure it, and why, in one sentence."""

    finding: Finding
    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What the proposing needs to know of policy and time."""

    now: float
    trial_seconds: float
    day_seconds: float
    targets: Targets
    """Whose quota may be steered at all."""


def propose(
    finding: Finding, snapshot: Snapshot, targets: Mapping[TargetKey, Target], terms: Terms
) -> Proposal | NoProposal:
    """The move that serves most of the overdue gangs, in the order of their queue, from the cheapest source."""
    if finding.cause is not Cause.SCHEDULING:
        return NoProposal(finding, "NOT_SCHEDULING", f"The cause is {finding.cause.value}: no quota would cure it.")
    state = snapshot.tenant_pool(finding.tenant, finding.pool)
    own = [t for t in targets.values() if t.tenant == finding.tenant and t.pool == finding.pool]
    if state is None or not own:
        return NoProposal(finding, "NO_KNOB", f"{finding.tenant} has no own object for pool {finding.pool}.")
    entitled = state.entitled_now
    if not isinstance(entitled, Known):
        return NoProposal(finding, "UNKNOWN", f"Its entitlement is not known: {entitled.reason}.")
    if finding.kind is WaitingName.REFUSED:
        return _raised_cap(finding, snapshot, state, own[0], (tuple(targets.values()), terms))
    return _moved(finding, snapshot, state, own[0], targets, terms)


def _raised_cap(
    finding: Finding,
    snapshot: Snapshot,
    state: TenantPool,
    cap: Target,
    rest: tuple[Sequence[Target], Terms],
) -> Proposal | NoProposal:
    """Native: let more extra work run on GPUs that stand idle. Evicts nobody."""
    targets, terms = rest
    refused = refused_by_cap(snapshot, finding.tenant, finding.pool)
    if not refused or not isinstance(cap.observed, Known):
        return NoProposal(finding, "GIT_OWNED", "What refuses it is the guarantee in Git, which is never touched.")
    room = _room(state, snapshot, state.entitlement.guarantee + cap.observed.value)
    idle = idle_gpus(snapshot, finding.pool, [target for target in targets if target.name != cap.name])
    works, amount = _prefix(refused, already_over(state, cap.observed.value), min(room, idle))
    if not works:
        sentence = (
            f"{refused[0].title} needs {counted(refused[0].gpus, 'GPU')}; idle: {idle}, allowed: {room} in one step."
        )
        return NoProposal(finding, "NOTHING_TO_TAKE", sentence)
    forecast = Forecast(tuple(reference(work) for work in works), terms.now + terms.trial_seconds)
    fragmented = whole_nodes(snapshot.pools[finding.pool], works, ())
    return Proposal(finding, None, cap, amount, works, Victims((), 0), fragmented, forecast)


def _moved(
    finding: Finding,
    snapshot: Snapshot,
    state: TenantPool,
    destination: Target,
    targets: Mapping[TargetKey, Target],
    terms: Terms,
) -> Proposal | NoProposal:
    """Kueue: move float from the shared part, or from a tenant that does not need it, to the starved one."""
    entitled = state.entitled_now
    if not isinstance(entitled, Known):
        return NoProposal(finding, "UNKNOWN", f"Its entitlement is not known: {entitled.reason}.")
    room = _room(state, snapshot, entitled.value)
    queue = queue_order([work for work in snapshot.works if _queued(work, finding)])
    best: Proposal | None = None
    for source, supply in _sources(finding, snapshot, targets.values(), terms):
        works, amount = _prefix(queue, state.reserved - entitled.value, min(room, supply))
        if works and (best is None or len(works) > len(best.works)):
            best = _proposal(finding, snapshot, (source, destination), works, amount, terms)
    if best is not None:
        return best
    needs = finding.works[0].gpus + state.reserved - entitled.value
    sentence = (
        f"{finding.works[0].title} needs {needs} more GPUs of entitlement; at most {room} are allowed in one step "
        "and no lender has so many to spare."
    )
    return NoProposal(finding, "NOTHING_TO_TAKE", sentence)


def _room(state: TenantPool, snapshot: Snapshot, entitled: int) -> int:
    """How much the entitlement may rise now: up to the burst (and ceiling), and by one step at most."""
    ceiling = state.entitlement.ceiling
    top = min(state.entitlement.burst_gpus, state.entitlement.burst_gpus if ceiling is None else ceiling)
    total = snapshot.pools[state.pool].total
    step = max(snapshot.pools[state.pool].gpus_per_node, int(total * STEP_RATIO))
    return max(0, min(top - entitled, step))


def _queued(work: Work, finding: Finding) -> bool:
    """Whether it stands in the queue that the finding is about: what is ahead of the overdue is served first.

    What is so large that it starts by reservation alone holds nobody up.
    """
    same = (work.tenant, work.pool) == (finding.tenant, finding.pool)
    stands = work.phase is WorkPhase.WAITING and work.ineligible is None
    return same and stands and work.size is not SizeClass.RESERVATION


def _prefix(queue: Sequence[Work], already_over: int, supply: int) -> tuple[tuple[Work, ...], int]:
    """The longest run of gangs from the head of the queue, ending with an overdue one, that `supply` GPUs can serve.

    All of a gang or none of it. `already_over`: GPUs in use beyond the entitlement (negative: still free); they need
    cover too.
    """
    served, amount, needed = 0, 0, already_over
    for number, work in enumerate(queue, 1):
        needed += work.gpus
        if needed > supply:
            break
        if work.overdue:
            served, amount = number, needed
    return (tuple(queue[:served]), amount) if amount > 0 else ((), 0)


def _sources(
    finding: Finding, snapshot: Snapshot, targets: Iterable[Target], terms: Terms
) -> Sequence[tuple[Target, int]]:
    """Where GPUs may come from, cheapest first: the shared part, then floats that their tenants do not need now."""
    ranks = {tier.name: tier.rank for tier in snapshot.site.tiers}
    found: list[tuple[tuple[int, int, int, str], Target, int]] = []
    for target in targets:
        if target.pool != finding.pool or target.tenant == finding.tenant or not isinstance(target.observed, Known):
            continue
        if target.tenant is None:
            found.append(((0, 0, 0, target.name), target, target.observed.value))
            continue
        lender = snapshot.tenant_pool(target.tenant, target.pool)
        steerable = lender is not None and not lender.opted_out and terms.targets.covers(lender.tenant, lender.pool)
        supply = _spare(lender, target.observed.value) if lender is not None and steerable else 0
        rank = ranks.get(lender.tier, 0) if lender is not None else 0
        found.append(((1, rank, -supply, target.name), target, supply))
    return [(target, supply) for _, target, supply in sorted(found, key=lambda item: item[0]) if supply > 0]


def _spare(lender: TenantPool, floating: int) -> int:
    """What of a tenant's float it neither uses nor waits for: taking more would leave it worse than it was agreed."""
    return max(0, min(floating, lender.entitlement.guarantee + floating - lender.needed))


def _proposal(
    finding: Finding,
    snapshot: Snapshot,
    move: tuple[Target, Target],
    works: tuple[Work, ...],
    amount: int,
    terms: Terms,
) -> Proposal:
    source, destination = move
    entitled = {
        item.tenant: known_or(item.entitled_now, item.reserved)
        for item in snapshot.tenants
        if item.pool == finding.pool
    }
    if source.tenant is not None:
        entitled[source.tenant] = entitled.get(source.tenant, 0) - amount
    beneficiary = snapshot.tenant_pool(finding.tenant, finding.pool)
    hit = Victims((), 0)
    if beneficiary is not None:
        floats = {name: gpus - _guarantee(snapshot, name, finding.pool) for name, gpus in entitled.items()}
        hit = victims(snapshot, beneficiary, works, usable_quota(snapshot, beneficiary, floats), entitled)
    forecast = Forecast(
        ready=tuple(reference(work) for work in works),
        ready_by=terms.now + terms.trial_seconds,
        evicted=tuple(reference(work) for work in hit.works),
        lost_gpu_hours=lost_gpu_hours(hit.works, terms.now, terms.day_seconds),
    )
    fragmented = whole_nodes(snapshot.pools[finding.pool], works, hit.works)
    return Proposal(finding, source, destination, amount, works, hit, fragmented, forecast)


def _guarantee(snapshot: Snapshot, tenant: str, pool: str) -> int:
    state = snapshot.tenant_pool(tenant, pool)
    return state.entitlement.guarantee if state is not None else 0
