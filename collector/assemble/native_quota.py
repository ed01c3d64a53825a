"""What plain Kubernetes grants: ResourceQuotas of namespaces, as guarantee and as cap of the borrow class. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from collector.assemble.capacity import CAP_NAME, pool_nodes
from collector.assemble.holdings import Holding
from collector.model.objects import Picture, ResourceQuota
from collector.model.tenancy import WORKSPACE_LABEL, Pool


def is_guarantee(quota: ResourceQuota) -> bool:
    """Whether a quota speaks of ordinary work, rather than of one class of it."""
    return quota.scope == "" or " NotIn " in quota.scope


def native_guarantee(picture: Picture, resource: str, namespace: str) -> int | None:
    """GPUs that the namespace's quotas grant; the smallest counts, since all must agree. None: no quota."""
    limits = [
        quota.hard[resource]
        for quota in picture.resource_quotas
        if quota.namespace == namespace and resource in quota.hard and is_guarantee(quota)
    ]
    return min(limits, default=None)


def native_holding(picture: Picture, pool: Pool, namespaces: Iterable[str]) -> Holding | None:
    """Guarantee and cap of a tenant's namespaces in a native pool; a namespace without quota guarantees nothing."""
    wanted = frozenset(namespaces)
    granted = [native_guarantee(picture, pool.resource, namespace) for namespace in sorted(wanted)]
    caps = [
        quota.hard[pool.resource]
        for quota in picture.resource_quotas
        if quota.namespace in wanted and quota.name == CAP_NAME and pool.resource in quota.hard
    ]
    return Holding(sum(limit for limit in granted if limit is not None), sum(caps))


def pool_of_namespaces(picture: Picture, pools: Sequence[Pool], namespaces: Iterable[str]) -> Pool | None:
    """The one pool whose nodes carry most of the namespaces' GPUs; with none in use, the largest they may ask for.

    A ResourceQuota counts a resource, not a model of GPU: it can be read as a guarantee in one pool only.
    """
    wanted = frozenset(namespaces)
    asked: set[str] = set()
    held: dict[str, int] = defaultdict(int)
    node_pool = {(pool.resource, node.name): pool.name for pool in pools for node in pool_nodes(picture, pool)}
    for pod in picture.pods.values():
        if pod.namespace in wanted:
            asked.update(pod.gpus)
            for resource, count in pod.gpus.items():
                held[node_pool.get((resource, pod.node or ""), "")] += count if pod.holds_gpus else 0
    for job in picture.jobs.values():
        if job.namespace in wanted:
            asked.update(job.gpus_per_pod)
    for quota in picture.resource_quotas:
        if quota.namespace in wanted:
            asked.update(quota.hard)
    candidates = [pool for pool in pools if pool.resource in asked]
    sizes = {pool.name: sum(node.gpus for node in pool_nodes(picture, pool)) for pool in candidates}
    return max(candidates, key=lambda pool: (held[pool.name], sizes[pool.name], pool.name), default=None)


def applies_to(quota: ResourceQuota, priority_class: str | None) -> bool:
    """Whether a quota counts pods of that class. Scopes we can not judge count as applying."""
    for word in quota.scope.split(" and ") if quota.scope else ():
        if not word.startswith("PriorityClass "):
            continue
        names = word.partition("[")[2].rstrip("]").split(", ") if "[" in word else []
        inside = priority_class in names
        verdicts = {
            "In": inside,
            "NotIn": not inside,
            "Exists": priority_class is not None,
            "DoesNotExist": priority_class is None,
        }
        if not verdicts.get(word.split(" ")[1], True):
            return False
    return True


def refusing_quota(
    picture: Picture, namespace: str, priority_class: str | None, resource: str, gpus: int
) -> ResourceQuota | None:
    """The quota that would refuse one more pod of `gpus` devices: the one with least room; None when all agree."""
    rooms = [
        (quota.hard[resource] - quota.used.get(resource, 0), quota.name, quota)
        for quota in (*picture.resource_quotas, *_of_workspace(picture, namespace))
        if quota.namespace == namespace and resource in quota.hard and applies_to(quota, priority_class)
    ]
    room, _, quota = min(rooms, key=lambda item: item[:2], default=(gpus, "", None))
    return quota if room < gpus else None


def _of_workspace(picture: Picture, namespace: str) -> Iterator[ResourceQuota]:
    """Quotas of the KubeSphere workspace that the namespace stands in, as if they were its own."""
    known = picture.namespaces.get(namespace)
    workspace = known.labels.get(WORKSPACE_LABEL) if known is not None else None
    for quota in picture.workspace_quotas:
        if quota.workspace == workspace:
            yield ResourceQuota(namespace, f"{quota.name} of workspace {workspace}", quota.hard, quota.used)
