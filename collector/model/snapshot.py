"""The snapshot: all readings and objects of one moment, joined to tenants and pools, immutable. Pure.

`collector.assemble` makes it; the exporter, the command line and the controller's `decide()` read the same one.
All times are epoch seconds, all amounts whole GPUs unless the name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from collector.model.deadline import Deadline, DeadlineClass
from collector.model.gangs import Scheduler, ShareQueue
from collector.model.reading import Reading, Unknown
from collector.model.strays import Strays
from collector.model.tenancy import Entitlement, Pool, Site, SizeClass


class WorkPhase(StrEnum):
    """Where a workload stands."""

    SUSPENDED = "suspended"
    """Its own user holds it back: not waiting."""
    WAITING = "waiting"
    """No quota, or pods that no node takes."""
    STARTING = "starting"
    """Admitted, not all of its pods Ready yet: its clock still runs."""
    RUNNING = "running"
    FINISHED = "finished"


class WaitingName(StrEnum):
    """Why a workload waits, in one word (design: waiting, named)."""

    WITHIN_LIMIT = "within-limit"
    STARVED = "starved"
    """Own entitlement used up while relatives borrow."""
    SHORT_OF_CAPACITY = "short-of-capacity"
    """Own entitlement used up and nobody borrows."""
    BLOCKED = "blocked"
    """Entitlement is free but the gang fits on no nodes: fragmentation."""
    BROKEN = "broken"
    """It would fit and nothing was admitted for a while: scheduler, webhook, stuck pod."""
    REFUSED = "refused"
    """Refused before it became a pod."""
    INELIGIBLE = "ineligible"
    """It can not start, whatever the quota; `Work.ineligible` says why."""


@dataclass(frozen=True, slots=True)
class Work:
    """One gang of pods that starts together, with its cumulative wait."""

    key: str
    """Identity of the tenant's work over evictions and resubmissions, not the UID of an object."""
    uid: str
    kind: str
    namespace: str
    name: str
    tenant: str
    tier: str
    pool: str | None
    queue: str
    priority: int
    pods: int
    gpus_per_pod: int
    gpus: int
    size: SizeClass
    phase: WorkPhase
    created_at: float
    waited_seconds: float
    """Summed over evictions; a lower bound when `waited_is_lower_bound`."""
    waited_is_lower_bound: bool = False
    limit_seconds: float | None = None
    """Its tier's limit for its size; None: not judged."""
    ineligible: str | None = None
    waiting: WaitingName | None = None
    """Set while it waits or starts."""
    why: str = ""
    """One sentence for a person: who holds what it needs, and what would help."""
    evictions: int = 0
    evicted_by: str | None = None
    """The tenant whose work evicted it last."""
    evictions_by: Mapping[str, int] = field(default_factory=dict)
    """Tenant → evictions of it that its work caused, as far as they were seen."""
    admitted_at: float | None = None
    ready_at: float | None = None
    nodes: Mapping[str, int] = field(default_factory=dict)
    """Node → GPUs it holds there."""
    pod_names: tuple[str, ...] = ()
    """Its pods that hold GPUs now."""
    borrows: bool = False
    """Native: it runs under the pool's preemptible borrow class, beyond the guarantee."""
    pods_missing: int = 0
    """Native: pods that its controller could not even make."""
    refused: str = ""
    """Why they could not be made, in the words of who refused them; "" where nobody told."""
    sent_from: str | None = None
    """It is a mirror: MultiKueue sent it here from the cluster that it names, where its wait is counted."""
    runs_in: str | None = None
    """MultiKueue sent it to this other cluster, where its GPUs are counted."""
    scheduler: Scheduler | None = None
    """Whose queue `queue` is; None for Kueue and for work without a queue."""
    priority_class: str = ""
    """Kueue: the class that its priority comes from; "" for none."""
    deadline: Deadline | None = None
    """As it declares it itself."""

    @property
    def waits(self) -> bool:
        """Its clock runs."""
        return self.phase in (WorkPhase.WAITING, WorkPhase.STARTING)

    @property
    def overdue(self) -> bool:
        """Eligible and waiting longer than its limit."""
        return (
            self.waits
            and self.ineligible is None
            and self.limit_seconds is not None
            and self.waited_seconds > self.limit_seconds
        )

    @property
    def title(self) -> str:
        """How people name it: namespace/name."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class NodeState:
    """GPUs of one node in its pool. `unusable` says why nothing new may start there."""

    name: str
    gpus: int
    held: int
    unusable: str | None = None
    withdrawn: int = 0
    """GPUs that it has and does not offer: their plugin calls them unhealthy."""

    @property
    def free(self) -> int:
        """GPUs that a new pod could take now."""
        return 0 if self.unusable else max(0, self.gpus - self.held)


@dataclass(frozen=True)  # no slots: what is derived from all nodes is kept once it was asked for
class PoolState:
    """One pool as it stands."""

    pool: Pool
    nodes: tuple[NodeState, ...]
    quota_total: Reading[int] = Unknown("no quota read")
    """Sum of all guarantees, floats and shared parts that the engine holds for this pool."""
    reserved: int = 0
    """Quota in use by admitted work of all tenants."""

    @cached_property
    def allocatable(self) -> int:
        """GPUs on usable nodes."""
        return sum(node.gpus for node in self.nodes if not node.unusable)

    @cached_property
    def total(self) -> int:
        """GPUs on all nodes, usable or not."""
        return sum(node.gpus for node in self.nodes)

    @cached_property
    def free(self) -> int:
        """GPUs that new pods could take now."""
        return sum(node.free for node in self.nodes)

    @cached_property
    def gpus_per_node(self) -> int:
        """The largest node: what a pod can ask for at most."""
        return max((node.gpus for node in self.nodes), default=0)

    def places(self, gpus_per_pod: int, also_free: Mapping[str, int] | None = None) -> int:
        """How many pods of that size find a node now, with `also_free` GPUs (node → count) freed in addition."""
        extra, size = also_free or {}, max(1, gpus_per_pod)
        return sum((node.free + extra.get(node.name, 0)) // size for node in self.nodes if not node.unusable)

    def largest_gang(self, gpus_per_pod: int) -> int:
        """GPUs of the largest gang of pods of that size that finds nodes now: free GPUs in fragments do not count."""
        return self.places(gpus_per_pod) * gpus_per_pod

    def fits(self, pods: int, gpus_per_pod: int, also_free: Mapping[str, int] | None = None) -> bool:
        """Whether so many pods find nodes now, with `also_free` GPUs (node → count) freed in addition."""
        return self.places(gpus_per_pod, also_free) >= pods


@dataclass(frozen=True, slots=True)
class RunRecord:
    """How long a tenant's work runs, as far as its objects still tell."""

    seconds: float = 0.0
    """Of all its runs together, also of those that go on."""
    ended: int = 0
    """How many of them came to their end."""

    def expected_seconds(self, usual_seconds: float) -> float:
        """How long one more may run; with nothing known, the usual."""
        return (self.seconds + usual_seconds) / (self.ended + 1)


