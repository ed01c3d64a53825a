"""A site out of what stands in the cluster: pools, tenants and what the engine grants them, no configuration. Pure.

Everything inferred comes with its reason, so that a person can check it before it becomes a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from collector.assemble.capacity import SHARED_LEAF, leaf_name
from collector.assemble.holdings import Holding, QuotaGroup, holding, quota_groups
from collector.assemble.infer_pools import infer_pools, is_gpu, slug, unique
from collector.assemble.native_quota import native_holding, pool_of_namespaces
from collector.model.objects import Namespace, Picture
from collector.model.tenancy import (
    UNASSIGNED,
    WORKSPACE_LABEL,
    Engine,
    Entitlement,
    Members,
    Objective,
    ObjectiveKind,
    Pool,
    Site,
    SizeClass,
    Tenant,
    Tier,
)

INFERRED_TIER: Final = Tier(
    "standard",
    50,
    {SizeClass.SINGLE_NODE: 900.0, SizeClass.SMALL_GANG: 3600.0, SizeClass.LARGE_GANG: 14400.0},
)
_RESERVED: Final = (UNASSIGNED, SHARED_LEAF.removeprefix(leaf_name("")))
_START: Final = Objective("start", ObjectiveKind.QUEUE_WAIT, target=0.99, window_seconds=28 * 86400.0)


@dataclass(frozen=True, slots=True)
class Inferred:
    """A site nobody wrote, and for each part (by name) from what it was inferred."""

    site: Site
    pool_reasons: Mapping[str, str] = field(default_factory=dict)
    tenant_reasons: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What a person should decide: quota shared by tenants, classes that may become tiers."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where a tenant comes from; all namespaces with the same origin are one tenant."""

    name: str
    source: str
    workspace: str | None = None


@dataclass(slots=True)
class _Draft:
    """A tenant in the making."""

    origin: _Origin
    namespaces: set[str] = field(default_factory=set)
    groups: list[QuotaGroup] = field(default_factory=list)


def infer_site(picture: Picture, cluster: str) -> Inferred:
    """Pools, one tier, and the tenants that have to do with GPUs, as the cluster shows them."""
    pools, pool_reasons = infer_pools(picture)
    groups = [group for group in quota_groups(picture) if _has_gpus(group)]
    drafts = _draft_tenants(_origins(picture, groups))
    notes = _hand_out(groups, drafts)
    tenants = [_tenant(picture, pools, name, draft) for name, draft in sorted(drafts.items())]
    classes = sorted(picture.workload_priority_classes)
    if classes:
        listed = ", ".join(classes[:5]) + (", …" if len(classes) > 5 else "")
        notes.append(f"one tier was assumed; these WorkloadPriorityClasses may stand for more: {listed}")
    return Inferred(
        Site(cluster, pools, (INFERRED_TIER,), tuple(tenants)),
        pool_reasons,
        {name: draft.origin.source for name, draft in drafts.items()},
        tuple(notes),
    )


def with_known_namespaces(picture: Picture) -> Picture:
    """The picture with namespaces that only their content tells of, where namespaces themselves may not be read."""
    if "namespaces" not in picture.unreadable:
        return picture
    known = {name: Namespace(name, {}) for name in sorted(gpu_namespaces(picture))}
    return replace(picture, namespaces={**known, **picture.namespaces})


def gpu_namespaces(picture: Picture) -> frozenset[str]:
    """Namespaces that hold, ask for, or have quota of GPUs."""
    found = {pod.namespace for pod in picture.pods.values() if _asks(pod.gpus)}
    found |= {job.namespace for job in picture.jobs.values() if _asks(job.gpus_per_pod)}
    found |= {
        workload.namespace
        for workload in picture.workloads.values()
        if any(_asks(part.gpus_per_pod) for part in workload.pod_sets)
    }
    found |= {quota.namespace for quota in picture.resource_quotas if any(map(is_gpu, quota.hard))}
    for door in picture.local_queues:
        queue = picture.cluster_queues.get(door.cluster_queue)
        if queue is not None and any(is_gpu(resource) for _, resource in queue.quotas):
            found.add(door.namespace)
    return frozenset(found)


def _asks(gpus: Mapping[str, int]) -> bool:
    return any(count > 0 and is_gpu(resource) for resource, count in gpus.items())


