"""One snapshot as metric families, made anew for each scrape: nothing lingers, and what is unknown is left out.

Every name and label set comes from the catalogue. A family is missing, never zero, while a kind of object that it is
made of can not be read, or while the picture is too old; what stands in the documents alone (guarantees) stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from collector.assemble.clocks import QueueKey, WaitClocks
from collector.assemble.eviction_costs import EvictionCosts
from collector.assemble.gang_devices import GpuTroubles
from collector.assemble.gangs import queue_key
from collector.assemble.idle_held import GpuUse
from collector.exporter.eviction_families import eviction_families
from collector.exporter.family import Rows, family
from collector.exporter.health import HealthState
from collector.exporter.health_families import blindness_families, collector_families
from collector.exporter.stray_families import shape_families, share_families, stray_families
from collector.exporter.trouble_families import trouble_families
from collector.model.objects import CephVolume
from collector.model.reading import Known, Reading, Unknown, mapped
from collector.model.snapshot import PoolState, Snapshot, TenantPool, WaitingName, Work
from collector.model.tenancy import UNASSIGNED

OF_NAMESPACES: Final = frozenset({"namespaces"})
OF_NODES: Final = frozenset({"nodes", "pods"})
OF_WORK: Final = frozenset({"namespaces", "nodes", "pods", "jobs", "workloads", "localqueues", "clusterqueues"})
"""Kinds of objects that each group of families is made of."""

UNUSABLE_REASONS: Final = ("not ready", "cordoned", "under pressure", "tainted")
"""With these the `unusable` of a node begins; the key of a taint is left out, since anybody can invent one."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the last tick left for the exporter. Immutable."""

    cluster: str
    snapshot: Snapshot | None = None
    """None: no picture of the cluster yet."""
    clocks: WaitClocks = field(default_factory=WaitClocks)
    queues: frozenset[QueueKey] = frozenset()
    """Queues that exist now, also empty ones."""
    uses: Mapping[tuple[str, str], GpuUse] | None = None
    """(tenant, pool) → what its pods hold; None while that can not be read."""
    costs: EvictionCosts = field(default_factory=EvictionCosts)
    troubles: GpuTroubles | None = None
    """Gangs that do not get on, GPUs that are not well; None while no GPU is read."""
    unreadable: frozenset[str] = frozenset()
    """Kinds of objects that could not be read."""
    picture_age_seconds: float = 0.0
    """Age of the picture when the snapshot was taken."""
    volumes: tuple[CephVolume, ...] | None = None
    """None: whose volume is whose is not known."""

    def age_seconds(self, now: float) -> float:
        """Age of the picture at `now`: grows when the loop stands still."""
        return self.picture_age_seconds + (max(0.0, now - self.snapshot.taken_at) if self.snapshot else 0.0)


class SnapshotCollector(Collector):
    """Gives a registry what was published last. Asked in the threads of the HTTP server."""

    def __init__(
        self,
        published: Callable[[], Published],
        health: Callable[[], HealthState],
        clock: Callable[[], float],
        stale_after_seconds: float,
        version: str,
    ) -> None:
        self._published, self._health, self._clock = published, health, clock
        self._stale_after_seconds, self._version = stale_after_seconds, version

    def collect(self) -> Iterator[Family]:
        """All families of this moment."""
        published = self._published()
        now, health = self._clock(), self._health()
        yield from cluster_families(published, now, self._stale_after_seconds)
        yield from collector_families(health, published.cluster, self._version)
        yield from blindness_families(health, published.cluster, "", now)

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


def cluster_families(published: Published, now: float, stale_after_seconds: float) -> Iterator[Family]:
    """The families about the cluster that can be vouched for at `now`."""
    snapshot = published.snapshot
    if snapshot is None:
        return
    cluster = published.cluster
    yield family("trimtab_tenant_guarantee_gpus", _tenants(snapshot, cluster, lambda it: it.entitlement.guarantee))
    if published.age_seconds(now) > stale_after_seconds:
        return
    if published.unreadable.isdisjoint(OF_NAMESPACES):
        yield family("trimtab_tenant_namespace_info", _namespaces(snapshot, cluster))
    if published.unreadable.isdisjoint(OF_NODES):
        yield from _pool_families(snapshot, cluster)
        yield from shape_families(snapshot, cluster)
        yield from share_families(snapshot, cluster)
    if published.unreadable.isdisjoint(OF_NODES | OF_NAMESPACES):
        yield from stray_families(snapshot, cluster)
    if published.uses is not None:
        yield from _holding_families(snapshot, published.uses, cluster)
    if published.unreadable.isdisjoint(OF_WORK):
        yield from _tenant_families(snapshot, cluster)
        if published.troubles is not None:
            yield from trouble_families(published.troubles, snapshot, cluster)
        yield from _queue_families(published, snapshot)
        yield from eviction_families(published.costs, cluster)


