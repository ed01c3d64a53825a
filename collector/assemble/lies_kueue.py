"""Kueue settings that promise what they can not hold: reclaim, lending, doors that lead nowhere. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from collector.assemble.capacity import pool_nodes, root_cohort
from collector.assemble.holdings import CohortTrees, QuotaGroup, flavor_resources, holding, promised, quota_groups
from collector.assemble.infer_pools import is_gpu
from collector.model.objects import ClusterQueue, FlavorQuota, FlavorResource, Picture
from collector.model.quantities import counted
from collector.model.snapshot import Lie
from collector.model.tenancy import Engine, Pool, Site

_Rule = Callable[[Picture, Site], Iterable[Lie]]


def _gpu_quotas(queue: ClusterQueue) -> dict[FlavorResource, FlavorQuota]:
    return {key: quota for key, quota in queue.quotas.items() if is_gpu(key[1])}


def _lent_but_not_reclaimed(picture: Picture, site: Site) -> Iterator[Lie]:
    trees = CohortTrees(picture)
    for group in quota_groups(picture):
        names = {queue.name for queue in group.queues}
        for queue in group.queues:
            borrowers = [other for other in trees.relatives(queue) if other.name not in names]
            lent = _lent(group, queue)
            if queue.reclaim_within_cohort != "Never" or not borrowers or not lent:
                continue
            top = root_cohort(picture.cohorts, queue.cohort or "")
            yield Lie(
                f"ClusterQueue {queue.name}",
                f"{lent} guaranteed GPUs may be lent to Cohort {top}, and `reclaimWithinCohort: Never` makes their "
                "owner wait until the borrowers finish. Set it to Any, or lendingLimit to 0.",
            )


def _lent(group: QuotaGroup, queue: ClusterQueue) -> int:
    """Guaranteed GPUs behind this queue that others may take."""
    quotas = [*_gpu_quotas(queue).values()]
    if group.cohort is not None:
        quotas += [quota for (_, resource), quota in group.cohort.quotas.items() if is_gpu(resource)]
    return sum(quota.nominal if quota.lending_limit is None else quota.lending_limit for quota in quotas)


def _borrows_without_reclaim(picture: Picture, site: Site) -> Iterator[Lie]:
    for queue in picture.cluster_queues.values():
        if queue.borrow_within_cohort != "Never" and queue.reclaim_within_cohort == "Never":
            yield Lie(
                f"ClusterQueue {queue.name}",
                f"`borrowWithinCohort: {queue.borrow_within_cohort}` has no effect while reclaimWithinCohort is Never. "
                "Set reclaimWithinCohort to LowerPriority or Any.",
            )


def _float_is_lent(picture: Picture, site: Site) -> Iterator[Lie]:
    for group in quota_groups(picture):
        if group.cohort is None or group.leaf is None:
            continue
        for (flavor, resource), floor in sorted(group.cohort.quotas.items()):
            if floor.lending_limit is None and is_gpu(resource):
                yield Lie(
                    group.place,
                    f"Without a lendingLimit the float of {group.leaf.name} is lent as well and is no reserve. "
                    f"Set lendingLimit to {floor.nominal} for {resource} in flavor {flavor}.",
                )


def _floor_out_of_reach(picture: Picture, site: Site) -> Iterator[Lie]:
    """A borrowing limit on the queues that keeps a tenant from its own Cohort's quota."""
    for group in quota_groups(picture):
        for key, floor in sorted(group.cohort.quotas.items()) if group.cohort else ():
            found = holding(group, key)
            quotas = [queue.quotas[key] for queue in group.queues if key in queue.quotas]
            if found is None or not quotas or not is_gpu(key[1]) or any(q.borrowing_limit is None for q in quotas):
                continue
            most = sum(quota.nominal + (quota.borrowing_limit or 0) for quota in quotas)
            if most < found.guarantee:
                yield Lie(
                    group.place,
                    f"It guarantees {counted(found.guarantee, 'GPU')} of {key[0]}, and the borrowingLimit of "
                    f"its queues stops them at {most}: using the own Cohort's {floor.nominal} counts as borrowing. "
                    f"Raise it by {found.guarantee - most}.",
                )


def _door_to_nowhere(picture: Picture, site: Site) -> Iterator[Lie]:
    doors: dict[str, list[str]] = defaultdict(list)
    for door in picture.local_queues:
        if door.cluster_queue not in picture.cluster_queues:
            doors[door.cluster_queue].append(f"{door.namespace}/{door.name}")
    for missing, names in sorted(doors.items()):
        yield Lie(
            f"LocalQueue {', '.join(sorted(names)[:3])}{', …' if len(names) > 3 else ''}",
            f"It leads to ClusterQueue {missing}, which does not exist: nothing submitted there ever starts. "
            f"Create {missing}; a LocalQueue can not be moved.",
        )