def _origins(picture: Picture, groups: Iterable[QuotaGroup]) -> Mapping[str, _Origin]:
    """Namespace → where its tenant comes from: its workspace, else the quota most its own, else itself."""
    relevant = gpu_namespaces(picture)
    primary = _primary_groups(groups)
    found: dict[str, _Origin] = {}
    for name in sorted(relevant):
        namespace = picture.namespaces.get(name)
        workspace = namespace.labels.get(WORKSPACE_LABEL) if namespace else None
        group = primary.get(name)
        if workspace:
            found[name] = _Origin(workspace, f"KubeSphere workspace {workspace}", workspace)
        elif group is not None:
            found[name] = _Origin(group.tenant_name, f"{group.place} and the LocalQueues that lead to it")
        else:
            found[name] = _Origin(name, "a namespace with GPUs that no workspace and no queue claims")
    return found


def _primary_groups(groups: Iterable[QuotaGroup]) -> Mapping[str, QuotaGroup]:
    """For each namespace the holder that is most its own: with the fewest namespaces, then by name."""
    found: dict[str, QuotaGroup] = {}
    for group in sorted(groups, key=lambda item: (len(item.namespaces), item.name)):
        for namespace in group.namespaces:
            found.setdefault(namespace, group)
    return found


def _draft_tenants(origins: Mapping[str, _Origin]) -> dict[str, _Draft]:
    """One draft per origin, under a name of its own."""
    drafts: dict[str, _Draft] = {}
    names: dict[_Origin, str] = {}
    for namespace, origin in origins.items():
        if origin not in names:
            wanted = slug(origin.name)
            names[origin] = unique(f"{wanted}-tenant" if wanted in _RESERVED else wanted, drafts.__contains__)
            drafts[names[origin]] = _Draft(origin)
        drafts[names[origin]].namespaces.add(namespace)
    return drafts


def _hand_out(groups: Iterable[QuotaGroup], drafts: Mapping[str, _Draft]) -> list[str]:
    """Give each holder's quota to the one tenant behind it; what several share is nobody's guarantee."""
    owner = {namespace: name for name, draft in drafts.items() for namespace in draft.namespaces}
    notes: list[str] = []
    for group in groups:
        tenants = sorted({owner[namespace] for namespace in group.namespaces if namespace in owner})
        if len(tenants) == 1:
            drafts[tenants[0]].groups.append(group)
        elif tenants:
            notes.append(f"{group.place} is shared by {', '.join(tenants)}: its quota counts as nobody's guarantee")
    return notes


def _has_gpus(group: QuotaGroup) -> bool:
    own = group.cohort.quotas if group.cohort else {}
    return any(is_gpu(resource) for queue in group.queues for _, resource in (*queue.quotas, *own))


def _tenant(picture: Picture, pools: Iterable[Pool], name: str, draft: _Draft) -> Tenant:
    namespaces = frozenset(draft.namespaces)
    native = pool_of_namespaces(picture, [pool for pool in pools if pool.engine is Engine.NATIVE], namespaces)
    entitlements: list[Entitlement] = []
    for pool in pools:
        found = _kueue_holding(draft.groups, pool) if pool.engine is Engine.KUEUE else None
        if pool == native:
            found = native_holding(picture, pool, namespaces)
        if found is not None:
            entitlements.append(Entitlement(pool.name, found.guarantee, found.floating, ceiling=found.ceiling))
    workspace = draft.origin.workspace
    if workspace is None or (native is not None and len(namespaces) == 1):
        members = Members(namespaces)  # a tenant of a native pool has one namespace, and by name
    else:
        members = Members(workspaces=frozenset((workspace,)))
    promised = any(item.guarantee + item.floating for item in entitlements)
    return Tenant(name, INFERRED_TIER.name, members, tuple(entitlements), (_START,) if promised else ())


def _kueue_holding(groups: Iterable[QuotaGroup], pool: Pool) -> Holding | None:
    found = [item for group in groups if (item := holding(group, (pool.flavor or "", pool.resource))) is not None]
    if not found:
        return None
    ceilings = [item.ceiling for item in found if item.ceiling is not None]
    return Holding(
        sum(item.guarantee for item in found),
        sum(item.floating for item in found),
        sum(ceilings) if len(ceilings) == len(found) else None,
    )
