"""Gangs out of PodGroups of Volcano and KAI. Pure.

The pods of a Volcano Job are made only once its PodGroup was let into the queue; until then the Job tells its shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from collector.assemble.gangs import (
    Context,
    Raw,
    Seen,
    Shape,
    names_of,
    native_pool,
    nodes_of,
    readiness,
    resource_of,
    seen,
)
from collector.model.gangs import PodGroup, VolcanoJob
from collector.model.objects import Job, Pod
from collector.model.snapshot import WorkPhase

_ENDED: Final = ("Completed", "Failed", "Terminated")
_HELD_BACK: Final = ("Aborting", "Aborted")


def grouped_works(context: Context, groups: Iterable[PodGroup]) -> Iterator[Seen]:
    """All of them that ask for devices."""
    for group in groups:
        job = context.picture.volcano_jobs.get(group.owner_uid or "")
        pods = context.pods_of.get(group.uid, ())
        found = _shape(context, group, job, pods)
        if found is not None:
            yield _work(context, group, job, pods, *found)


def _shape(
    context: Context, group: PodGroup, job: VolcanoJob | None, pods: tuple[Pod, ...]
) -> tuple[str, Shape] | None:
    """(resource, shape): by the Job's tasks, else by the pods that exist, else by what the group asks for at least."""
    tasks = job.tasks if job is not None else ()
    parts: list[tuple[int, Mapping[str, int]]] = [(task.replicas, task.gpus_per_pod) for task in tasks]
    parts = parts or [(1, pod.gpus) for pod in pods]
    if not parts and group.min_gpus:
        members = max(1, group.min_member)
        parts = [(members, {name: math.ceil(count / members) for name, count in group.min_gpus.items()})]
    resource = resource_of(
        context, {name: n for count, gpus in parts if count > 0 for name, n in gpus.items() if n > 0}
    )
    if resource is None:
        return None
    least = group.min_gpus.get(resource, 0)
    holding = [(count, gpus[resource]) for count, gpus in parts if count > 0 and gpus.get(resource, 0) > 0]
    pods_known, gpus_known = sum(count for count, _ in holding), sum(count * per_pod for count, per_pod in holding)
    per_pod = max(per_pod for _, per_pod in holding)
    missing = max(0, math.ceil((least - gpus_known) / per_pod))  # pods that are still to be made
    return resource, Shape(pods_known + missing, per_pod, gpus_known + missing * per_pod)


def _work(
    context: Context, group: PodGroup, job: VolcanoJob | None, pods: tuple[Pod, ...], resource: str, shape: Shape
) -> Seen:
    plain = context.picture.jobs.get(group.owner_uid or "")
    needed = _needed(group, resource, shape)
    ready, ready_at = readiness(pods, needed, None)
    bound = sorted(pod.created_at for pod in pods if pod.node is not None)
    phase = _phase(group, job, plain)
    if phase is None:
        admitted = WorkPhase.STARTING if len(bound) >= needed else WorkPhase.WAITING
        phase = WorkPhase.RUNNING if ready else admitted
    known = job or plain
    return seen(
        context,
        Raw(
            kind=group.owner_kind,
            uid=group.uid,
            namespace=group.namespace,
            name=group.owner_name or group.name,
            template=known.template if known else "",
            stem=known.stem if known else "",
            interactive=known.interactive if known else False,
            queue=group.queue,
            priority=max((pod.priority for pod in pods), default=0),
            shape=shape,
            phase=phase,
            pool=native_pool(context, resource, pods, group.namespace),
            created_at=min(group.created_at, known.created_at) if known else group.created_at,
            admitted_at=bound[-1] if phase in (WorkPhase.STARTING, WorkPhase.RUNNING) and bound else None,
            ready_at=ready_at if phase is WorkPhase.RUNNING else None,
            ended_at=_ended_at(job, plain),
            failed=group.failed or (job is not None and job.phase == "Failed") or (plain is not None and plain.failed),
            nodes=nodes_of(pods, resource),
            pod_names=names_of(pods, resource),
            refused=group.message if phase is WorkPhase.WAITING else "",
            scheduler=group.scheduler,
        ),
    )


def _needed(group: PodGroup, resource: str, shape: Shape) -> int:
    """Pods with devices that must run: `min_member` counts launchers as well, what they ask for together does not."""
    least = group.min_gpus.get(resource, 0)
    wanted = math.ceil(least / shape.gpus_per_pod) if least else group.min_member
    return min(wanted, shape.pods) if wanted > 0 else shape.pods


def _phase(group: PodGroup, job: VolcanoJob | None, plain: Job | None) -> WorkPhase | None:
    """What its objects decide whatever its pods do; None when they leave it to the pods."""
    over = job is not None and job.phase in _ENDED
    if group.ended or over or (plain is not None and plain.finished_at is not None):
        return WorkPhase.FINISHED
    held_back = job is not None and job.phase in _HELD_BACK
    return WorkPhase.SUSPENDED if held_back or (plain is not None and plain.suspended) else None


def _ended_at(job: VolcanoJob | None, plain: Job | None) -> float | None:
    if job is not None:
        return job.phase_since if job.phase in _ENDED else None
    return plain.finished_at if plain is not None else None
