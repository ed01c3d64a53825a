"""What all kinds of gangs share: what objects tell in one form, and how it becomes `Work` and a sighting. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from collector.assemble.clocks import QueueKey, Sighting
from collector.model.deadline import Deadline
from collector.model.gangs import Scheduler
from collector.model.objects import Job, LocalQueue, Picture, Pod
from collector.model.snapshot import PoolState, Work, WorkPhase
from collector.model.tenancy import UNASSIGNED, Engine, Site, SizeClass, Tenant, Tier, size_class


@dataclass(frozen=True, slots=True)
class Seen:
    """One gang as the objects show it now, and what its clock needs to know."""

    work: Work
    sighting: Sighting


@dataclass(frozen=True)  # no slots: what is looked up for every gang is worked out once
class Context:
    """One look at the objects, and what was agreed."""

    picture: Picture
    site: Site
    owners: Mapping[str, str]
    """Namespace → tenant."""
    pools: Mapping[str, PoolState]
    pods_of: Mapping[str, tuple[Pod, ...]]
    """Uid of the owner → its pods."""

    @cached_property
    def doors(self) -> Mapping[tuple[str, str], LocalQueue]:
        """(namespace, name) → LocalQueue."""
        return {(door.namespace, door.name): door for door in self.picture.local_queues}

    @cached_property
    def pools_of_nodes(self) -> Mapping[str, frozenset[str]]:
        """Node → pools that it stands in."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, state in self.pools.items():
            for node in state.nodes:
                found[node.name].add(name)
        return {node: frozenset(names) for node, names in found.items()}

    @cached_property
    def resources(self) -> frozenset[str]:
        """Extended resources of all known pools."""
        return frozenset(pool.resource for pool in self.site.pools)

    @cached_property
    def tiers(self) -> Mapping[str, Tier]:
        """By name."""
        return {tier.name: tier for tier in self.site.tiers}

    @cached_property
    def tenants(self) -> Mapping[str, Tenant]:
        """By name; `unassigned` is one of them."""
        return {UNASSIGNED: Tenant(UNASSIGNED, tier="")} | {tenant.name: tenant for tenant in self.site.tenants}

    def tenant_of(self, namespace: str) -> Tenant:
        """Whose namespace it is."""
        return self.tenants.get(self.owners.get(namespace, UNASSIGNED), self.tenants[UNASSIGNED])


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a gang is: `gpus` is the sum over all pods, of which `gpus_per_pod` is the largest."""

    pods: int
    gpus_per_pod: int
    gpus: int


@dataclass(frozen=True, slots=True)
class Raw:
    """What each kind of object tells about its gang, in one form."""

    kind: str
    uid: str
    namespace: str
    name: str
    shape: Shape
    phase: WorkPhase
    pool: str | None
    created_at: float
    nodes: Mapping[str, int]
    pod_names: tuple[str, ...] = ()
    template: str = ""
    stem: str = ""
    interactive: bool = False
    queue: str = ""
    priority: int = 0
    admitted_at: float | None = None
    ready_at: float | None = None
    evicted_at: float | None = None
    eviction_count: int = 0
    evicted_by: str | None = None
    evicted_since: float | None = None
    evicted_why: str = ""
    ended_at: float | None = None
    failed: bool = False
    borrows: bool = False
    pods_missing: int = 0
    refused: str = ""
    """Why its pods could not be made, in the words of who refused them."""
    began_before: bool = False
    """`created_at` is only the first that is known of it."""
    sent_from: str | None = None
    runs_in: str | None = None
    scheduler: Scheduler | None = None
    priority_class: str = ""
    deadline: Deadline | None = None


def seen(context: Context, raw: Raw) -> Seen:
    """The gang as work of its tenant, and what its clock needs to know."""
    tenant = context.tenant_of(raw.namespace)
    tier = context.tiers.get(tenant.tier)
    size = _size(context, raw, tenant)
    work = Work(
        key=f"{raw.namespace}/{raw.kind}/{raw.name}/{raw.template}",
        uid=raw.uid,
        kind=raw.kind,
        namespace=raw.namespace,
        name=raw.name,
        tenant=tenant.name,
        tier=tier.name if tier else "",
        pool=raw.pool,
        queue=raw.queue,
        priority=raw.priority,
        pods=raw.shape.pods,
        gpus_per_pod=raw.shape.gpus_per_pod,
        gpus=raw.shape.gpus,
        size=size,
        phase=raw.phase,
        created_at=raw.created_at,
        waited_seconds=0.0,
        limit_seconds=tier.start_within_seconds.get(size) if tier and raw.sent_from is None else None,
        admitted_at=raw.admitted_at,
        ready_at=raw.ready_at,
        nodes=raw.nodes,
        pod_names=raw.pod_names,
        borrows=raw.borrows,
        pods_missing=raw.pods_missing,
        refused=raw.refused,
        sent_from=raw.sent_from,
        runs_in=raw.runs_in,
        scheduler=raw.scheduler,
        priority_class=raw.priority_class,
        deadline=raw.deadline,
    )
    return Seen(work, _sighting(work, raw))


def queue_key(work: Work) -> QueueKey:
    """Which queue it stands in: namespace/name, so that equal names do not mix; the namespace for work without one.

    Queues of Volcano and KAI belong to the whole cluster: their name alone.
    """
    if work.scheduler is not None:
        return work.tenant, work.tier, work.queue
    return work.tenant, work.tier, f"{work.namespace}/{work.queue}" if work.queue else work.namespace


def _sighting(work: Work, raw: Raw) -> Sighting:
    generated = bool(raw.stem and raw.template)
    return Sighting(
        key=f"{raw.namespace}/{raw.kind}/{raw.stem}*/{raw.template}" if generated else work.key,
        uid=work.uid,
        queue=queue_key(work),
        waits=work.waits,
        created_at=work.created_at,
        ready_at=work.ready_at,
        evicted_at=raw.evicted_at,
        eviction_count=raw.eviction_count,
        evicted_by=raw.evicted_by,
        finished=work.phase is WorkPhase.FINISHED,
        generated=generated,
        ended_at=raw.ended_at,
        failed=raw.failed,
        evicted_since=raw.evicted_since,
        evicted_why=raw.evicted_why,
        began_before=raw.began_before,
        readmitted=raw.evicted_at is not None and raw.evicted_since is None,
    )


def _size(context: Context, raw: Raw, tenant: Tenant) -> SizeClass:
    state = context.pools.get(raw.pool or "")
    entitlement = tenant.entitlement(raw.pool) if raw.pool else None
    return size_class(
        interactive=raw.interactive,
        gpus=raw.shape.gpus,
        pods=raw.shape.pods,
        gpus_per_node=state.gpus_per_node if state else raw.shape.gpus_per_pod,
        pool_gpus=state.total if state else 0,
        burst_gpus=entitlement.burst_gpus if entitlement else 0,
    )


def readiness(pods: tuple[Pod, ...], needed: int, job: Job | None) -> tuple[bool, float | None]:
    """Whether all pods that must run are Ready (or already done), and when the last of them became so."""
    moments = sorted(pod.ready_at for pod in pods if pod.ready_at is not None and pod.deleted_at is None)
    done = sum(1 for pod in pods if pod.phase == "Succeeded")
    count = max(len(moments) + done, job.ready if job else 0)
    if needed == 0 or count < needed:
        return False, None
    return True, moments[min(needed, len(moments)) - 1] if moments else None


def native_phase(pods: tuple[Pod, ...]) -> WorkPhase:
    """Of pods that no queue holds and that are not all Ready."""
    return WorkPhase.STARTING if pods and all(pod.node is not None for pod in pods) else WorkPhase.WAITING


def nodes_of(pods: tuple[Pod, ...], resource: str) -> Mapping[str, int]:
    """Node → devices that these pods hold there."""
    held: dict[str, int] = defaultdict(int)
    for pod in pods:
        if pod.holds_gpus and pod.node is not None:
            held[pod.node] += pod.gpus.get(resource, 0)
    return dict(sorted(held.items()))


def names_of(pods: tuple[Pod, ...], resource: str) -> tuple[str, ...]:
    """The pods that hold devices."""
    return tuple(pod.name for pod in pods if pod.holds_gpus and pod.node is not None and pod.gpus.get(resource, 0))


def resource_of(context: Context, gpus: Mapping[str, int]) -> str | None:
    """The resource of a known pool that is asked for; else whatever device is asked for; None when there is none."""
    wanted = [resource for resource, count in sorted(gpus.items()) if count > 0]
    return next((resource for resource in wanted if resource in context.resources), wanted[0] if wanted else None)


def native_pool(context: Context, resource: str, pods: tuple[Pod, ...], namespace: str) -> str | None:
    """The pool of the node it runs on; else one its tenant is entitled to, native ones first."""
    entitled = {item.pool for item in context.tenant_of(namespace).entitlements}
    candidates = sorted(
        (pool for pool in context.site.pools if pool.resource == resource),
        key=lambda pool: (pool.name not in entitled, pool.engine is not Engine.NATIVE, pool.name),
    )
    nodes = {pod.node for pod in pods if pod.node is not None}
    for pool in candidates:
        if any(pool.name in context.pools_of_nodes.get(node, ()) for node in nodes):
            return pool.name
    return candidates[0].name if candidates else None


def borrows(context: Context, pool: str | None, priority_class: str | None) -> bool:
    """Whether that class is the one under which work of this pool goes beyond its guarantee."""
    known = context.site.pool(pool) if pool is not None else None
    return known is not None and known.borrow_class is not None and priority_class == known.borrow_class
