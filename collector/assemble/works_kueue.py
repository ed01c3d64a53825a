"""Gangs out of Kueue Workloads. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.assemble.deadlines import deadline_of
from collector.assemble.gangs import Context, Raw, Seen, Shape, names_of, nodes_of, readiness, resource_of, seen
from collector.model.objects import KueueWorkload
from collector.model.snapshot import WorkPhase
from collector.model.tenancy import UNASSIGNED, Engine

_PREEMPTOR_UID = re.compile(r"\(UID: ([0-9a-f-]+)")


def kueue_works(context: Context) -> Iterator[Seen]:
    """All of them that ask for devices."""
    for workload in context.picture.workloads.values():
        asked = {name: n for part in workload.pod_sets for name, n in part.gpus_per_pod.items() if n > 0}
        resource = resource_of(context, asked)
        if resource is None:
            continue
        yield _kueue_work(context, workload, resource)


def _kueue_work(context: Context, workload: KueueWorkload, resource: str) -> Seen:
    job = context.picture.jobs.get(workload.owner.uid) if workload.owner else None
    pods = context.pods_of.get(workload.owner.uid, ()) if workload.owner else ()
    parts = [part for part in workload.pod_sets if part.gpus_per_pod.get(resource, 0) > 0]  # a launcher holds none
    needed = sum(part.min_count or part.count for part in parts)
    ready, ready_at = readiness(pods, needed, job)
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
    shape = Shape(
        pods=sum(part.count for part in parts),
        gpus_per_pod=max(part.gpus_per_pod[resource] for part in parts),
        gpus=sum(part.count * part.gpus_per_pod[resource] for part in parts),
    )
    return seen(
        context,
        Raw(
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
            nodes=nodes_of(pods, resource),
            pod_names=names_of(pods, resource),
            sent_from=workload.sent_from,
            runs_in=workload.runs_in,
            priority_class=workload.priority_class or "",
            deadline=deadline_of(job),
        ),
    )


def _kueue_pool(context: Context, workload: KueueWorkload, resource: str) -> str | None:
    """The pool of its assigned flavor; while it waits, the first flavor its queue offers."""
    flavor = workload.flavors.get(resource)
    for name in [flavor] if flavor else _offered_flavors(context, workload, resource):
        for pool in context.site.pools:
            if pool.engine is Engine.KUEUE and pool.resource == resource and pool.flavor == name:
                return pool.name
    return None


def _offered_flavors(context: Context, workload: KueueWorkload, resource: str) -> Iterator[str]:
    door = context.doors.get((workload.namespace, workload.queue))
    queue = context.picture.cluster_queues.get(door.cluster_queue) if door is not None else None
    for flavor, offered in queue.quotas if queue is not None else ():
        if offered == resource:
            yield flavor


def _preemptor(context: Context, message: str) -> str | None:
    """The tenant whose work evicted this one, out of the words of its condition Evicted."""
    match = _PREEMPTOR_UID.search(message)
    preemptor = context.picture.workloads.get(match.group(1)) if match else None
    return context.owners.get(preemptor.namespace, UNASSIGNED) if preemptor else None
