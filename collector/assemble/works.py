"""Gangs of pods out of objects: Kueue Workloads, plain Jobs, bare pods become `Work`, without clocks or names. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from collector.assemble.clocks import QueueKey, Sighting
from collector.model.objects import Job, KueueWorkload, Picture, Pod
from collector.model.snapshot import PoolState, Work, WorkPhase
from collector.model.tenancy import UNASSIGNED, Engine, Pool, Site, SizeClass, size_class

_PREEMPTOR_UID = re.compile(r"\(UID: ([0-9a-f-]+)")


@dataclass(frozen=True, slots=True)
class Seen:
    """One gang as the objects show it now, and what its clock needs to know."""

    work: Work
    sighting: Sighting


@dataclass(frozen=True, slots=True)
class _Context:
    picture: Picture
    site: Site
    owners: Mapping[str, str]
    """Namespace → tenant."""
    pools: Mapping[str, PoolState]
    pods_of: Mapping[str, tuple[Pod, ...]]
    """Uid of the owner → its pods."""


def seen_works(
    picture: Picture, site: Site, owners: Mapping[str, str], pools: Mapping[str, PoolState]
) -> tuple[Seen, ...]:
    """Every gang that asks for GPUs, finished ones only as sightings (their work has phase FINISHED)."""
    queued_owners = {w.owner.uid for w in picture.workloads.values() if w.owner is not None}
    context = _Context(picture, site, owners, pools, _pods_of(picture, queued_owners))
    found = [*_kueue(context), *_jobs(context, queued_owners), *_bare_pods(context, queued_owners)]
    return tuple(sorted(found, key=lambda seen: (seen.work.tenant, seen.work.created_at, seen.work.key, seen.work.uid)))


def _pods_of(picture: Picture, queued_owners: set[str]) -> Mapping[str, tuple[Pod, ...]]:
    """Pods by owner. Those of a Job that is itself a part of queued work (a JobSet) belong to that work."""
    pods_of: dict[str, list[Pod]] = defaultdict(list)
    for pod in picture.pods.values():
        owner = pod.owner.uid if pod.owner else pod.uid
        job = picture.jobs.get(owner)
        whole = job.owner.uid if job is not None and job.owner is not None else owner
        pods_of[whole if whole in queued_owners else owner].append(pod)
    return {uid: tuple(sorted(pods, key=lambda pod: (pod.created_at, pod.uid))) for uid, pods in pods_of.items()}


def _kueue(context: _Context) -> Iterator[Seen]:
    for workload in context.picture.workloads.values():
        asked = {name: n for part in workload.pod_sets for name, n in part.gpus_per_pod.items() if n > 0}
        resource = _resource(context, asked)
        if resource is None:
            continue
        yield _kueue_work(context, workload, resource)


def _resource(context: _Context, gpus: Mapping[str, int]) -> str | None:
    """The resource of a known pool that is asked for; else whatever device is asked for; None when there is none."""
    wanted = [resource for resource, count in sorted(gpus.items()) if count > 0]
    known = {pool.resource for pool in context.site.pools}
    return next((resource for resource in wanted if resource in known), wanted[0] if wanted else None)


def _kueue_work(context: _Context, workload: KueueWorkload, resource: str) -> Seen:
    job = context.picture.jobs.get(workload.owner.uid) if workload.owner else None
    pods = context.pods_of.get(workload.owner.uid, ()) if workload.owner else ()
    parts = [part for part in workload.pod_sets if part.gpus_per_pod.get(resource, 0) > 0]  # a launcher holds none
    needed = sum(part.min_count or part.count for part in parts)
    ready, ready_at = _readiness(pods, needed, job)
    evicted = workload.conditions.get("Evicted")
    ended = workload.condition("Finished")
    admitted = workload.condition("QuotaReserved") if workload.cluster_queue else None
    if ended is not None:
        phase = WorkPhase.FINISHED
    elif not workload.active:
        phase = WorkPhase.SUSPENDED
    elif admitted is None:
        phase = WorkPhase.WAITING
    else:
        phase = WorkPhase.RUNNING if ready else WorkPhase.STARTING
    pool = _kueue_pool(context, workload, resource)
    name = workload.owner.name if workload.owner else workload.name
    shape = _Shape(
        pods=sum(part.count for part in parts),
        gpus_per_pod=max(part.gpus_per_pod[resource] for part in parts),
        gpus=sum(part.count * part.gpus_per_pod[resource] for part in parts),
    )
    return _seen(
        context,
        _Raw(
            kind=workload.owner.kind if workload.owner else "Workload",
            uid=workload.uid,
            namespace=workload.namespace,
            name=name,
            template=job.template if job else "",
            stem=job.stem if job else "",
            interactive=job.interactive if job else False,
            queue=workload.queue,
            priority=workload.priority,
            shape=shape,
            phase=phase,
            pool=pool,
            created_at=workload.created_at,
            admitted_at=admitted.since if admitted else None,
            ready_at=ready_at if phase is WorkPhase.RUNNING else None,
            evicted_at=evicted.since if evicted else None,
            eviction_count=workload.eviction_count,
            evicted_by=_preemptor(context, evicted.message) if evicted else None,
            evicted_since=evicted.since if evicted and evicted.status else None,
            evicted_why=evicted.reason if evicted else "",
            ended_at=ended.since if ended else None,
            failed=ended is not None and "fail" in ended.reason.lower(),
            nodes=_nodes(pods, resource),
        ),
    )


def _jobs(context: _Context, queued_owners: set[str]) -> Iterator[Seen]:
    """Jobs that no queueing system holds."""
    for job in context.picture.jobs.values():
        resource = _resource(context, job.gpus_per_pod)
        queued = job.queue is not None or job.uid in queued_owners
        if resource is None or queued or (job.owner is not None and job.owner.uid in queued_owners):
            continue
        pods = context.pods_of.get(job.uid, ())
        ready, ready_at = _readiness(pods, job.parallelism, job)
        if job.finished_at is not None:
            phase = WorkPhase.FINISHED
        elif job.suspended:
            phase = WorkPhase.SUSPENDED
        else:
            phase = WorkPhase.RUNNING if ready else _native_phase(pods)
        yield _native_seen(context, job, pods, phase, resource, ready_at)


def _native_seen(
    context: _Context, job: Job, pods: tuple[Pod, ...], phase: WorkPhase, resource: str, ready_at: float | None
) -> Seen:
    per_pod = job.gpus_per_pod[resource]
    pool = _native_pool(context, resource, pods, job.namespace)
    bound = [pod.created_at for pod in pods if pod.node is not None]
    return _seen(
        context,
        _Raw(
            kind="Job",
            uid=job.uid,
            namespace=job.namespace,
            name=job.name,
            template=job.template,
            stem=job.stem,
            interactive=job.interactive,
            queue="",
            priority=pods[0].priority if pods else 0,
            shape=_Shape(job.parallelism, per_pod, job.parallelism * per_pod),
            phase=phase,
            pool=pool,
            created_at=job.created_at,
            admitted_at=max(bound, default=None),
            ready_at=ready_at if phase is WorkPhase.RUNNING else None,
            ended_at=job.finished_at,
            failed=job.failed,
            nodes=_nodes(pods, resource),
            borrows=_borrows(context, pool, job.priority_class),
            pods_missing=max(0, job.parallelism - len(pods)) if phase is WorkPhase.WAITING else 0,
        ),
    )


def _borrows(context: _Context, pool: str | None, priority_class: str | None) -> bool:
    """Whether that class is the one under which work of this pool goes beyond its guarantee."""
    known = context.site.pool(pool) if pool is not None else None
    return known is not None and known.borrow_class is not None and priority_class == known.borrow_class


def _bare_pods(context: _Context, queued_owners: set[str]) -> Iterator[Seen]:
    """Pods of other owners (ReplicaSets, operators, nobody): a gang per owner."""
    for uid, pods in context.pods_of.items():
        live = tuple(pod for pod in pods if pod.phase not in ("Succeeded", "Failed"))
        if not live or uid in context.picture.jobs or uid in queued_owners:
            continue
        resource = _resource(context, live[0].gpus)
        if resource is None:
            continue
        first, per_pod = live[0], live[0].gpus[resource]
        ready, ready_at = _readiness(live, len(live), None)
        phase = WorkPhase.RUNNING if ready else _native_phase(live)
        yield _seen(
            context,
            _Raw(
                kind=first.owner.kind if first.owner else "Pod",
                uid=uid,
                namespace=first.namespace,
                name=first.owner.name if first.owner else first.name,
                template="",
                interactive=False,
                queue="",
                priority=first.priority,
                shape=_Shape(len(live), per_pod, sum(pod.gpus.get(resource, 0) for pod in live)),
                phase=phase,
                pool=_native_pool(context, resource, live, first.namespace),
                created_at=first.created_at,
                ready_at=ready_at if ready else None,
                nodes=_nodes(live, resource),
                borrows=_borrows(context, _native_pool(context, resource, live, first.namespace), first.priority_class),
            ),
        )


@dataclass(frozen=True, slots=True)
class _Shape:
    pods: int
    gpus_per_pod: int
    gpus: int


@dataclass(frozen=True, slots=True)
class _Raw:
    """What each kind of object tells about its gang, in one form."""

    kind: str
    uid: str
    namespace: str
    name: str
    shape: _Shape
    phase: WorkPhase
    pool: str | None
    created_at: float
    nodes: Mapping[str, int]
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


def _seen(context: _Context, raw: _Raw) -> Seen:
    tenant_name = context.owners.get(raw.namespace, UNASSIGNED)
    tenant = context.site.tenant(tenant_name)
    tier = context.site.tier(tenant.tier) if tenant else None
    size = _size(context, raw, tenant_name)
    work = Work(
        key=f"{raw.namespace}/{raw.kind}/{raw.name}/{raw.template}",
        uid=raw.uid,
        kind=raw.kind,
        namespace=raw.namespace,
        name=raw.name,
        tenant=tenant_name,
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
        limit_seconds=tier.start_within_seconds.get(size) if tier else None,
        admitted_at=raw.admitted_at,
        ready_at=raw.ready_at,
        nodes=raw.nodes,
        borrows=raw.borrows,
        pods_missing=raw.pods_missing,
    )
    return Seen(work, _sighting(work, raw))


def queue_key(work: Work) -> QueueKey:
    """Which queue it stands in: namespace/name, so that equal names do not mix; the namespace for work without one."""
    return work.tenant, work.tier, f"{work.namespace}/{work.queue}" if work.queue else work.namespace


def _sighting(work: Work, raw: _Raw) -> Sighting:
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
        readmitted=raw.evicted_at is not None and raw.evicted_since is None,
    )


def _size(context: _Context, raw: _Raw, tenant: str) -> SizeClass:
    state = context.pools.get(raw.pool or "")
    owner = context.site.tenant(tenant)
    entitlement = owner.entitlement(raw.pool) if owner and raw.pool else None
    return size_class(
        interactive=raw.interactive,
        gpus=raw.shape.gpus,
        pods=raw.shape.pods,
        gpus_per_node=state.gpus_per_node if state else raw.shape.gpus_per_pod,
        pool_gpus=state.total if state else 0,
        burst_gpus=entitlement.burst_gpus if entitlement else 0,
    )


def _readiness(pods: tuple[Pod, ...], needed: int, job: Job | None) -> tuple[bool, float | None]:
    """Whether all pods that must run are Ready (or already done), and when the last of them became so."""
    moments = sorted(pod.ready_at for pod in pods if pod.ready_at is not None and pod.deleted_at is None)
    done = sum(1 for pod in pods if pod.phase == "Succeeded")
    count = max(len(moments) + done, job.ready if job else 0)
    if needed == 0 or count < needed:
        return False, None
    return True, moments[min(needed, len(moments)) - 1] if moments else None


def _native_phase(pods: tuple[Pod, ...]) -> WorkPhase:
    return WorkPhase.STARTING if pods and all(pod.node is not None for pod in pods) else WorkPhase.WAITING


def _nodes(pods: tuple[Pod, ...], resource: str) -> Mapping[str, int]:
    held: dict[str, int] = defaultdict(int)
    for pod in pods:
        if pod.holds_gpus and pod.node is not None:
            held[pod.node] += pod.gpus.get(resource, 0)
    return dict(sorted(held.items()))


def _kueue_pool(context: _Context, workload: KueueWorkload, resource: str) -> str | None:
    """The pool of its assigned flavor; while it waits, the first flavor its queue offers."""
    flavor = workload.flavors.get(resource)
    flavors = [flavor] if flavor else list(_offered_flavors(context.picture, workload, resource))
    candidates = [pool for pool in context.site.pools if pool.engine is Engine.KUEUE and pool.resource == resource]
    for name in flavors:
        for pool in candidates:
            if pool.flavor == name:
                return pool.name
    return None


def _offered_flavors(picture: Picture, workload: KueueWorkload, resource: str) -> Iterator[str]:
    for queue in picture.local_queues:
        if (queue.namespace, queue.name) == (workload.namespace, workload.queue):
            cluster_queue = picture.cluster_queues.get(queue.cluster_queue)
            for flavor, offered in cluster_queue.quotas if cluster_queue else ():
                if offered == resource:
                    yield flavor


def _native_pool(context: _Context, resource: str, pods: tuple[Pod, ...], namespace: str) -> str | None:
    """The pool of the node it runs on; else one its tenant is entitled to, native ones first."""
    tenant = context.site.tenant(context.owners.get(namespace, UNASSIGNED))
    entitled = {item.pool for item in tenant.entitlements} if tenant is not None else set()
    candidates: list[Pool] = sorted(
        (pool for pool in context.site.pools if pool.resource == resource),
        key=lambda pool: (pool.name not in entitled, pool.engine is not Engine.NATIVE, pool.name),
    )
    nodes = {pod.node for pod in pods if pod.node is not None}
    for pool in candidates:
        if nodes & {node.name for node in context.pools[pool.name].nodes}:
            return pool.name
    return candidates[0].name if candidates else None


def _preemptor(context: _Context, message: str) -> str | None:
    """The tenant whose work evicted this one, out of the words of its condition Evicted."""
    match = _PREEMPTOR_UID.search(message)
    preemptor = context.picture.workloads.get(match.group(1)) if match else None
    return context.owners.get(preemptor.namespace, UNASSIGNED) if preemptor else None
