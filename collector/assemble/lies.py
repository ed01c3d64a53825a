"""Settings that promise what they can not hold, each with what to change. Pure.

A rule only speaks when every kind it looks at could be read: what is not visible is no lie.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Final

from collector.assemble.capacity import pool_nodes
from collector.assemble.deadlines import unread_deadlines, untidy_classes
from collector.assemble.holdings import holding, promised, quota_groups
from collector.assemble.infer_pools import is_gpu
from collector.assemble.lies_kueue import KUEUE_RULES
from collector.assemble.native_quota import is_guarantee
from collector.model.objects import Picture
from collector.model.quantities import counted
from collector.model.snapshot import Lie, NodeState
from collector.model.tenancy import Engine, Pool, Site, claims

_Rule = Callable[[Picture, Site], Iterable[Lie]]


def lies(picture: Picture, site: Site) -> tuple[Lie, ...]:
    """Everything in the cluster's settings, and between them and the documents, that can not be true."""
    hidden = picture.unreadable.keys() | picture.unserved
    found = [lie for kinds, rule in (*_RULES, *KUEUE_RULES) if hidden.isdisjoint(kinds) for lie in rule(picture, site)]
    return tuple(dict.fromkeys(found))


def _promised_above_capacity(picture: Picture, site: Site) -> Iterator[Lie]:
    """Kueue's nominal quota against the nodes of its flavor."""
    for pool in site.pools:
        nodes = pool_nodes(picture, pool)
        if pool.engine is not Engine.KUEUE or not nodes:
            continue
        yield from _above(pool, promised(picture, (pool.flavor or "", pool.resource)), nodes, "nominal quotas")


def _native_promises_above_capacity(picture: Picture, site: Site) -> Iterator[Lie]:
    """Namespace quotas against the nodes of the native pools with that resource."""
    queued = {door.namespace for door in picture.local_queues}
    for pool in site.pools:
        same = [one for one in site.pools if one.resource == pool.resource and one.engine is Engine.NATIVE]
        if not same or same[0] != pool:
            continue
        nodes = tuple(node for one in same for node in pool_nodes(picture, one))
        granted = sum(
            quota.hard.get(pool.resource, 0)
            for quota in picture.resource_quotas
            if is_guarantee(quota) and quota.namespace not in queued
        )
        if nodes:
            yield from _above(pool, granted, nodes, "ResourceQuotas")


def _above(pool: Pool, amount: int, nodes: tuple[NodeState, ...], what: str) -> Iterator[Lie]:
    total = sum(node.gpus for node in nodes)
    lost = [node for node in nodes if node.unusable]
    usable = total - sum(node.gpus for node in lost)
    if amount > total:
        yield Lie(
            f"pool {pool.name}",
            f"{what} promise {counted(amount, 'GPU')}, its nodes have {total}: above that no guarantee and no "
            f"priority holds. Lower {what} by {amount - total}.",
        )
    elif amount > usable:
        names = ", ".join(f"{node.name} {node.unusable}" for node in lost[:3]) + (", …" if len(lost) > 3 else "")
        yield Lie(
            f"pool {pool.name}",
            f"{what} promise {counted(amount, 'GPU')}, {usable} of {total} are usable now ({names}): work is "
            f"admitted that no node takes. Bring the nodes back, or lower {what} by {amount - usable} until then.",
        )


def _guarantee_above_pool(picture: Picture, site: Site) -> Iterator[Lie]:
    totals = {pool.name: sum(node.gpus for node in pool_nodes(picture, pool)) for pool in site.pools}
    for tenant in site.tenants:
        for item in tenant.entitlements:
            promised_gpus, total = item.guarantee + item.floating, totals.get(item.pool, 0)
            if total and promised_gpus > total:
                yield Lie(
                    f"tenant {tenant.name}",
                    f"Its guarantee and float of {counted(promised_gpus, 'GPU')} are more than the whole pool "
                    f"{item.pool} ({total}). Lower them to what its peers can spare.",
                )


def _document_against_engine(picture: Picture, site: Site) -> Iterator[Lie]:
    """The guarantee in the document against the quota that Kueue holds for the tenant."""
    labels = {name: namespace.labels for name, namespace in picture.namespaces.items()}
    owners = claims(site.tenants, labels)
    groups = quota_groups(picture)
    for tenant in site.tenants:
        own = [group for group in groups if {owners.get(name) for name in group.namespaces} == {tenant.name}]
        places = ", ".join(group.place for group in own) or "no queue of its own"
        for item in tenant.entitlements:
            pool = site.pool(item.pool)
            if pool is None or pool.engine is not Engine.KUEUE:
                continue
            found = [holding(group, (pool.flavor or "", pool.resource)) for group in own]
            held = sum(one.guarantee for one in found if one is not None)
            if held < item.guarantee:
                yield Lie(
                    f"tenant {tenant.name}",
                    f"Its document guarantees {counted(item.guarantee, 'GPU')} of {pool.name}, Kueue holds "
                    f"{held} for it "
                    f"({places}). Raise nominalQuota there by {item.guarantee - held}, or lower the document.",
                )


