"""Proposals: what to move from where to where, and what that would do; the tools that all strategies share. Pure.

What is proposed for which finding is decided in `controller.policy.strategies`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from collector.model.reading import known_or
from collector.model.snapshot import Snapshot, TenantPool, Work, WorkPhase
from collector.model.tenancy import SizeClass
from controller.api.policy import Lending, Targets
from controller.policy.change import IDLE, Forecast
from controller.policy.evictions import EvictionMemory
from controller.policy.finding import Finding, Trouble
from controller.policy.findings import queue_order
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
    """The workloads that should start, or stay."""
    victims: Victims
    fragmented: Work | None
    """The gang that would find no whole nodes even then."""
    forecast: Forecast

    @property
    def lends(self) -> bool:
        """Whether an idle float is lent to everybody."""
        return self.finding.kind is Trouble.IDLE_FLOAT

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
    lending: Lending | None = None
    """How idle floats are lent; None: they are not."""


@dataclass(frozen=True)  # no slots: what is looked up for every finding is kept
class View:
    """All that a strategy may look at in one tick."""

    snapshot: Snapshot
    targets: Mapping[TargetKey, Target]
    terms: Terms
    evictions: EvictionMemory = field(default_factory=EvictionMemory)

    @cached_property
    def states(self) -> Mapping[tuple[str, str], TenantPool]:
        """(tenant, pool) → how it stands."""
        return {(state.tenant, state.pool): state for state in self.snapshot.tenants}

    @cached_property
    def _queues(self) -> dict[tuple[str, str], Sequence[Work]]:
        return {}

    @cached_property
    def _own_of(self) -> Mapping[tuple[str, str], Target]:
        found = {(one.pool, one.tenant): one for pool in self._targets_of.values() for one in reversed(pool)}
        return {(pool, tenant): target for (pool, tenant), target in found.items() if tenant is not None}

    @cached_property
    def _targets_of(self) -> Mapping[str, Sequence[Target]]:
        found: dict[str, list[Target]] = defaultdict(list)
        for target in sorted(self.targets.values(), key=lambda target: target.name):
            found[target.pool].append(target)
        return found

    def queue(self, finding: Finding) -> Sequence[Work]:
        """The queue that the finding is about, in its order: what is ahead of the overdue is served first."""
        key = (finding.tenant, finding.pool)
        if key not in self._queues:
            groups = self.snapshot.groups_of(*key)
            self._queues[key] = queue_order(work for group in groups for work in group.works if _stands(work))
        return self._queues[key]

    def own(self, finding: Finding) -> Target | None:
        """The own object that holds the tenant's part of the pool."""
        return self._own_of.get((finding.pool, finding.tenant))

    def of_pool(self, pool: str) -> Sequence[Target]:
        """All own objects of a pool, in order of names."""
        return self._targets_of.get(pool, ())


def room(state: TenantPool, snapshot: Snapshot, entitled: int) -> int:
    """How much the entitlement may rise now: up to the burst (and ceiling), and by one step at most."""
    ceiling = state.entitlement.ceiling
    top = min(state.entitlement.burst_gpus, state.entitlement.burst_gpus if ceiling is None else ceiling)
    total = snapshot.pools[state.pool].total
    step = max(snapshot.pools[state.pool].gpus_per_node, int(total * STEP_RATIO))
    return max(0, min(top - entitled, step))


def _stands(work: Work) -> bool:
    """Whether it stands in its queue. What is so large that it starts by reservation alone holds nobody up."""
    stands = work.phase is WorkPhase.WAITING and work.ineligible is None
    return stands and work.size is not SizeClass.RESERVATION


def prefix(queue: Sequence[Work], already_over: int, supply: int) -> tuple[tuple[Work, ...], int]:
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


def move(
    finding: Finding,
    view: View,
    way: tuple[Target, Target],
    works: tuple[Work, ...],
    amount: int,
    yields: tuple[Work, ...] = (),
) -> Proposal:
    """The proposal to move `amount` from the first object of `way` to the second, so that `works` can start.

    `yields`: work of the same tenant that its own queue evicts for them.
    """
    (source, destination), snapshot, terms = way, view.snapshot, view.terms
    entitled = {
        item.tenant: known_or(item.entitled_now, item.reserved)
        for item in snapshot.tenants
        if item.pool == finding.pool
    }
    if source.tenant is not None:
        entitled[source.tenant] = entitled.get(source.tenant, 0) - amount
    beneficiary = view.states.get((finding.tenant, finding.pool))
    hit = Victims((), 0)
    if beneficiary is not None:
        floats = {name: gpus - _guarantee(view, name, finding.pool) for name, gpus in entitled.items()}
        usable = usable_quota(snapshot, beneficiary, floats) + sum(work.gpus for work in yields)
        hit = victims(snapshot, beneficiary, works, usable, entitled)
    freed = (*hit.works, *yields)
    forecast = Forecast(
        ready=tuple(reference(work) for work in works),
        ready_by=terms.now + terms.trial_seconds,
        evicted=tuple(reference(work) for work in freed),
        lost_gpu_hours=lost_gpu_hours(freed, terms.now, terms.day_seconds),
    )
    fragmented = whole_nodes(snapshot.pools[finding.pool], works, freed)
    return Proposal(finding, source, destination, amount, works, hit, fragmented, forecast)


def _guarantee(view: View, tenant: str, pool: str) -> int:
    state = view.states.get((tenant, pool))
    return state.entitlement.guarantee if state is not None else 0
