"""Findings: what a snapshot shows to be wrong, named, with its cause and its evidence. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from collector.model.quantities import counted, format_duration
from collector.model.reading import Known
from collector.model.snapshot import OtherCause, OtherKind, Snapshot, TenantPool, WaitingName, Work
from collector.model.tenancy import ObjectiveKind
from controller.policy.finding import Cause, Confidence, Finding, Trouble
from controller.policy.ledger import Ledger
from controller.policy.misuse import misuse

_CAUSE_OF_WAITING: Mapping[WaitingName | None, Cause] = {
    WaitingName.STARVED: Cause.SCHEDULING,
    WaitingName.SHORT_OF_CAPACITY: Cause.CAPACITY,
    WaitingName.BLOCKED: Cause.FRAGMENTATION,
    WaitingName.BROKEN: Cause.SCHEDULER_BROKEN,
    WaitingName.REFUSED: Cause.SCHEDULING,
    None: Cause.UNKNOWN,
}

_PROVEN_BY = {ObjectiveKind.STORAGE_LATENCY: OtherKind.CEPH, ObjectiveKind.RDMA_LATENCY: OtherKind.RDMA}

_TROUBLES = {
    OtherKind.CEPH: (Trouble.STORAGE_SLOW, "storage is slow"),
    OtherKind.RDMA: (Trouble.NETWORK_SLOW, "the network is slow"),
    OtherKind.GPU_HEALTH: (Trouble.GPU_SICK, "GPUs are sick"),
    OtherKind.WORKLOAD: (Trouble.HUNG, "work hangs"),
}


def find(snapshot: Snapshot, ledger: Ledger | None = None) -> tuple[Finding, ...]:
    """All findings, worst first, in a total order that does not depend on the order of the input.

    `ledger`: what is remembered of evictions and changes; without it, what needs a memory is not found.
    """
    overdue: dict[tuple[str, str], list[Work]] = defaultdict(list)
    for work in snapshot.works:
        if work.overdue and work.pool is not None:
            overdue[work.tenant, work.pool].append(work)
    found = [
        finding
        for state in snapshot.tenants
        if state.shortfall > 0
        for finding in _of_tenant(snapshot, state, overdue[state.tenant, state.pool])
    ]
    found += _troubles(snapshot, {finding.tenant for finding in found})
    found += _slowed(snapshot)
    found += misuse(snapshot, ledger)
    found += _burning(snapshot, {(finding.tenant, finding.pool) for finding in found})
    ranks = {tier.name: tier.rank for tier in snapshot.site.tiers}
    tier_of = {tenant.name: tenant.tier for tenant in snapshot.site.tenants}
    return tuple(
        sorted(
            found,
            key=lambda f: (
                f.kind is Trouble.BURNING,  # what is over comes after what goes on
                -ranks.get(tier_of.get(f.tenant, ""), 0),
                -f.shortfall,
                f.tenant,
                f.pool,
                f.kind,
            ),
        )
    )


def queue_order(works: Iterable[Work]) -> tuple[Work, ...]:
    """The order in which a queue serves its work: priority, then age, then uid (as Kueue breaks ties)."""
    return tuple(sorted(works, key=lambda work: (-work.priority, work.created_at, work.uid)))


def _of_tenant(snapshot: Snapshot, state: TenantPool, overdue: Sequence[Work]) -> Iterator[Finding]:
    others = snapshot.evidence.other_causes.get(state.tenant, ())
    maybe = snapshot.evidence.suspected.get(state.tenant, ())
    unsure = [f"{kind} is not ruled out: {why}." for kind, why in snapshot.evidence.not_ruled_out.items()]
    for kind, cause in _CAUSE_OF_WAITING.items():
        works = queue_order(work for work in overdue if work.waiting is kind)
        if not works:
            continue
        ours = tuple(work for work in works if work.scheduler is None)
        if ours:
            works = ours
        elif cause is Cause.SCHEDULING:  # no float or cap of ours would start it
            cause = Cause.OTHER_SCHEDULER
        name: WaitingName | Trouble = kind if kind is not None else Trouble.UNEXPLAINED
        confidence = Confidence.LIKELY if unsure else Confidence.KNOWN
        oldest = max(work.waited_seconds for work in works)
        told = f"{state.tenant} lacks {counted(state.shortfall, 'GPU')} of pool {state.pool}, {name.value}; "
        told += f"{len(works)} overdue, the oldest for {format_duration(oldest)}. {works[0].why}"
        if others:
            cause, confidence = Cause(others[0].kind), Confidence.KNOWN
            told = f"{told} But: {_sentences(others)}"
        elif maybe or _may_be_what_can_not_be_seen(snapshot, state):
            cause, confidence = Cause.UNKNOWN, Confidence.UNSURE
            told = f"{told} Perhaps: {_sentences(maybe)}" if maybe else told
        elif kind is None:
            confidence = Confidence.UNSURE
        elif kind is WaitingName.BLOCKED and not snapshot.pools[state.pool].nodes:
            confidence = Confidence.LIKELY
        evidence = (works[0].why, *(f"{other.sentence}." for other in (*others, *maybe)), *unsure)
        told = " ".join((told, *unsure))
        yield Finding(state.tenant, state.pool, name, cause, state.shortfall, works, told, confidence, evidence)


def _may_be_what_can_not_be_seen(snapshot: Snapshot, state: TenantPool) -> bool:
    """Whether something can not be judged now that concerns the tenant.

    That is storage or network where it was promised something about them, and GPUs and gangs while it holds any.
    """
    owner = snapshot.site.tenant(state.tenant)
    kinds = {_PROVEN_BY.get(objective.kind) for objective in owner.objectives} if owner is not None else set()
    if state.reserved:
        kinds |= {OtherKind.GPU_HEALTH, OtherKind.WORKLOAD}
    return not kinds.isdisjoint(snapshot.evidence.not_ruled_out)


def _troubles(snapshot: Snapshot, told: Collection[str]) -> Iterator[Finding]:
    """Of tenants that lack no GPUs: else the cause stands in what is found about their waiting."""
    for tenant, causes in sorted(snapshot.evidence.other_causes.items()):
        if tenant in told:
            continue
        by_kind: dict[OtherKind, list[OtherCause]] = defaultdict(list)
        for cause in causes:
            by_kind[cause.kind].append(cause)
        for kind, same in by_kind.items():
            trouble, words = _TROUBLES[kind]
            evidence = tuple(f"{cause.sentence}." for cause in same)
            sentence = f"{tenant}: {words}. {' '.join(evidence)}"
            yield Finding(tenant, "", trouble, Cause(kind), 0, (), sentence, Confidence.KNOWN, evidence)


def _slowed(snapshot: Snapshot) -> Iterator[Finding]:
    """Also of tenants that lack GPUs: more of them would be as slow, and that is no reason to give none."""
    for tenant, causes in sorted(snapshot.evidence.slowed.items()):
        evidence = tuple(f"{cause.sentence}." for cause in causes)
        sentence = f"{tenant}: single GPUs hold its work back. {' '.join(evidence)}"
        kind = Cause(causes[0].kind)
        yield Finding(tenant, "", Trouble.STRAGGLING, kind, 0, (), sentence, Confidence.KNOWN, evidence)


def _burning(snapshot: Snapshot, told: Collection[tuple[str, str]]) -> Iterator[Finding]:
    """Objectives about waiting that are missed. While something is wrong with the tenant in that pool, that is told."""
    for tenant in snapshot.site.tenants:
        for entitlement in tenant.entitlements:
            key = (tenant.name, entitlement.pool)
            reading = snapshot.evidence.attainment.get(key)
            missed = [
                objective
                for objective in tenant.objectives
                if objective.kind is ObjectiveKind.QUEUE_WAIT
                and objective.pool in (None, entitlement.pool)
                and isinstance(reading, Known)
                and reading.value < objective.target
            ]
            if not missed or key in told or not isinstance(reading, Known):
                continue
            objective = max(missed, key=lambda one: (one.target, one.name))
            sentence = (
                f"{tenant.name} misses its objective {objective.name} in pool {entitlement.pool}: "
                f"{reading.value:.2%} of what it was entitled to was served in time within "
                f"{format_duration(objective.window_seconds)}, {objective.target:.2%} is promised. "
                "Nothing of it is overdue now."
            )
            yield Finding(
                *key, Trouble.BURNING, Cause.UNKNOWN, 0, (), sentence, Confidence.UNSURE, evidence=(sentence,)
            )


def _sentences(causes: Iterable[OtherCause]) -> str:
    return " ".join(f"{cause.sentence}." for cause in causes)