def _queue_without_quota(picture: Picture, site: Site) -> Iterator[Lie]:
    trees = CohortTrees(picture)
    for queue in picture.cluster_queues.values():
        quotas = _gpu_quotas(queue)
        if not quotas or any(trees.reachable(queue, key) for key in quotas):
            continue
        if queue.cohort is None:
            reason = "belongs to no Cohort"
        elif all(quota.borrowing_limit == 0 for quota in quotas.values()):
            reason = "may borrow nothing (borrowingLimit 0)"
        else:
            reason = f"Cohort {queue.cohort} holds nothing to borrow"
        yield Lie(
            f"ClusterQueue {queue.name}",
            f"Its nominal quota is 0 and it {reason}: it never admits GPU work. Give it quota, or a Cohort that has.",
        )


def _inactive_queue(picture: Picture, site: Site) -> Iterator[Lie]:
    opened = {door.cluster_queue for door in picture.local_queues}
    for queue in picture.cluster_queues.values():
        if not queue.active and queue.stop_policy == "None" and queue.name in opened:
            yield Lie(
                f"ClusterQueue {queue.name}",
                f"It is not active ({queue.inactive_reason or 'no reason given'}) and admits nothing until that is "
                "put right.",
            )


def _quota_without_a_door(picture: Picture, site: Site) -> Iterator[Lie]:
    """Quota that nobody can submit to and nobody can borrow."""
    opened = {door.cluster_queue for door in picture.local_queues}
    for queue in picture.cluster_queues.values():
        idle = sum(
            quota.nominal for quota in _gpu_quotas(queue).values() if queue.cohort is None or quota.lending_limit == 0
        )
        if idle and queue.name not in opened:
            yield Lie(
                f"ClusterQueue {queue.name}",
                f"It keeps {counted(idle, 'GPU')}, and no LocalQueue leads to it. Open one, or give the quota "
                "to others.",
            )


def _flavor_without_nodes(picture: Picture, site: Site) -> Iterator[Lie]:
    for flavor, resource in flavor_resources(picture):
        amount = promised(picture, (flavor, resource))
        found = picture.flavors.get(flavor)
        if not amount or found is None or not is_gpu(resource):
            continue
        if not pool_nodes(picture, Pool(flavor, resource, found.node_labels, Engine.KUEUE, flavor=flavor)):
            labels = ", ".join(f"{name}={value}" for name, value in sorted(found.node_labels.items()))
            yield Lie(
                f"ResourceFlavor {flavor}",
                f"Quota promises {amount} {resource}, and no node {f'with {labels}' if labels else 'at all'} has any. "
                "Correct its nodeLabels or the nodes' labels, or take the quota away.",
            )


def _pods_that_no_queue_counts(picture: Picture, site: Site) -> Iterator[Lie]:
    opened = {door.namespace for door in picture.local_queues}
    for pool in site.pools:
        if pool.engine is not Engine.KUEUE:
            continue
        nodes = {node.name for node in pool_nodes(picture, pool)}
        held: dict[str, int] = defaultdict(int)
        for pod in picture.pods.values():
            if pod.holds_gpus and pod.node in nodes and pod.namespace not in opened:
                held[pod.namespace] += pod.gpus.get(pool.resource, 0)
        total = sum(held.values())
        if total:
            names = ", ".join(sorted(held, key=lambda name: (-held[name], name))[:3])
            yield Lie(
                f"pool {pool.name}",
                f"{counted(total, 'GPU')} are held by pods that Kueue does not count (namespaces {names}): it "
                f"admits others onto them. Give these namespaces a LocalQueue, or lower nominal quotas by {total}.",
            )


KUEUE_RULES: Final[tuple[tuple[tuple[str, ...], _Rule], ...]] = (
    (("clusterqueues", "cohorts"), _lent_but_not_reclaimed),
    (("clusterqueues",), _borrows_without_reclaim),
    (("clusterqueues", "cohorts"), _float_is_lent),
    (("clusterqueues", "cohorts"), _floor_out_of_reach),
    (("localqueues", "clusterqueues"), _door_to_nowhere),
    (("clusterqueues", "cohorts"), _queue_without_quota),
    (("clusterqueues", "localqueues"), _inactive_queue),
    (("clusterqueues", "localqueues"), _quota_without_a_door),
    (("nodes", "clusterqueues", "cohorts", "resourceflavors"), _flavor_without_nodes),
    (("nodes", "pods", "localqueues"), _pods_that_no_queue_counts),
)
"""Kinds a rule must be able to see, and the rule."""
