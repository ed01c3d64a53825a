"""Small frozen projections of the Kubernetes and Kueue objects that Trimtab looks at. Pure; times are epoch seconds.

Only the fields that are used are kept: a picture of 50 000 pods must stay small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from collector.model.gangs import PodGroup, Scheduler, ShareQueue, VolcanoJob, WorkspaceQuota


@dataclass(frozen=True, slots=True)
class Node:
    """A node and what its kubelet offers. `allocatable` counts extended (GPU) resources only."""

    name: str
    labels: Mapping[str, str]
    allocatable: Mapping[str, int]
    ready: bool
    cordoned: bool
    hard_taints: tuple[str, ...] = ()
    """Keys of NoSchedule and NoExecute taints."""
    capacity: Mapping[str, int] = field(default_factory=dict)
    """Like `allocatable`, with the devices that their plugin calls unhealthy."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace with its labels (tenant selectors, KubeSphere workspace) and annotations of Trimtab."""

    name: str
    labels: Mapping[str, str]
    opted_out: bool = False


@dataclass(frozen=True, slots=True)
class OwnerRef:
    """The controller object above this one."""

    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that requests extended resources. `gpus` holds resource → count."""

    uid: str
    namespace: str
    name: str
    phase: str
    gpus: Mapping[str, int]
    created_at: float
    node: str | None = None
    priority: int = 0
    priority_class: str | None = None
    owner: OwnerRef | None = None
    ready_at: float | None = None
    """When condition Ready last became true; None while it is not."""
    deleted_at: float | None = None
    """End of the grace period of its deletion (deletionTimestamp): later than that it is stuck."""
    unschedulable: str | None = None
    """The scheduler's own words when no node fits."""
    disruption_reason: str | None = None
    group: str | None = None
    """Name of the PodGroup that it belongs to, with Volcano or KAI."""
    claims: tuple[str, ...] = ()
    """Volume claims of its namespace that it uses."""

    @property
    def holds_gpus(self) -> bool:
        """Bound to a node and not finished: its GPUs are allocated, also while it terminates."""
        return self.node is not None and self.phase not in ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Bystander:
    """A running pod without GPUs, other than those that belong on every node."""

    namespace: str
    node: str


@dataclass(frozen=True, slots=True)
class ReplicaSet:
    """Equal pods with GPUs that something keeps running: how many it wants, and how many exist."""

    uid: str
    namespace: str
    name: str
    created_at: float
    replicas: int
    existing: int
    gpus_per_pod: Mapping[str, int]
    priority_class: str | None = None
    failure: Condition | None = None
    """Condition ReplicaFailure, while it is true: pods could not be made."""


@dataclass(frozen=True, slots=True)
class FailedCreate:
    """Events that say: the API server refused to make pods for this owner."""

    namespace: str
    owner: OwnerRef
    first_at: float
    last_at: float
    message: str
    gpus: Mapping[str, int]
    """What one pod asked for, where a quota refused it and said so."""


@dataclass(frozen=True, slots=True)
class Job:
    """A batch/v1 Job as its owner wrote it."""

    uid: str
    namespace: str
    name: str
    created_at: float
    parallelism: int
    gpus_per_pod: Mapping[str, int]
    suspended: bool = False
    queue: str | None = None
    interactive: bool = False
    priority_class: str | None = None
    template: str = ""
    """Fingerprint of the pod template: a resubmission of the same owner and template continues its clock."""
    active: int = 0
    ready: int = 0
    finished_at: float | None = None
    failed: bool = False
    owner: OwnerRef | None = None
    stem: str = ""
    """What its name was generated from (generateName); "" for a name that its user chose."""
    deadline: str = ""
    expected_run: str = ""
    """As it declares them, in its own words; "" for nothing."""


