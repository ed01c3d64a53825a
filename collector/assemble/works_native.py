"""Gangs that no queueing system holds: Jobs, pods of other owners, and what was refused before it was a pod. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from collector.assemble.deadlines import deadline_of
from collector.assemble.gangs import (
    Context,
    Raw,
    Seen,
    Shape,
    borrows,
    names_of,
    native_phase,
    native_pool,
    nodes_of,
    readiness,
    resource_of,
    seen,
)
from collector.assemble.refused import SINGLE_PODS, Refused
from collector.model.objects import Job
from collector.model.snapshot import WorkPhase


def native_works(context: Context, queued_owners: Collection[str], refused: Refused) -> Iterator[Seen]:
    """All of them. Not `queued_owners`, which are uids of what a queueing system holds."""
    yield from _jobs(context, queued_owners, refused)
    yield from _bare_pods(context, queued_owners, refused)
    yield from _never_made(context, queued_owners, refused)


def _jobs(context: Context, queued_owners: Collection[str], refused: Refused) -> Iterator[Seen]:
    """Jobs that no queueing system holds."""
    for job in context.picture.jobs.values():
        resource = resource_of(context, job.gpus_per_pod)
        queued = job.queue is not None or job.uid in queued_owners
        if resource is None or queued or (job.owner is not None and job.owner.uid in queued_owners):
            continue
        pods = context.pods_of.get(job.uid, ())
        ready, ready_at = readiness(pods, job.parallelism, job)
        if job.finished_at is not None:
            phase = WorkPhase.FINISHED
        elif job.suspended:
            phase = WorkPhase.SUSPENDED
        else:
            phase = WorkPhase.RUNNING if ready else native_phase(pods)
        yield _native_seen(context, job, phase, ready_at if phase is WorkPhase.RUNNING else None, refused.of(job.uid))


def _native_seen(context: Context, job: Job, phase: WorkPhase, ready_at: float | None, refused: str) -> Seen:
    pods, resource = context.pods_of.get(job.uid, ()), resource_of(context, job.gpus_per_pod) or ""
    per_pod = job.gpus_per_pod[resource]
    pool = native_pool(context, resource, pods, job.namespace)
    bound = [pod.created_at for pod in pods if pod.node is not None]
    return seen(
        context,
        Raw(
            kind="Job",
            uid=job.uid,
            namespace=job.namespace,
            name=job.name,
            template=job.template,
            stem=job.stem,
            interactive=job.interactive,
            queue="",
            priority=pods[0].priority if pods else 0,
            shape=Shape(job.parallelism, per_pod, job.parallelism * per_pod),
            phase=phase,
            pool=pool,
            created_at=job.created_at,
            admitted_at=max(bound, default=None),
            ready_at=ready_at,
            ended_at=job.finished_at,
            failed=job.failed,
            nodes=nodes_of(pods, resource),
            pod_names=names_of(pods, resource),
            borrows=borrows(context, pool, job.priority_class),
            pods_missing=max(0, job.parallelism - len(pods)) if phase is WorkPhase.WAITING else 0,
            refused=refused,
            deadline=deadline_of(job),
        ),
    )


def _bare_pods(context: Context, queued_owners: Collection[str], refused: Refused) -> Iterator[Seen]:
    """Pods of other owners (ReplicaSets, operators, nobody): a gang per owner.

    An operator's gang of which a pod was refused waits, and lacks one pod at least: nobody tells how many.
    """
    for uid, pods in context.pods_of.items():
        live = tuple(pod for pod in pods if pod.phase not in ("Succeeded", "Failed"))
        if not live or uid in context.picture.jobs or uid in queued_owners:
            continue
        resource = resource_of(context, live[0].gpus)
        if resource is None:
            continue
        first, per_pod = live[0], live[0].gpus[resource]
        kind = first.owner.kind if first.owner else "Pod"
        why = refused.of(uid) if kind not in SINGLE_PODS else ""
        ready, ready_at = readiness(live, len(live), None)
        running, missing = ready and not why, int(bool(why))
        pool = native_pool(context, resource, live, first.namespace)
        yield seen(
            context,
            Raw(
                kind=kind,
                uid=uid,
                namespace=first.namespace,
                name=first.owner.name if first.owner else first.name,
                priority=first.priority,
                shape=Shape(
                    len(live) + missing,
                    per_pod,
                    sum(pod.gpus.get(resource, 0) for pod in live) + missing * per_pod,
                ),
                phase=WorkPhase.WAITING if missing else WorkPhase.RUNNING if ready else native_phase(live),
                pool=pool,
                created_at=first.created_at,
                ready_at=ready_at if running else None,
                nodes=nodes_of(live, resource),
                pod_names=names_of(live, resource),
                borrows=borrows(context, pool, first.priority_class),
                pods_missing=missing,
                refused=why,
            ),
        )


def _never_made(context: Context, queued_owners: Collection[str], refused: Refused) -> Iterator[Seen]:
    """Pods that were refused and whose owner is no Job, as work of their own: what exists of it runs without them."""
    for gap in refused.gaps(context.picture, context.pods_of):
        resource = resource_of(context, gap.gpus_per_pod)
        if resource is None or gap.owner.uid in queued_owners or gap.owner.uid in context.picture.jobs:
            continue
        per_pod = gap.gpus_per_pod[resource]
        pool = native_pool(context, resource, (), gap.namespace)
        yield seen(
            context,
            Raw(
                kind=gap.owner.kind,
                uid=f"{gap.owner.uid}/missing" if gap.some_exist else gap.owner.uid,
                namespace=gap.namespace,
                name=gap.owner.name,
                template="missing" if gap.some_exist else "",
                shape=Shape(gap.pods, per_pod, gap.pods * per_pod),
                phase=WorkPhase.WAITING,
                pool=pool,
                created_at=gap.since,
                nodes={},
                borrows=borrows(context, pool, gap.priority_class),
                pods_missing=gap.pods,
                refused=gap.why,
                began_before=gap.began_before,
            ),
        )
