"""What a simulated cluster is made of, and what is submitted to it: plain values. Times are seconds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from collector.assemble.capacity import SHARED_LEAF, leaf_name
from collector.model.objects import RbdVolume
from controller.simulate.quota import QuotaNode

GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class SimulatedTenant:
    """A tenant: namespace, LocalQueue and ClusterQueue bear its name. `floor` is Git's, `floating` Trimtab's (GPUs)."""

    name: str
    floor: int
    floating: int = 0


@dataclass(frozen=True, slots=True)
class Timings:
    """How long things take in this cluster."""

    start_seconds: float = 20.0
    """From the last pod's binding until all are Ready: images, storage, rendezvous."""
    restart_seconds: float = 60.0
    """Work that an evicted job does again on top of what it lost."""
    keep_finished_seconds: float = 300.0
    """How long a finished Job stays to be seen."""
    requeue_seconds: float = 5.0
    """From an eviction until the job may be admitted again: its pods end, its Workload is queued anew. Above 0: gangs
    that evict each other in turn do so at this pace, as they do on a real cluster."""
    look_again_seconds: float = 0.0
    """From quota becoming free until those who were passed over are looked at again; a real Kueue takes one second, in
    which those who were just evicted have taken their places again."""

    def __post_init__(self) -> None:
        """Raise ValueError for a time that would let two gangs evict each other for ever in one moment."""
        if not self.requeue_seconds > 0:
            raise ValueError(f"requeue_seconds is {self.requeue_seconds}, expected more than 0")

    def scaled(self, time_scale: float) -> Timings:
        """The same with every duration divided by `time_scale`."""
        return Timings(
            self.start_seconds / time_scale,
            self.restart_seconds / time_scale,
            self.keep_finished_seconds / time_scale,
            self.requeue_seconds / time_scale,
            self.look_again_seconds / time_scale,
        )


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Equal GPU nodes shared by tenants under one root Cohort that bears the cluster's name, as does the flavor."""

    name: str
    nodes: int
    tenants: tuple[SimulatedTenant, ...]
    shared: int = 0
    gpus_per_node: int = 8
    node_labels: Mapping[str, str] = field(default_factory=dict)
    timings: Timings = Timings()
    volumes: tuple[RbdVolume, ...] = ()
    """The images that tenants keep their data on."""
    tree: tuple[QuotaNode, ...] = ()
    """Quota in any other shape, Cohorts as deep as one likes: each tenant's queue bears the tenant's name, and floors
    and floats stand in the tree. Empty: the shape that Trimtab expects."""

    def node_names(self) -> tuple[str, ...]:
        """The nodes in order."""
        return tuple(f"{self.name}-{number}" for number in range(self.nodes))

    def tenant(self, name: str) -> SimulatedTenant | None:
        """The tenant of that name."""
        return next((tenant for tenant in self.tenants if tenant.name == name), None)

    def quota_nodes(self) -> Iterator[QuotaNode]:
        """The tree that Trimtab expects: per tenant a Cohort with the floor, a queue with nominal 0, an own leaf."""
        if self.tree:
            yield from self.tree
            return
        yield QuotaNode(self.name, None)
        for tenant in self.tenants:
            cohort = tenant_cohort(tenant.name)
            yield QuotaNode(cohort, self.name, tenant.floor, lending_limit=tenant.floor)
            yield QuotaNode(tenant.name, cohort, is_queue=True)
            yield QuotaNode(leaf_name(tenant.name), cohort, tenant.floating)
        yield QuotaNode(SHARED_LEAF, self.name, self.shared)


def tenant_cohort(tenant: str) -> str:
    """Name of Git's Cohort of a tenant."""
    return f"tenant-{tenant}"


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A gang of equal pods that starts together and then runs for `run_seconds` at full speed."""

    name: str
    tenant: str
    pods: int
    gpus_per_pod: int
    run_seconds: float
    priority: int = 0
    checkpoint_seconds: float | None = None
    """An eviction costs what was done since the last multiple of this; None: everything."""

    @property
    def gpus(self) -> int:
        """GPUs of the whole gang."""
        return self.pods * self.gpus_per_pod


@dataclass(frozen=True, slots=True)
class Submission:
    """A job and when it arrives, in epoch seconds."""

    at: float
    job: JobSpec