@dataclass(frozen=True, slots=True)
class TenantPool:
    """One tenant in one pool: what was agreed, what it uses, what it lacks."""

    tenant: str
    tier: str
    pool: str
    entitlement: Entitlement
    floating_now: Reading[int]
    """The movable part as it stands in the engine; the baseline is `entitlement.floating`."""
    reserved: int = 0
    """Quota held by admitted work (running and starting)."""
    running: int = 0
    waiting: int = 0
    """GPUs of eligible work whose clock runs, also without a limit."""
    queued: int = 0
    """The part of `waiting` that is not admitted yet."""
    overdue: int = 0
    preemptible: int = 0
    """Native: GPUs in use under the borrow class, up to the floating part (the cap)."""
    preemptible_placed: int = 0
    """The part of it that has its nodes."""
    refused: int = 0
    """Native: GPUs of eligible extra work whose pods the cap refuses."""
    pending: int = 0
    """Native: GPUs of guaranteed pods that wait for nodes."""
    ran: RunRecord = RunRecord()
    last_admission_at: float | None = None
    idle_held: Reading[float] = Unknown("no GPU readings")
    """Allocated GPUs that compute nothing."""
    opted_out: bool = False

    @property
    def entitled_now(self) -> Reading[int]:
        """Guarantee and floating part as they stand now."""
        if isinstance(self.floating_now, Unknown):
            return self.floating_now
        return type(self.floating_now)(
            self.entitlement.guarantee + self.floating_now.value, self.floating_now.age_seconds
        )

    @property
    def needed(self) -> int:
        """GPUs in use and asked for, without any bound."""
        return self.reserved + self.queued

    @property
    def demand(self) -> int:
        """D: entitled demand, GPUs running and waiting up to the burst."""
        return min(self.running + self.waiting, self.entitlement.burst_gpus)

    @property
    def shortfall(self) -> int:
        """bad: the part of the demand that waits longer than its limit."""
        return max(0, min(self.demand - self.running, self.overdue))

    def borrowed(self) -> int:
        """Quota in use beyond the own entitlement as it stands now; 0 where that is unknown."""
        entitled = self.entitled_now
        return 0 if isinstance(entitled, Unknown) else max(0, self.reserved - entitled.value)


