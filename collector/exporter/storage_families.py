"""The storage of tenants and the Ceph behind it as metric families, made anew for each scrape.

What is unknown is left out: no latency when nothing completed, no tenant while its volumes can not be told. Of single
volumes only those that move most have numbers, so that the series of a large site stay few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from collector.assemble.ceph_memory import CephState
from collector.assemble.disturbances import Disturbance, Scope, disturbances
from collector.assemble.storage import (
    CEPHFS,
    RBD,
    TenantStorage,
    VolumeStorage,
    limit_seconds,
    pool_latency_seconds,
    tenant_storage,
    unattributed_ratio,
    volume_storage,
)
from collector.exporter.families import Published
from collector.exporter.family import Rows, family
from collector.model.objects import CephVolume, FsVolume
from collector.model.reading import Known, Reading, Unknown, mapped
from collector.model.tenancy import UNASSIGNED, Site
from collector.parse.ceph import OsdReading, Transfer
from collector.parse.ceph_cluster import Amount, PoolReading

BUSIEST: Final = 50
_UNKNOWN: Final = Unknown("not told")

_OF_TENANTS: Final[Mapping[str, Callable[[TenantStorage], Reading[float]]]] = {
    "trimtab_storage_read_latency_seconds": lambda it: it.read_latency_seconds,
    "trimtab_storage_write_latency_seconds": lambda it: it.write_latency_seconds,
    "trimtab_storage_read_worst_latency_seconds": lambda it: _or_unknown(it.worst.read),
    "trimtab_storage_write_worst_latency_seconds": lambda it: _or_unknown(it.worst.write),
    "trimtab_storage_read_operations_per_second": lambda it: mapped(it.read, _operations_per_second),
    "trimtab_storage_write_operations_per_second": lambda it: mapped(it.write, _operations_per_second),
    "trimtab_storage_read_bytes_per_second": lambda it: mapped(it.read, _bytes_per_second),
    "trimtab_storage_write_bytes_per_second": lambda it: mapped(it.write, _bytes_per_second),
    "trimtab_storage_read_burstiness_ratio": lambda it: it.read_burstiness,
    "trimtab_storage_write_burstiness_ratio": lambda it: it.write_burstiness,
    "trimtab_storage_stalled": lambda it: mapped(it.stalled, float),
}
_OF_VOLUMES: Final[Mapping[str, Callable[[VolumeStorage], Reading[float]]]] = {
    "trimtab_storage_volume_read_operations_per_second": lambda it: mapped(it.read, _operations_per_second),
    "trimtab_storage_volume_write_operations_per_second": lambda it: mapped(it.write, _operations_per_second),
    "trimtab_storage_volume_read_bytes_per_second": lambda it: mapped(it.read, _bytes_per_second),
    "trimtab_storage_volume_write_bytes_per_second": lambda it: mapped(it.write, _bytes_per_second),
    "trimtab_storage_volume_write_burstiness_ratio": lambda it: it.write_burstiness,
}
_OF_OSDS: Final[Mapping[str, Callable[[OsdReading], Reading[float]]]] = {
    "trimtab_storage_osd_commit_latency_seconds": lambda it: it.commit_latency_seconds,
    "trimtab_storage_osd_read_latency_seconds": lambda it: _mean(it.read),
    "trimtab_storage_osd_write_latency_seconds": lambda it: _mean(it.write),
    "trimtab_storage_slow_operations": lambda it: it.slow_operations,
}
_OF_POOLS: Final[Mapping[str, Callable[[PoolReading], Reading[float]]]] = {
    "trimtab_storage_pool_read_operations_per_second": lambda it: mapped(it.read, _operations_per_second),
    "trimtab_storage_pool_write_operations_per_second": lambda it: mapped(it.write, _operations_per_second),
    "trimtab_storage_pool_read_bytes_per_second": lambda it: mapped(it.read, _bytes_per_second),
    "trimtab_storage_pool_write_bytes_per_second": lambda it: mapped(it.write, _bytes_per_second),
}


class StorageCollector(Collector):
    """Gives a registry the storage as it is known at the scrape. Asked in the threads of the HTTP server."""

    def __init__(
        self,
        published: Callable[[], Published],
        state: Callable[[float], Reading[CephState]],
        clock: Callable[[], float],
        stale_after_seconds: float,
    ) -> None:
        self._published, self._state, self._clock = published, state, clock
        self._stale_after_seconds = stale_after_seconds

    def collect(self) -> Iterator[Family]:
        """All families of this moment."""
        now, published = self._clock(), self._published()
        if published.snapshot is not None:
            yield family("trimtab_storage_limit_seconds", _limits(published.snapshot.site, published.cluster))
        state = self._state(now)
        if not isinstance(state, Known):
            return
        yield from _osd_families(state.value, published.cluster)
        yield from _cluster_families(state.value, published.cluster)
        if published.age_seconds(now) <= self._stale_after_seconds:
            yield from _tenant_families(state.value, published)

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


def _limits(site: Site, cluster: str) -> Rows:
    for tenant in site.tenants:
        for storage in (RBD, CEPHFS):
            limit = limit_seconds(tenant, storage)
            if limit is not None:
                yield (cluster, tenant.name, storage), limit


def _osd_families(state: CephState, cluster: str) -> Iterator[Family]:
    osds = state.readings.osds
    for name, value in _OF_OSDS.items():
        yield family(name, _known(((cluster, osd.name), value(osd)) for osd in osds))
    stalled = (((cluster, name), mapped(one, float)) for name, one in sorted(state.stalled_osds.items()))
    yield family("trimtab_storage_osd_stalled", _known(stalled))
    judged = (name for name, one in sorted(state.stalled_osds.items()) if isinstance(one, Known))
    yield family(
        "trimtab_storage_osd_longest_stall_seconds",
        (((cluster, name), state.longest_stalls.get(name, 0.0)) for name in judged),
    )
    worst = ((osd.name, state.worst_osds.get(osd.name)) for osd in osds)
    yield family(
        "trimtab_storage_osd_worst_latency_seconds",
        (((cluster, name), max(one.read or 0.0, one.write or 0.0)) for name, one in worst if one is not None),
    )
    slow = (((cluster, name), count) for name, count in sorted(state.slow_events.items()))
    yield family("trimtab_storage_osd_slow_events", slow)
    silent = (((cluster, osd.name), float(osd.name in state.silent_osds)) for osd in osds)
    yield family("trimtab_storage_osd_silent", silent)
    awaited = state.awaited.value if isinstance(state.awaited, Known) else {}
    yield family(
        "trimtab_storage_osd_awaited_operations", (((cluster, name), n) for name, n in sorted(awaited.items()))
    )


def _cluster_families(state: CephState, cluster: str) -> Iterator[Family]:
    around = state.cluster
    for name, value in _OF_POOLS.items():
        yield family(name, _known(((cluster, pool.name), value(pool)) for pool in around.pools))
    latencies = [(pool.name, pool_latency_seconds(state, pool.name)) for pool in around.pools]
    for place, way in enumerate(("read", "write")):
        rows = (((cluster, pool), found[place]) for pool, found in latencies)
        yield family(f"trimtab_storage_pool_{way}_latency_seconds", _known(rows))
    replies = (((cluster, one.name), one.reply_latency_seconds) for one in around.metadata_servers)
    yield family("trimtab_storage_mds_reply_latency_seconds", _known(replies))
    recovery = (((cluster,), around.recovery_bytes_per_second),)
    yield family("trimtab_storage_recovery_bytes_per_second", _known(recovery))
    found = (one for one in disturbances(state).values() if isinstance(one, Known))
    yield family("trimtab_storage_disturbance", (_disturbance(cluster, one.value) for one in found))


def _disturbance(cluster: str, one: Disturbance) -> tuple[tuple[str, ...], float]:
    return (cluster, one.kind.value, one.scope.value, one.where), float(one.scope is not Scope.NONE)


def _tenant_families(state: CephState, published: Published) -> Iterator[Family]:
    snapshot, cluster = published.snapshot, published.cluster
    if snapshot is None or published.volumes is None:
        return
    owners, volumes = snapshot.namespace_tenants, published.volumes
    tenants = tenant_storage(state, volumes, owners)
    for name, value in _OF_TENANTS.items():
        yield family(name, _known(((cluster, one.tenant, one.storage), value(one)) for one in tenants))
    yield family(
        "trimtab_storage_bound_volumes",
        (
            ((cluster, one.tenant, one.storage, client.value, "yes" if measured else "no"), float(count))
            for one in tenants
            for (client, measured), count in sorted(one.volumes.items())
        ),
    )
    yield family("trimtab_storage_unattributed_ratio", _known((((cluster,), unattributed_ratio(state, volumes)),)))
    infos = ((_info(cluster, owners.get(one.claim_namespace, UNASSIGNED), one), 1.0) for one in volumes)
    yield family("trimtab_storage_volume_info", infos)
    busiest = volume_storage(state, volumes, owners)[:BUSIEST]
    for name, of_volume in _OF_VOLUMES.items():
        yield family(name, _known((_named(cluster, one), of_volume(one)) for one in busiest))


def _named(cluster: str, one: VolumeStorage) -> tuple[str, ...]:
    return (cluster, one.tenant, one.volume.claim_namespace, one.volume.claim)


def _info(cluster: str, tenant: str, volume: CephVolume) -> tuple[str, ...]:
    if isinstance(volume, FsVolume):
        storage, image = CEPHFS, (volume.filesystem, "", volume.subvolume)
    else:
        storage, image = RBD, volume.image
    names = (cluster, tenant, volume.claim_namespace, volume.claim, volume.name)
    return (*names, storage, volume.client.value, *image)


def _known(rows: Iterable[tuple[tuple[str, ...], Reading[float]]]) -> Rows:
    return ((labels, reading.value) for labels, reading in rows if isinstance(reading, Known))


def _or_unknown(value: float | None) -> Reading[float]:
    return _UNKNOWN if value is None else Known(value)


def _mean(transfer: Reading[Transfer]) -> Reading[float]:
    return transfer if isinstance(transfer, Unknown) else transfer.value.mean_latency_seconds


def _operations_per_second(moved: Transfer | Amount) -> float:
    return moved.operations / moved.interval_seconds


def _bytes_per_second(moved: Transfer | Amount) -> float:
    return moved.bytes / moved.interval_seconds
