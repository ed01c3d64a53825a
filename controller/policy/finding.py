"""What a finding is: a judged fact with its cause, how sure that is, and what shows it. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from collector.model.snapshot import WaitingName, Work
from controller.policy.evictions import Cycle
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
    OTHER_SCHEDULER = "other-scheduler"
    """Work in queues of Volcano or KAI: their shares are not ours to move."""
    UNKNOWN = "unknown"


class Confidence(StrEnum):
    """How sure a cause is."""

    KNOWN = "known"
    """The evidence shows it."""
    LIKELY = "likely"
    """The evidence fits, and another cause is not ruled out."""
    UNSURE = "unsure"
    """Nothing shows a cause: that is said, and nothing is moved for it."""


class Trouble(StrEnum):
    """What is wrong beside waiting that has a name."""

    STORAGE_SLOW = "storage-slow"
    NETWORK_SLOW = "network-slow"
    GPU_SICK = "gpu-sick"
    HUNG = "hung"
    """A gang holds its GPUs, seems busy, and computes nothing."""
    STRAGGLING = "straggling"
    """One rank or one throttled GPU makes a whole gang slow."""
    THRASHING = "thrashing"
    """Work loses its place again and again: a preemption cycle."""
    IDLE_FLOAT = "idle-float"
    """A float that its tenant does not use, where the policy lends such floats."""
    HOARDING = "hoarding"
    """GPUs are held and compute nothing, while others wait."""
    NOT_RETURNED = "not-returned"
    """What was lent is still in use long after its end."""
    MISFIT = "misfit"
    """Work of a shape that fits nowhere."""
    UNEXPLAINED = "unexplained"
    """Work is overdue, and nothing tells why."""
    BURNING = "objective-burning"
    """An objective about waiting is missed over its window, and nothing is overdue right now."""


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
    """The workloads of this kind, in the order their queue serves them."""
    sentence: str
    confidence: Confidence = Confidence.KNOWN
    evidence: tuple[str, ...] = ()
    """What shows it, each a sentence."""
    cycle: Cycle | None = None
    """Thrashing: who evicts whom."""

    @property
    def key(self) -> FindingKey:
        """What makes it the same finding in the next tick."""
        return (self.tenant, self.pool, self.kind.value)
