"""The storage of tenants and the OSDs behind it as metric families, made anew for each scrape.

What is unknown is left out: no latency when nothing completed, no tenant while its volumes can not be told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from collector.assemble.ceph_memory import CephState
from collector.assemble.storage import RBD, TenantStorage, limit_seconds, tenant_storage
from collector.exporter.families import Published
from collector.exporter.family import Rows, family
from collector.model.reading import Known, Reading, mapped
from collector.model.tenancy import Site
from collector.parse.ceph import OsdReading, Transfer

_OF_TENANTS: Final[Mapping[str, Callable[[TenantStorage], Reading[float]]]] = {
    "trimtab_storage_read_latency_seconds": lambda it: it.read_latency_seconds,
    "trimtab_storage_write_latency_seconds": lambda it: it.write_latency_seconds,
    "trimtab_storage_read_operations_per_second": lambda it: mapped(it.read, _operations_per_second),
    "trimtab_storage_write_operations_per_second": lambda it: mapped(it.write, _operations_per_second),
    "trimtab_storage_read_bytes_per_second": lambda it: mapped(it.read, _bytes_per_second),
    "trimtab_storage_write_bytes_per_second": lambda it: mapped(it.write, _bytes_per_second),
    "trimtab_storage_stalled": lambda it: mapped(it.stalled, float),
}
_OF_OSDS: Final[Mapping[str, Callable[[OsdReading], Reading[float]]]] = {
    "trimtab_storage_osd_commit_latency_seconds": lambda it: it.commit_latency_seconds,
    "trimtab_storage_slow_operations": lambda it: it.slow_operations,
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
        if published.age_seconds(now) <= self._stale_after_seconds:
            yield from _tenant_families(state.value, published)

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


def _limits(site: Site, cluster: str) -> Rows:
    for tenant in site.tenants:
        limit = limit_seconds(tenant)
        if limit is not None:
            yield (cluster, tenant.name, RBD), limit


def _osd_families(state: CephState, cluster: str) -> Iterator[Family]:
    for name, value in _OF_OSDS.items():
        yield family(name, _known(((cluster, osd.name), value(osd)) for osd in state.readings.osds))
    stalled = (((cluster, name), mapped(one, float)) for name, one in sorted(state.stalled_osds.items()))
    yield family("trimtab_storage_osd_stalled", _known(stalled))


def _tenant_families(state: CephState, published: Published) -> Iterator[Family]:
    snapshot = published.snapshot
    if snapshot is None or published.volumes is None:
        return
    tenants = tenant_storage(state, published.volumes, snapshot.namespace_tenants)
    for name, value in _OF_TENANTS.items():
        yield family(name, _known(((published.cluster, one.tenant, RBD), value(one)) for one in tenants))


def _known(rows: Iterable[tuple[tuple[str, ...], Reading[float]]]) -> Rows:
    return ((labels, reading.value) for labels, reading in rows if isinstance(reading, Known))


def _operations_per_second(transfer: Transfer) -> float:
    return transfer.operations / transfer.interval_seconds


def _bytes_per_second(transfer: Transfer) -> float:
    return transfer.bytes / transfer.interval_seconds
