"""Pods that hold GPUs and do not go away, and pods on nodes where they should not be. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from collector.model.objects import Picture, Pod
from collector.model.snapshot import PoolState
from collector.model.strays import Bystanders, OffPool, Strays, StuckPod
from collector.model.tenancy import UNASSIGNED, Site

STUCK_AFTER_SECONDS: Final = 60.0
"""After the end of its grace period the kubelet kills a pod and reports so within seconds."""
_SYSTEM_PREFIX: Final = "kube-"
"""Namespaces of the cluster itself: what runs there belongs to it."""


def strays(
    picture: Picture, site: Site, owners: Mapping[str, str], pools: Mapping[str, PoolState], now: float
) -> Strays:
    """All of them; `owners`: namespace → tenant."""
    pool_of = {(state.pool.resource, node.name): name for name, state in pools.items() for node in state.nodes}
    return Strays(
        stuck=_stuck(picture.pods.values(), owners, pool_of, now),
        off_pool=_off_pool(picture.pods.values(), site, owners, pool_of),
        bystanders=_bystanders(picture, owners, {node: pool for (_, node), pool in sorted(pool_of.items())}),
    )


def _stuck(
    pods: Iterable[Pod], owners: Mapping[str, str], pool_of: Mapping[tuple[str, str], str], now: float
) -> tuple[StuckPod, ...]:
    found = [
        StuckPod(
            pod.namespace,
            pod.name,
            owners.get(pod.namespace, UNASSIGNED),
            pool_of.get((resource, pod.node), ""),
            pod.node,
            gpus,
            now - pod.deleted_at,
        )
        for pod in pods
        if pod.deleted_at is not None and now - pod.deleted_at > STUCK_AFTER_SECONDS
        if pod.holds_gpus and pod.node is not None
        for resource, gpus in pod.gpus.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.stuck_seconds, one.namespace, one.name)))


def _off_pool(
    pods: Iterable[Pod], site: Site, owners: Mapping[str, str], pool_of: Mapping[tuple[str, str], str]
) -> tuple[OffPool, ...]:
    agreed = {(tenant.name, item.pool) for tenant in site.tenants for item in tenant.entitlements}
    with_pools = {tenant for tenant, _ in agreed}
    held: dict[tuple[str, str], int] = defaultdict(int)
    for pod in pods:
        tenant = owners.get(pod.namespace, UNASSIGNED)
        if not pod.holds_gpus or pod.node is None or tenant not in with_pools:
            continue
        for resource, gpus in pod.gpus.items():
            pool = pool_of.get((resource, pod.node), "")
            if pool and (tenant, pool) not in agreed:
                held[tenant, pool] += gpus
    return tuple(OffPool(tenant, pool, gpus) for (tenant, pool), gpus in sorted(held.items()))


def _bystanders(picture: Picture, owners: Mapping[str, str], pool_of_node: Mapping[str, str]) -> tuple[Bystanders, ...]:
    pods: dict[tuple[str, str], int] = defaultdict(int)
    nodes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in picture.bystanders:
        pool = pool_of_node.get(one.node)
        if pool is None or one.namespace.startswith(_SYSTEM_PREFIX):
            continue
        key = (owners.get(one.namespace, UNASSIGNED), pool)
        pods[key] += 1
        nodes[key].add(one.node)
    return tuple(Bystanders(*key, count, len(nodes[key])) for key, count in sorted(pods.items()))
