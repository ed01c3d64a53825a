"""Nodes and quota: what each pool holds, and what each tenant was given in the engine right now. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from collector.model.objects import Cohort, Node, Picture
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import NodeState, PoolState
from collector.model.tenancy import Engine, Pool

SHARED_LEAF = "trimtab-shared"
"""Trimtab's own Cohort for what is lent to everybody."""


CAP_NAME = "trimtab-cap"
"""Trimtab's own ResourceQuota in a namespace of a native pool, scoped to the borrow class."""


def leaf_name(tenant: str) -> str:
    """Name of Trimtab's own Cohort that holds the floating part of a tenant."""
    return f"trimtab-{tenant}"


def held_by_node(picture: Picture, resource: str) -> Mapping[str, int]:
    """Node → devices held by pods that are bound there and not finished (terminating ones included)."""
    held: dict[str, int] = defaultdict(int)
    for pod in picture.pods.values():
        if pod.holds_gpus and pod.node is not None:
            held[pod.node] += pod.gpus.get(resource, 0)
    return held


def pool_nodes(picture: Picture, pool: Pool) -> tuple[NodeState, ...]:
    """The pool's nodes in order of name, with what is held there and why a node can not be used."""
    held = held_by_node(picture, pool.resource)
    return tuple(
        NodeState(
            node.name,
            node.allocatable[pool.resource],
            held.get(node.name, 0),
            _unusable(node),
            max(0, node.capacity.get(pool.resource, 0) - node.allocatable[pool.resource]),
        )
        for node in sorted(picture.nodes.values(), key=lambda node: node.name)
        if _offers(node, pool.resource) and _selected(node, pool.node_selector)
    )


def _offers(node: Node, resource: str) -> bool:
    """Whether it has such devices, also when all of them are unhealthy now."""
    offered = node.allocatable.get(resource)
    return offered is not None and max(offered, node.capacity.get(resource, 0)) > 0


def _selected(node: Node, selector: Mapping[str, str]) -> bool:
    return all(node.labels.get(key) == value for key, value in selector.items())


_EXPECTED_TAINTS = ("nvidia.com/gpu", "amd.com/gpu")
"""Taints that keep other work away from GPU nodes; GPU pods tolerate them."""


_PRESSURE_TAINTS = {
    "node.kubernetes.io/disk-pressure": "disk",
    "node.kubernetes.io/memory-pressure": "memory",
    "node.kubernetes.io/pid-pressure": "processes",
    "node.kubernetes.io/network-unavailable": "network",
}
"""Taints by which the node controller says what a node is short of."""


def _unusable(node: Node) -> str | None:
    if not node.ready:
        return "not ready"
    if node.cordoned:
        return "cordoned"
    pressed = [_PRESSURE_TAINTS[key] for key in node.hard_taints if key in _PRESSURE_TAINTS]
    if pressed:
        return f"under pressure ({pressed[0]})"
    taints = [key for key in node.hard_taints if key not in _EXPECTED_TAINTS]
    return f"tainted {taints[0]}" if taints else None


def root_cohort(cohorts: Mapping[str, Cohort], name: str) -> str:
    """The topmost Cohort above `name`; a cycle ends where it closes."""
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        cohort = cohorts.get(name)
        if cohort is None or cohort.parent is None:
            return name
        name = cohort.parent
    return name


def kueue_quota_total(picture: Picture, pool: Pool) -> Reading[int]:
    """Sum of nominal quota for the pool's flavor over all ClusterQueues and Cohorts."""
    problem = _unreadable(picture, ("clusterqueues", "cohorts"))
    if problem is not None:
        return problem
    key = (pool.flavor or "", pool.resource)
    quotas = [queue.quotas for queue in picture.cluster_queues.values()]
    quotas += [cohort.quotas for cohort in picture.cohorts.values()]
    total = sum(held[key].nominal for held in quotas if key in held)
    return Known(total, picture.age_seconds)


def leaf_amount(picture: Picture, leaf: str, pool: Pool) -> Reading[int]:
    """What Trimtab's own Cohort `leaf` holds of the pool now; a missing Cohort holds nothing."""
    problem = _unreadable(picture, ("cohorts",))
    if problem is not None:
        return problem
    cohort = picture.cohorts.get(leaf)
    quota = cohort.quotas.get((pool.flavor or "", pool.resource)) if cohort is not None else None
    return Known(quota.nominal if quota is not None else 0, picture.age_seconds)


def floating_now(picture: Picture, tenant: str, pool: Pool, namespaces: Iterable[str]) -> Reading[int]:
    """The tenant's movable part as the engine holds it now: its leaf Cohort, or the caps of its namespaces."""
    if pool.engine is Engine.KUEUE:
        return leaf_amount(picture, leaf_name(tenant), pool)
    return cap_amount(picture, frozenset(namespaces), pool)


def cap_amount(picture: Picture, namespaces: frozenset[str], pool: Pool) -> Reading[int]:
    """What Trimtab's own caps allow of the borrow class in these namespaces; no cap is no limit, hence Unknown."""
    problem = _unreadable(picture, ("resourcequotas",))
    if problem is not None:
        return problem
    caps = {
        quota.namespace: quota.hard[pool.resource]
        for quota in picture.resource_quotas
        if quota.name == CAP_NAME and quota.namespace in namespaces and pool.resource in quota.hard
    }
    bare = sorted(namespaces - set(caps))
    if bare or not caps:
        return Unknown(f"namespace {bare[0] if bare else '(none)'} has no {CAP_NAME} for {pool.resource}")
    return Known(sum(caps.values()), picture.age_seconds)


def _unreadable(picture: Picture, kinds: Iterable[str]) -> Unknown | None:
    for kind in kinds:
        if kind in picture.unreadable:
            return Unknown(f"{kind} not readable: {picture.unreadable[kind]}")
    return None


def pool_state(picture: Picture, pool: Pool, reserved: int) -> PoolState:
    """The pool as it stands, `reserved` being the quota in use by admitted work."""
    quota = kueue_quota_total(picture, pool) if pool.engine is Engine.KUEUE else Unknown("native quota is not summed")
    return PoolState(pool, pool_nodes(picture, pool), quota, reserved)
