"""Who is who: tenants, what they were promised, pools and tiers, and which tenant a namespace belongs to. Pure.

The documents people write (`controller.api.documents`) become these values once they have been validated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

UNASSIGNED: Final = "unassigned"
"""The tenant of every namespace that nobody claims. It always exists, has no entitlement and no objective."""

INTERACTIVE_LABEL: Final = "trimtab.io/interactive"
WORKSPACE_LABEL: Final = "kubesphere.io/workspace"


class SizeClass(StrEnum):
    """How large a gang is: objectives for waiting are set per size."""

    INTERACTIVE = "interactive"
    SINGLE_NODE = "single-node"
    SMALL_GANG = "small-gang"
    LARGE_GANG = "large-gang"
    RESERVATION = "reservation"
    """Larger than a quarter of its pool, or than the tenant's burst: served by reservation, never judged."""


class Engine(StrEnum):
    """Which quota system serves a pool."""

    KUEUE = "kueue"
    NATIVE = "native"


@dataclass(frozen=True, slots=True)
class Pool:
    """GPUs that can replace each other: one extended resource on the nodes that a selector names."""

    name: str
    resource: str
    node_selector: Mapping[str, str]
    engine: Engine
    flavor: str | None = None
    """Kueue: name of the ResourceFlavor."""
    borrow_class: str | None = None
    """Native: name of the preemptible PriorityClass for work beyond the guarantee."""


@dataclass(frozen=True, slots=True)
class Tier:
    """A class of service. `start_within_seconds` holds a limit per size; a size without a limit is not judged."""

    name: str
    rank: int
    start_within_seconds: Mapping[SizeClass, float]


@dataclass(frozen=True, slots=True)
class Entitlement:
    """What a tenant may use of one pool, in GPUs."""

    pool: str
    guarantee: int
    floating: int = 0
    """Agreed movable part: the baseline that every change returns to."""
    burst: int | None = None
    ceiling: int | None = None

    @property
    def burst_gpus(self) -> int:
        """Up to here waits count; by default guarantee and floating."""
        return self.guarantee + self.floating if self.burst is None else self.burst


class ObjectiveKind(StrEnum):
    """What an objective is about."""

    QUEUE_WAIT = "queue-wait"
    EVICTION_LOSS = "eviction-loss"
    SHARE = "share"
    RDMA_LATENCY = "rdma-latency"
    STORAGE_LATENCY = "storage-latency"
    AVAILABILITY = "availability"


@dataclass(frozen=True, slots=True)
class Objective:
    """A service-level objective: `target` is the ratio of good over all within `window_seconds`."""

    name: str
    kind: ObjectiveKind
    target: float
    window_seconds: float
    pool: str | None = None
    """None: all pools of the tenant."""
    quantile: float | None = None
    within_seconds: float | None = None
    within_baseline_factor: float | None = None
    storage: str | None = None


@dataclass(frozen=True, slots=True)
class Members:
    """What belongs to a tenant; a namespace belongs to exactly one."""

    namespaces: frozenset[str] = frozenset()
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    local_queues: frozenset[tuple[str, str]] = frozenset()
    """(namespace, queue): a queue claims its namespace."""
    workspaces: frozenset[str] = frozenset()

    def claim(self, namespace: str, labels: Mapping[str, str]) -> str | None:
        """Why `namespace` belongs here, in words, or None."""
        if namespace in self.namespaces:
            return "members.namespaces"
        if any(queue_namespace == namespace for queue_namespace, _ in self.local_queues):
            return "members.localQueues"
        if labels.get(WORKSPACE_LABEL) in self.workspaces:
            return "members.kubesphereWorkspaces"
        wanted = self.namespace_labels.items()
        if wanted and all(labels.get(key) == value for key, value in wanted):
            return "members.namespaceSelector"
        return None


@dataclass(frozen=True, slots=True)
class Tenant:
    """Who has objectives and quota."""

    name: str
    tier: str
    members: Members = Members()
    entitlements: tuple[Entitlement, ...] = ()
    objectives: tuple[Objective, ...] = ()

    def entitlement(self, pool: str) -> Entitlement | None:
        """What the tenant may use of `pool`; None when nothing was agreed."""
        return next((item for item in self.entitlements if item.pool == pool), None)


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that was agreed: pools, tiers and tenants of one cluster."""

    cluster: str
    pools: tuple[Pool, ...]
    tiers: tuple[Tier, ...]
    tenants: tuple[Tenant, ...]

    def pool(self, name: str) -> Pool | None:
        """The pool of that name."""
        return next((pool for pool in self.pools if pool.name == name), None)

    def tier(self, name: str) -> Tier | None:
        """The tier of that name."""
        return next((tier for tier in self.tiers if tier.name == name), None)

    def tenant(self, name: str) -> Tenant | None:
        """The tenant of that name, `unassigned` included."""
        found = (tenant for tenant in self.tenants if tenant.name == name)
        return next(found, Tenant(UNASSIGNED, tier="") if name == UNASSIGNED else None)

    def scaled(self, time_scale: float) -> Site:
        """The same site with every duration divided by `time_scale` (demos, replays)."""
        tiers = tuple(
            replace(tier, start_within_seconds={k: v / time_scale for k, v in tier.start_within_seconds.items()})
            for tier in self.tiers
        )
        tenants = tuple(
            replace(
                tenant,
                objectives=tuple(replace(o, window_seconds=o.window_seconds / time_scale) for o in tenant.objectives),
            )
            for tenant in self.tenants
        )
        return replace(self, tiers=tiers, tenants=tenants)


@dataclass(frozen=True, slots=True)
class DoubleClaim:
    """A namespace that two tenants claim: a mistake in the documents that a person must settle."""

    namespace: str
    tenants: tuple[str, ...]
    reasons: tuple[str, ...]


def claims(tenants: Iterable[Tenant], namespaces: Mapping[str, Mapping[str, str]]) -> Mapping[str, str | DoubleClaim]:
    """For each namespace (name → labels): the tenant's name, `unassigned`, or the double claim."""
    owners: dict[str, str | DoubleClaim] = {}
    ordered = sorted(tenants, key=lambda tenant: tenant.name)
    for namespace, labels in namespaces.items():
        found = [(t.name, why) for t in ordered if (why := t.members.claim(namespace, labels)) is not None]
        if len(found) > 1:
            owners[namespace] = DoubleClaim(namespace, tuple(n for n, _ in found), tuple(w for _, w in found))
        else:
            owners[namespace] = found[0][0] if found else UNASSIGNED
    return owners


def size_class(
    *, interactive: bool, gpus: int, pods: int, gpus_per_node: int, pool_gpus: int, burst_gpus: int
) -> SizeClass:
    """The size of a gang of `pods` pods with `gpus` GPUs in all; the last three say what it is measured against."""
    if gpus > burst_gpus > 0:
        return SizeClass.RESERVATION
    if interactive:
        return SizeClass.INTERACTIVE
    nodes = min(max(1, math.ceil(gpus / max(1, gpus_per_node))), max(1, pods))
    if nodes == 1:
        return SizeClass.SINGLE_NODE
    if nodes <= 8:
        return SizeClass.SMALL_GANG
    return SizeClass.LARGE_GANG if gpus * 4 <= pool_gpus else SizeClass.RESERVATION
