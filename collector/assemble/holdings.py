"""Who holds which Kueue quota: ClusterQueues grouped with the Cohort that is their tenant's own. Pure.

A Cohort is a tenant's own when it has a parent and quota of its own, or when a leaf `trimtab-<tenant>` hangs on it;
every other Cohort is a place where several tenants meet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collector.assemble.capacity import SHARED_LEAF, leaf_name, root_cohort
from collector.model.objects import ClusterQueue, Cohort, FlavorQuota, FlavorResource, LocalQueue, Picture

_LEAF_PREFIX = leaf_name("")


@dataclass(frozen=True, slots=True)
class QuotaGroup:
    """One holder of quota: a tenant's own Cohort with its queues, or a ClusterQueue alone."""

    name: str
    queues: tuple[ClusterQueue, ...]
    cohort: Cohort | None = None
    leaf: Cohort | None = None
    """Trimtab's own Cohort below it: the floating part."""
    doors: tuple[LocalQueue, ...] = ()
    """LocalQueues that lead here."""

    @property
    def tenant_name(self) -> str:
        """What its tenant is called: the leaf knows, else the holder's own name."""
        return self.leaf.name.removeprefix(_LEAF_PREFIX) if self.leaf else self.name

    @property
    def namespaces(self) -> frozenset[str]:
        """Namespaces that can submit here."""
        return frozenset(door.namespace for door in self.doors)

    @property
    def place(self) -> str:
        """The object that holds the quota, as people would look it up."""
        return f"Cohort {self.cohort.name}" if self.cohort else f"ClusterQueue {self.queues[0].name}"


@dataclass(frozen=True, slots=True)
class Holding:
    """What a group may use of one flavor and resource, in GPUs."""

    guarantee: int
    floating: int = 0
    ceiling: int | None = None
    """Set by borrowing limits; None: as much as the cohort lends."""


def quota_groups(picture: Picture) -> tuple[QuotaGroup, ...]:
    """All holders of quota in order of name."""
    doors: dict[str, list[LocalQueue]] = defaultdict(list)
    for door in sorted(picture.local_queues, key=lambda item: (item.namespace, item.name)):
        doors[door.cluster_queue].append(door)
    queues_of: dict[str, list[ClusterQueue]] = defaultdict(list)
    leaves = _leaves(picture)
    groups: list[QuotaGroup] = []
    for queue in sorted(picture.cluster_queues.values(), key=lambda item: item.name):
        if queue.cohort is not None and _is_own(picture.cohorts.get(queue.cohort), leaves):
            queues_of[queue.cohort].append(queue)
        else:
            groups.append(QuotaGroup(queue.name, (queue,), doors=tuple(doors[queue.name])))
    for name, queues in queues_of.items():
        open_doors = tuple(door for queue in queues for door in doors[queue.name])
        groups.append(QuotaGroup(name, tuple(queues), picture.cohorts[name], leaves.get(name), open_doors))
    return tuple(sorted(groups, key=lambda group: group.name))


def holding(group: QuotaGroup, key: FlavorResource) -> Holding | None:
    """What the group holds of (flavor, resource); None when none of its objects names it."""
    own = [queue.quotas[key] for queue in group.queues if key in queue.quotas]
    floor = group.cohort.quotas.get(key) if group.cohort else None
    leaf = group.leaf.quotas.get(key) if group.leaf else None
    if not own and floor is None and leaf is None:
        return None
    guarantee = sum(quota.nominal for quota in own) + (floor.nominal if floor else 0)
    floating = leaf.nominal if leaf else 0
    ceilings = [_queues_ceiling(group.queues, key), _cohort_ceiling(floor, guarantee + floating)]
    limits = [ceiling for ceiling in ceilings if ceiling is not None]
    return Holding(guarantee, floating, max(min(limits), guarantee + floating) if limits else None)


def flavor_resources(picture: Picture) -> tuple[FlavorResource, ...]:
    """Every (flavor, resource) for which some ClusterQueue names quota, in order."""
    return tuple(sorted({key for queue in picture.cluster_queues.values() for key in queue.quotas}))


def promised(picture: Picture, key: FlavorResource) -> int:
    """Sum of nominal quota of (flavor, resource) over all ClusterQueues and Cohorts."""
    holders: tuple[ClusterQueue | Cohort, ...] = (*picture.cluster_queues.values(), *picture.cohorts.values())
    return sum(holder.quotas[key].nominal for holder in holders if key in holder.quotas)


class CohortTrees:
    """Which ClusterQueues share a topmost Cohort, and how much quota stands in each such tree; worked out once."""

    def __init__(self, picture: Picture) -> None:
        self._cohorts = picture.cohorts
        self._queues: dict[str, list[ClusterQueue]] = defaultdict(list)
        self._quota: dict[tuple[str, FlavorResource], int] = defaultdict(int)
        for queue in picture.cluster_queues.values():
            if queue.cohort is not None:
                top = root_cohort(picture.cohorts, queue.cohort)
                self._queues[top].append(queue)
                self._add(top, queue.quotas)
        for cohort in picture.cohorts.values():
            self._add(root_cohort(picture.cohorts, cohort.name), cohort.quotas)

    def relatives(self, queue: ClusterQueue) -> tuple[ClusterQueue, ...]:
        """The other ClusterQueues under the same topmost Cohort."""
        found = self._queues.get(root_cohort(self._cohorts, queue.cohort), []) if queue.cohort is not None else []
        return tuple(other for other in found if other.name != queue.name)

    def reachable(self, queue: ClusterQueue, key: FlavorResource) -> int:
        """GPUs that work of this queue could use at most, were everything free: its own and what its Cohorts hold."""
        quota = queue.quotas.get(key)
        if quota is None:
            return 0
        if queue.cohort is None or quota.borrowing_limit == 0:
            return quota.nominal
        total = self._quota[root_cohort(self._cohorts, queue.cohort), key]
        return total if quota.borrowing_limit is None else min(total, quota.nominal + quota.borrowing_limit)

    def _add(self, top: str, quotas: Mapping[FlavorResource, FlavorQuota]) -> None:
        for key, quota in quotas.items():
            self._quota[top, key] += quota.nominal


def _leaves(picture: Picture) -> Mapping[str, Cohort]:
    """Parent → Trimtab's leaf below it."""
    return {
        cohort.parent: cohort
        for cohort in picture.cohorts.values()
        if cohort.parent is not None and cohort.name.startswith(_LEAF_PREFIX) and cohort.name != SHARED_LEAF
    }


def _is_own(cohort: Cohort | None, leaves: Mapping[str, Cohort]) -> bool:
    if cohort is None:
        return False
    holds = any(quota.nominal > 0 for quota in cohort.quotas.values())
    return cohort.name in leaves or (cohort.parent is not None and holds)


def _queues_ceiling(queues: Iterable[ClusterQueue], key: FlavorResource) -> int | None:
    total = 0
    for queue in queues:
        quota = queue.quotas.get(key)
        if quota is None:
            continue
        if queue.cohort is not None and quota.borrowing_limit is None:
            return None
        total += quota.nominal + (quota.borrowing_limit or 0)
    return total


def _cohort_ceiling(floor: FlavorQuota | None, own: int) -> int | None:
    return None if floor is None or floor.borrowing_limit is None else own + floor.borrowing_limit