def _tenant_families(snapshot: Snapshot, cluster: str) -> Iterator[Family]:
    amounts: Mapping[str, Callable[[TenantPool], int | Reading[float]]] = {
        "trimtab_tenant_entitled_gpus": lambda it: it.demand,
        "trimtab_tenant_shortfall_gpus": lambda it: it.shortfall,
        "trimtab_tenant_reserved_gpus": lambda it: it.reserved,
        "trimtab_tenant_running_gpus": lambda it: it.running,
        "trimtab_tenant_floating_gpus": lambda it: mapped(it.floating_now, float),
        "trimtab_tenant_borrowed_gpus": _borrowed,
        "trimtab_tenant_idle_held_gpus": lambda it: it.idle_held,
    }
    for name, amount in amounts.items():
        yield family(name, _tenants(snapshot, cluster, amount))


def _holding_families(snapshot: Snapshot, uses: Mapping[tuple[str, str], GpuUse], cluster: str) -> Iterator[Family]:
    """Also a zero for whoever holds nothing: the sum over all tenants must be seen to be whole."""
    keys = {(item.tenant, item.pool) for item in snapshot.tenants} | {(UNASSIGNED, pool) for pool in snapshot.pools}
    ordered = [(key, uses.get(key, GpuUse())) for key in sorted(keys | uses.keys())]
    yield family("trimtab_tenant_held_gpus", (((cluster, *key), float(use.held)) for key, use in ordered))
    yield family("trimtab_tenant_unjudged_gpus", (((cluster, *key), float(use.unjudged)) for key, use in ordered))
    coverage = (((cluster, *key), 1 - use.unjudged / use.held) for key, use in ordered if use.held)
    yield family("trimtab_tenant_coverage_ratio", coverage)


def _borrowed(item: TenantPool) -> Reading[float]:
    entitled = item.entitled_now
    return entitled if isinstance(entitled, Unknown) else Known(float(item.borrowed()), entitled.age_seconds)


def _tenants(snapshot: Snapshot, cluster: str, amount: Callable[[TenantPool], int | Reading[float]]) -> Rows:
    for item in snapshot.tenants:
        value = amount(item)
        if isinstance(value, int):
            yield (cluster, item.tenant, item.pool), float(value)
        elif isinstance(value, Known):
            yield (cluster, item.tenant, item.pool), value.value


def _namespaces(snapshot: Snapshot, cluster: str) -> Rows:
    return (((cluster, namespace, tenant), 1.0) for namespace, tenant in sorted(snapshot.namespace_tenants.items()))


def _pool_families(snapshot: Snapshot, cluster: str) -> Iterator[Family]:
    pools = sorted(snapshot.pools.items())
    capacity = (((cluster, name), float(sum(node.gpus for node in state.nodes))) for name, state in pools)
    yield family("trimtab_pool_capacity_gpus", capacity)
    allocatable = (((cluster, name), float(state.allocatable)) for name, state in pools)
    yield family("trimtab_pool_allocatable_gpus", allocatable)
    free = (((cluster, name), float(state.free)) for name, state in pools)
    yield family("trimtab_pool_free_gpus", free)
    unusable = (
        ((cluster, name, reason), float(gpus)) for name, state in pools for reason, gpus in _unusable(state).items()
    )
    yield family("trimtab_pool_unusable_gpus", unusable)


def _unusable(state: PoolState) -> Mapping[str, int]:
    """Why no work may start there → GPUs that no pod holds there. Every reason, so that none is a zero and no gap."""
    gpus = dict.fromkeys(UNUSABLE_REASONS, 0)
    for node in state.nodes:
        if node.unusable is not None:
            reason = next(reason for reason in UNUSABLE_REASONS if node.unusable.startswith(reason))
            gpus[reason] += max(0, node.gpus - node.held)
    return gpus


def _queue_families(published: Published, snapshot: Snapshot) -> Iterator[Family]:
    waiting: dict[QueueKey, list[Work]] = {key: [] for key in published.queues}
    for work in snapshot.works:
        if work.waits and work.sent_from is None:
            waiting.setdefault(queue_key(work), []).append(work)
    ordered = sorted(waiting.items())
    cluster = published.cluster
    yield family("trimtab_queue_oldest_pending_seconds", (((cluster, *key), _oldest(works)) for key, works in ordered))
    yield family(
        "trimtab_queue_pending_workloads",
        (
            ((cluster, *key, name), float(count))
            for key, works in ordered
            for name, count in sorted(_by_name(works).items())
        ),
    )
    totals = published.clocks
    waits = (((cluster, *key), seconds) for key, seconds in sorted(totals.wait_seconds_total.items()))
    yield family("trimtab_workload_wait_seconds_total", waits)
    evictions = (((cluster, *key), float(count)) for key, count in sorted(totals.evictions_total.items()))
    yield family("trimtab_workload_evictions_total", evictions)


def _oldest(works: Iterable[Work]) -> float:
    """The longest wait of eligible work; 0 for an empty queue, which is a fact and not a gap."""
    return max((work.waited_seconds for work in works if work.ineligible is None), default=0.0)


def _by_name(works: Iterable[Work]) -> Mapping[WaitingName, int]:
    counts: dict[WaitingName, int] = defaultdict(int)
    counts[WaitingName.WITHIN_LIMIT] = 0  # so that an empty queue is seen to be empty
    for work in works:
        if work.waiting is not None:
            counts[work.waiting] += 1
    return counts
