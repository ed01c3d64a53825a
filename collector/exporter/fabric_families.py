"""RDMA between nodes, and whose gangs suffer from it, as metric families, made anew for each scrape.

What is unknown is left out: no latency of an edge whose last probe failed or is old, no verdict without a baseline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from collector.assemble.fabric import EdgeVerdict, FabricMemory, FabricView, edge_verdicts
from collector.catalogue.probes import WORST
from collector.exporter.families import OF_WORK, Published
from collector.exporter.family import Rows, family
from collector.model.fabric import QUANTILES, Edge
from collector.model.reading import Known, Reading
from collector.model.snapshot import Snapshot


class FabricCollector(Collector):
    """Gives a registry the fabric as it is known at the scrape. Asked in the threads of the HTTP server."""

    def __init__(
        self,
        published: Callable[[], Published],
        memory: Callable[[], FabricMemory],
        clock: Callable[[], float],
        stale_after_seconds: float,
    ) -> None:
        self._published, self._memory, self._clock = published, memory, clock
        self._stale_after_seconds = stale_after_seconds

    def collect(self) -> Iterator[Family]:
        """All families of this moment."""
        now, published, memory = self._clock(), self._published(), self._memory()
        yield from _edge_families(memory, published.cluster, now)
        snapshot = published.snapshot
        seen = snapshot is not None and published.unreadable.isdisjoint(OF_WORK)
        if snapshot is not None and seen and published.age_seconds(now) <= self._stale_after_seconds:
            yield from tenant_families(memory, snapshot, published.cluster, now)

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


def tenant_families(view: FabricView, snapshot: Snapshot, cluster: str, now: float) -> Iterator[Family]:
    """Whose gangs suffer from a slow edge, and whose edges can not be judged yet."""
    verdicts = edge_verdicts(view, snapshot, now)
    yield family("trimtab_tenant_rdma_latency_ratio", _ratios(verdicts, cluster))
    yield family("trimtab_tenant_rdma_new_links", _new(verdicts, cluster))


def _edge_families(memory: FabricMemory, cluster: str, now: float) -> Iterator[Family]:
    latencies = _of_edges(memory, cluster, lambda edge, quantile: memory.latency_seconds(edge, quantile, now))
    yield family("trimtab_rdma_latency_seconds", latencies)
    yield family("trimtab_rdma_baseline_seconds", _of_edges(memory, cluster, memory.baseline_seconds))
    ages = (
        ((cluster, edge.source, edge.destination), max(0.0, now - one.succeeded_at))
        for edge, one in sorted(memory.edges.items())
        if one.succeeded_at is not None
    )
    yield family("trimtab_rdma_probe_age_seconds", ages)


def _of_edges(memory: FabricMemory, cluster: str, reading_of: Callable[[Edge, float], Reading[float]]) -> Rows:
    for edge in sorted(memory.edges):
        for quantile in QUANTILES:
            reading = reading_of(edge, quantile)
            if isinstance(reading, Known):
                yield (cluster, edge.source, edge.destination, f"{quantile:g}"), reading.value


def _new(verdicts: Iterable[EdgeVerdict], cluster: str) -> Rows:
    counts: dict[tuple[str, str], int] = {}
    for one in verdicts:
        counts[one.tenant, one.objective] = counts.get((one.tenant, one.objective), 0) + one.is_new
    return (((cluster, *key), float(count)) for key, count in sorted(counts.items()))


def _ratios(verdicts: Iterable[EdgeVerdict], cluster: str) -> Rows:
    known = [(one, one.ratio.value) for one in verdicts if isinstance(one.ratio, Known)]
    shown = Counter[tuple[str, str]]()
    for one, ratio in sorted(known, key=lambda item: -item[1]):
        shown[one.tenant, one.objective] += 1
        if shown[one.tenant, one.objective] <= WORST:
            yield (cluster, one.tenant, one.objective, one.edge.source, one.edge.destination), ratio