@dataclass(frozen=True, slots=True)
class PodSet:
    """A part of a gang: `count` equal pods."""

    count: int
    gpus_per_pod: Mapping[str, int]
    min_count: int | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A status condition. `since` is its last transition."""

    status: bool
    reason: str
    message: str
    since: float


@dataclass(frozen=True, slots=True)
class KueueWorkload:
    """A Kueue Workload: one gang, its place in the queue and its admission."""

    uid: str
    namespace: str
    name: str
    queue: str
    created_at: float
    pod_sets: tuple[PodSet, ...]
    priority: int = 0
    priority_class: str | None = None
    active: bool = True
    owner: OwnerRef | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    cluster_queue: str | None = None
    """The queue that reserved quota for it; None while it waits."""
    flavors: Mapping[str, str] = field(default_factory=dict)
    """Resource → flavor it was assigned."""
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    eviction_count: int = 0
    sent_from: str | None = None
    """MultiKueue made it as a mirror of work in another cluster, which it calls so."""
    runs_in: str | None = None
    """The cluster that MultiKueue chose for it."""

    def condition(self, name: str) -> Condition | None:
        """The condition when it is true, else None."""
        found = self.conditions.get(name)
        return found if found is not None and found.status else None


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A namespace's door to a ClusterQueue."""

    namespace: str
    name: str
    cluster_queue: str
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class FlavorQuota:
    """Quota of one resource in one flavor; None means no limit."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


FlavorResource = tuple[str, str]
"""(flavor, resource)"""


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """A ClusterQueue: quota, preemption rules, and use as Kueue's status tells it."""

    name: str
    cohort: str | None
    quotas: Mapping[FlavorResource, FlavorQuota]
    reclaim_within_cohort: str = "Never"
    within_cluster_queue: str = "Never"
    borrow_within_cohort: str = "Never"
    strategy: str = "BestEffortFIFO"
    stop_policy: str = "None"
    active: bool = True
    inactive_reason: str = ""
    reserved: Mapping[FlavorResource, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cohort:
    """A Cohort. `annotations` and `field_managers` matter for those that are Trimtab's own."""

    name: str
    parent: str | None
    quotas: Mapping[FlavorResource, FlavorQuota]
    resource_version: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    spec_managers: frozenset[str] = frozenset()
    """Names of the field managers that own anything below `spec`."""


@dataclass(frozen=True, slots=True)
class ResourceFlavor:
    """A Kueue flavor and the node labels it stands for."""

    name: str
    node_labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """A namespace quota. `hard` and `used` hold whole device counts per resource."""

    namespace: str
    name: str
    hard: Mapping[str, int]
    used: Mapping[str, int]
    scope: str = ""
    """Its scope selector in words, "" for all pods."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    spec_managers: frozenset[str] = frozenset()
    resource_version: str = ""


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A PriorityClass, or a WorkloadPriorityClass of Kueue."""

    name: str
    value: int
    deadline_within: str = ""
    """For work that is due within so long, in the words of whoever prepared it; "" for any other class."""


class CephClient(StrEnum):
    """What on a node does the I/O of a volume. Limits of images (`rbd_qos_…`) act in librbd alone."""

    KRBD = "krbd"
    """The kernel's own: its devices have disk statistics, and no limit of an image slows it."""
    LIBRBD = "librbd"
    """rbd-nbd, and virtual machines."""
    KERNEL = "cephfs-kernel"
    FUSE = "cephfs-fuse"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RbdVolume:
    """A PersistentVolume on an RBD image that a claim uses."""

    name: str
    claim_namespace: str
    claim: str
    image: tuple[str, str, str]
    """(pool, namespace inside the pool or "", image)"""
    client: CephClient = CephClient.UNKNOWN


@dataclass(frozen=True, slots=True)
class FsVolume:
    """A PersistentVolume on a subvolume of CephFS that a claim uses."""

    name: str
    claim_namespace: str
    claim: str
    filesystem: str
    subvolume: str
    """Its name, or its path where it was made by hand."""
    client: CephClient = CephClient.UNKNOWN


CephVolume: TypeAlias = RbdVolume | FsVolume


@dataclass(frozen=True, slots=True)
class Picture:
    """All objects of one look at a cluster. A kind that could not be read stands in `unreadable` with the reason."""

    taken_at: float
    nodes: Mapping[str, Node] = field(default_factory=dict)
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    pods: Mapping[str, Pod] = field(default_factory=dict)
    """By uid."""
    jobs: Mapping[str, Job] = field(default_factory=dict)
    """By uid."""
    workloads: Mapping[str, KueueWorkload] = field(default_factory=dict)
    """By uid."""
    local_queues: tuple[LocalQueue, ...] = ()
    cluster_queues: Mapping[str, ClusterQueue] = field(default_factory=dict)
    cohorts: Mapping[str, Cohort] = field(default_factory=dict)
    flavors: Mapping[str, ResourceFlavor] = field(default_factory=dict)
    resource_quotas: tuple[ResourceQuota, ...] = ()
    priority_classes: Mapping[str, PriorityClass] = field(default_factory=dict)
    workload_priority_classes: Mapping[str, PriorityClass] = field(default_factory=dict)
    """Kueue's own classes: one may bear the name of a PriorityClass and another value."""
    replica_sets: Mapping[str, ReplicaSet] = field(default_factory=dict)
    """By uid; only those with GPUs that want pods."""
    failed_creates: Mapping[str, FailedCreate] = field(default_factory=dict)
    """By uid of the event."""
    bystanders: tuple[Bystander, ...] = ()
    pod_groups: Mapping[str, PodGroup] = field(default_factory=dict)
    """Of Volcano and KAI, by uid."""
    volcano_jobs: Mapping[str, VolcanoJob] = field(default_factory=dict)
    """By uid."""
    share_queues: Mapping[tuple[Scheduler, str], ShareQueue] = field(default_factory=dict)
    """Queues of Volcano and KAI, by scheduler and name."""
    workspace_quotas: tuple[WorkspaceQuota, ...] = ()
    volumes: Mapping[str, CephVolume] = field(default_factory=dict)
    """Empty as well where nobody asked for them."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Kind (plural, as in the API: "pods", "clusterqueues") → reason. Its objects, if any, are as they were last seen.
    A kind that the cluster does not serve at all (no Kueue installed) stands in `unserved`."""
    forbidden: frozenset[str] = frozenset()
    """Those of `unreadable` of which a look by lists knows that only a right is missing."""
    unserved: frozenset[str] = frozenset()
    malformed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kind → one sentence per object that was left out because it could not be understood."""
    age_seconds: float = 0.0
    """Time since the API server last confirmed the oldest part of this picture."""