@dataclass(frozen=True, slots=True)
class Lie:
    """A setting that promises what it can not hold."""

    where: str
    sentence: str


class OtherKind(StrEnum):
    """Kinds of causes that no scheduling knob cures."""

    CEPH = "ceph"
    RDMA = "rdma"
    GPU_HEALTH = "gpu-health"
    WORKLOAD = "workload"
    """It holds its GPUs and makes no progress: a hung gang."""


@dataclass(frozen=True, slots=True)
class OtherCause:
    """What keeps a tenant's work slow that is not scheduling: its kind, and a sentence that names it."""

    kind: OtherKind
    sentence: str


@dataclass(frozen=True, slots=True)
class UseTold:
    """How a tenant uses one kind of storage, in words, and what would make it quicker."""

    storage: str
    pattern: str
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What Prometheus knew at this moment. Keys are (tenant, pool) or tenant."""

    attainment: Mapping[tuple[str, str], Reading[float]] = field(default_factory=dict)
    """Entitled-demand attainment over the objective's window."""
    idle_held: Mapping[tuple[str, str], Reading[float]] = field(default_factory=dict)
    other_causes: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    """Tenant → what is known to keep its work slow that is not scheduling."""
    suspected: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    """Tenant → what may keep its work slow and has not lasted long enough to be known."""
    slowed: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    """Tenant → what makes its running work slower and takes no GPUs from it: told, and no reason to hold back."""
    storage: Mapping[str, tuple[UseTold, ...]] = field(default_factory=dict)
    """Tenant → how it uses storage: for people, decides nothing."""
    not_ruled_out: Mapping[OtherKind, str] = field(default_factory=dict)
    """Kinds that are watched but can not be judged now, and why."""
    blind: tuple[str, ...] = ()
    """Why decisions can not be made on this, each a sentence; empty: sighted."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One tick's picture of the world."""

    taken_at: float
    site: Site
    pools: Mapping[str, PoolState]
    tenants: tuple[TenantPool, ...]
    works: tuple[Work, ...]
    """All that is not finished, in a total order (tenant, pool, created, key)."""
    evidence: Evidence = Evidence()
    namespace_tenants: Mapping[str, str] = field(default_factory=dict)
    lies: tuple[Lie, ...] = ()
    strays: Strays = field(default_factory=Strays)
    share_queues: tuple[ShareQueue, ...] = ()
    """Queues of Volcano and KAI, in order."""
    deadline_classes: tuple[DeadlineClass, ...] = ()
    """Classes that were prepared for work with a deadline, the most urgent first; Kueue's."""
    blind: tuple[str, ...] = ()
    """Why the picture of the API server is no ground for any write, a soft revert included: stale or unreadable."""

    @property
    def blind_reasons(self) -> tuple[str, ...]:
        """Why nothing new may be decided: the picture's reasons and those of Prometheus."""
        return (*self.blind, *self.evidence.blind)

    def tenant_pool(self, tenant: str, pool: str) -> TenantPool | None:
        """The tenant's state in that pool."""
        return next((item for item in self.tenants if item.tenant == tenant and item.pool == pool), None)
