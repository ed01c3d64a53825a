"""Findings: what a snapshot shows to be wrong, named, with its cause and its evidence. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from collector.model.quantities import counted, format_duration
from collector.model.snapshot import OtherCause, OtherKind, Snapshot, TenantPool, WaitingName, Work
from controller.policy.ledger import FindingKey


class Cause(StrEnum):
    """What kind of trouble it is. Scheduling knobs move for scheduling causes only."""

    SCHEDULING = "scheduling"
    CAPACITY = "capacity"
    FRAGMENTATION = "fragmentation"
    SCHEDULER_BROKEN = "scheduler-broken"
    GPU_HEALTH = "gpu-health"
    RDMA = "rdma"
    CEPH = "ceph"
    WORKLOAD = "workload"
    UNKNOWN = "unknown"


_CAUSE_OF_WAITING = {
    WaitingName.STARVED: Cause.SCHEDULING,
    WaitingName.SHORT_OF_CAPACITY: Cause.CAPACITY,
    WaitingName.BLOCKED: Cause.FRAGMENTATION,
    WaitingName.BROKEN: Cause.SCHEDULER_BROKEN,
    WaitingName.REFUSED: Cause.SCHEDULING,
}


class Trouble(StrEnum):
    """What is wrong with a tenant that may lack no GPUs."""

    STORAGE_SLOW = "storage-slow"
    NETWORK_SLOW = "network-slow"
    GPU_SICK = "gpu-sick"


_TROUBLES = {
    OtherKind.CEPH: (Trouble.STORAGE_SLOW, "storage is slow"),
    OtherKind.RDMA: (Trouble.NETWORK_SLOW, "the network is slow"),
    OtherKind.GPU_HEALTH: (Trouble.GPU_SICK, "GPUs are sick"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A judged fact about one tenant, in one pool where it is about GPUs."""

    tenant: str
    pool: str
    """"" for what is about no pool."""
    kind: WaitingName | Trouble
    cause: Cause
    shortfall: int
    works: tuple[Work, ...]
    """The overdue workloads of this kind, in the order their queue serves them."""
    sentence: str

    @property
    def key(self) -> FindingKey:
        """What makes it the same finding in the next tick."""
        return (self.tenant, self.pool, self.kind.value)


def find(snapshot: Snapshot) -> tuple[Finding, ...]:
    """All findings, worst first, in a total order that does not depend on the order of the input."""
    found = [finding for state in snapshot.tenants for finding in _of_tenant(snapshot, state)]
    found += _troubles(snapshot, {finding.tenant for finding in found})
    ranks = {tier.name: tier.rank for tier in snapshot.site.tiers}
    tier_of = {tenant.name: tenant.tier for tenant in snapshot.site.tenants}
    return tuple(
        sorted(found, key=lambda f: (-ranks.get(tier_of.get(f.tenant, ""), 0), -f.shortfall, f.tenant, f.pool, f.kind))
    )


def queue_order(works: Sequence[Work]) -> tuple[Work, ...]:
    """The order in which a queue serves its work: priority, then age, then uid (as Kueue breaks ties)."""
    return tuple(sorted(works, key=lambda work: (-work.priority, work.created_at, work.uid)))


def _of_tenant(snapshot: Snapshot, state: TenantPool) -> list[Finding]:
    if state.shortfall <= 0:
        return []
    overdue = [w for w in snapshot.works if (w.tenant, w.pool) == (state.tenant, state.pool) and w.overdue]
    others = snapshot.evidence.other_causes.get(state.tenant, ())
    unsure = "".join(f" {kind} is not ruled out: {why}." for kind, why in snapshot.evidence.not_ruled_out.items())
    findings = []
    for kind in _CAUSE_OF_WAITING:
        works = queue_order([work for work in overdue if work.waiting is kind])
        if not works:
            continue
        oldest = max(work.waited_seconds for work in works)
        told = f"{state.tenant} lacks {counted(state.shortfall, 'GPU')} of pool {state.pool}, {kind.value}; "
        told += f"{len(works)} overdue, the oldest for {format_duration(oldest)}. {works[0].why}"
        cause = _CAUSE_OF_WAITING[kind]
        if others:
            cause, told = Cause(others[0].kind), f"{told} But: {_sentences(others)}"
        findings.append(Finding(state.tenant, state.pool, kind, cause, state.shortfall, works, told + unsure))
    return findings


def _troubles(snapshot: Snapshot, told: Collection[str]) -> Iterator[Finding]:
    """Of tenants that lack no GPUs: else the cause stands in what is found about their waiting."""
    for tenant, causes in sorted(snapshot.evidence.other_causes.items()):
        if tenant in told:
            continue
        for cause in causes:
            kind, words = _TROUBLES[cause.kind]
            sentence = f"{tenant}: {words}. {_sentences((cause,))}"
            yield Finding(tenant, "", kind, Cause(cause.kind), 0, (), sentence)


def _sentences(causes: Iterable[OtherCause]) -> str:
    return " ".join(f"{cause.sentence}." for cause in causes)