def _flavors_on_the_same_nodes(picture: Picture, site: Site) -> Iterator[Lie]:
    for one, other in combinations(site.pools, 2):
        if one.resource != other.resource:
            continue
        shared = {node.name for node in pool_nodes(picture, one)} & {n.name for n in pool_nodes(picture, other)}
        if shared:
            yield Lie(
                f"pools {one.name} and {other.name}",
                f"{len(shared)} nodes ({min(shared)}, …) stand in both, so their GPUs are promised twice. "
                "Give each flavor node labels that the other's nodes do not have.",
            )


def _quota_for_an_absent_resource(picture: Picture, site: Site) -> Iterator[Lie]:
    offered = {name for node in picture.nodes.values() for name, count in node.allocatable.items() if count}
    for quota in picture.resource_quotas:
        for resource in sorted(quota.hard):
            if is_gpu(resource) and quota.hard[resource] and resource not in offered:
                yield Lie(
                    f"ResourceQuota {quota.namespace}/{quota.name}",
                    f"It grants {quota.hard[resource]} of {resource}, which no node has. "
                    f"Name what nodes offer: {', '.join(sorted(filter(is_gpu, offered))) or 'nothing at the moment'}.",
                )


def _quota_below_its_use(picture: Picture, site: Site) -> Iterator[Lie]:
    for quota in picture.resource_quotas:
        for resource, limit in sorted(quota.hard.items()):
            used = quota.used.get(resource, 0)
            if is_gpu(resource) and used > limit:
                yield Lie(
                    f"ResourceQuota {quota.namespace}/{quota.name}",
                    f"Its limit of {limit} {resource} stands below the {used} in use: a lowered quota evicts nobody. "
                    "End the work by hand, or raise the limit to what is true.",
                )


def _two_quotas_contradict(picture: Picture, site: Site) -> Iterator[Lie]:
    """A namespace that Kueue admits to and whose ResourceQuota then refuses the pods."""
    granted: dict[tuple[str, str], int] = defaultdict(int)
    for group in quota_groups(picture):
        for pool in site.pools:
            found = holding(group, (pool.flavor or "", pool.resource)) if pool.engine is Engine.KUEUE else None
            for namespace in group.namespaces if found else ():
                granted[namespace, pool.resource] += found.guarantee + found.floating if found else 0
    for quota in picture.resource_quotas:
        for resource, limit in sorted(quota.hard.items()):
            admitted = granted.get((quota.namespace, resource), 0)
            if is_guarantee(quota) and limit < admitted:
                yield Lie(
                    f"ResourceQuota {quota.namespace}/{quota.name}",
                    f"Kueue may admit {admitted} {resource} here, and this quota refuses pods above {limit}: admitted "
                    f"work never gets its pods. Raise it to {admitted}, or leave GPUs to Kueue alone.",
                )


def _one_counter_for_several_models(picture: Picture, site: Site) -> Iterator[Lie]:
    by_resource: dict[str, list[str]] = defaultdict(list)
    for pool in site.pools:
        if pool.engine is Engine.NATIVE:
            by_resource[pool.resource].append(pool.name)
    for resource, names in sorted(by_resource.items()):
        namespaces = sorted({quota.namespace for quota in picture.resource_quotas if quota.hard.get(resource)})
        if len(names) > 1 and namespaces:
            yield Lie(
                f"ResourceQuotas in {', '.join(namespaces[:3])}{', …' if len(namespaces) > 3 else ''}",
                f"They count {resource} whatever its model, so they guarantee none of {', '.join(sorted(names))}. "
                "Queue the pools with Kueue flavors, or offer each model under a resource name of its own.",
            )


def _borrow_class(picture: Picture, site: Site) -> Iterator[Lie]:
    for pool in site.pools:
        if pool.borrow_class is None:
            continue
        found = picture.priority_classes.get(pool.borrow_class)
        if found is None:
            yield Lie(f"pool {pool.name}", f"Its borrow class {pool.borrow_class} does not exist. Create it.")
        elif found.value >= 0:
            yield Lie(
                f"PriorityClass {found.name}",
                f"Its value {found.value} is not below that of ordinary work (0), which then can not preempt what is "
                "borrowed. A value is fixed for life: delete the class and make it anew with -1000.",
            )


_RULES: Final[tuple[tuple[tuple[str, ...], _Rule], ...]] = (
    (("nodes", "clusterqueues", "cohorts"), _promised_above_capacity),
    (("nodes", "resourcequotas"), _native_promises_above_capacity),
    (("nodes",), _guarantee_above_pool),
    (("namespaces", "localqueues", "clusterqueues", "cohorts"), _document_against_engine),
    (("nodes",), _flavors_on_the_same_nodes),
    (("nodes", "resourcequotas"), _quota_for_an_absent_resource),
    (("resourcequotas",), _quota_below_its_use),
    (("resourcequotas", "localqueues", "clusterqueues", "cohorts"), _two_quotas_contradict),
    (("resourcequotas",), _one_counter_for_several_models),
    (("priorityclasses",), _borrow_class),
    (("jobs",), lambda picture, site: unread_deadlines(picture)),
    (("workloadpriorityclasses",), lambda picture, site: untidy_classes(picture)),
)
