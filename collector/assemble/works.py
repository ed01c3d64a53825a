"""Gangs of pods out of objects: whatever engine holds them, each becomes one `Work`, without clocks or names. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from collector.assemble.gangs import Context, Seen
from collector.assemble.refused import refusals
from collector.assemble.works_grouped import grouped_works
from collector.assemble.works_kueue import kueue_works
from collector.assemble.works_native import native_works
from collector.model.objects import Picture, Pod
from collector.model.snapshot import PoolState
from collector.model.tenancy import Site


def seen_works(
    picture: Picture, site: Site, owners: Mapping[str, str], pools: Mapping[str, PoolState]
) -> tuple[Seen, ...]:
    """Every gang that asks for GPUs, finished ones only as sightings (their work has phase FINISHED)."""
    queued_owners = {w.owner.uid for w in picture.workloads.values() if w.owner is not None}
    grouped = [group for group in picture.pod_groups.values() if group.owner_uid not in queued_owners]
    held = queued_owners | {uid for group in grouped for uid in (group.uid, group.owner_uid) if uid is not None}
    groups = {(group.namespace, group.name): group.uid for group in grouped}
    context = Context(picture, site, owners, pools, _pods_of(picture, queued_owners, groups))
    found = [
        *kueue_works(context),
        *grouped_works(context, grouped),
        *native_works(context, held | picture.volcano_jobs.keys(), refusals(picture)),
    ]
    return tuple(sorted(found, key=lambda seen: (seen.work.tenant, seen.work.created_at, seen.work.key, seen.work.uid)))


def _pods_of(
    picture: Picture, queued_owners: set[str], groups: Mapping[tuple[str, str], str]
) -> Mapping[str, tuple[Pod, ...]]:
    """Pods by owner, those of a PodGroup by its uid (`groups`: namespace and name → uid).

    Those of a Job that is itself a part of queued work (a JobSet) belong to that work.
    """
    pods_of: dict[str, list[Pod]] = defaultdict(list)
    for pod in picture.pods.values():
        owner = pod.owner.uid if pod.owner else pod.uid
        group = groups.get((pod.namespace, pod.group)) if pod.group is not None else None
        if group is not None:
            pods_of[group].append(pod)
            continue
        job = picture.jobs.get(owner)
        whole = job.owner.uid if job is not None and job.owner is not None else owner
        pods_of[whole if whole in queued_owners else owner].append(pod)
    return {uid: tuple(sorted(pods, key=lambda pod: (pod.created_at, pod.uid))) for uid, pods in pods_of.items()}
