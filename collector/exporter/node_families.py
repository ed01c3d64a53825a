"""The last look at a node as metric families, made anew for each scrape. What is unknown is left out, and counted.

Nothing is served once the look is older than it may be: a loop that stands must not look like a node at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from collector.assemble.port_settings import wrong_settings
from collector.catalogue.index import find
from collector.catalogue.rdma import RDMA_HELD, RDMA_HOLDER, TROUBLE, UNUSUAL, WRONG_SETTING
from collector.exporter.family import Rows, family
from collector.exporter.health import HealthState
from collector.exporter.health_families import blindness_families, collector_families
from collector.exporter.node_role import NodePublished
from collector.model.reading import Known

_CLUSTER = ("cluster",)


class NodeCollector(Collector):
    """Gives a registry what was seen last. Asked in the threads of the HTTP server."""

    def __init__(
        self,
        names: tuple[str, str, str],
        published: Callable[[], NodePublished],
        health: Callable[[], HealthState],
        clock: Callable[[], float],
        stale_after_seconds: float,
    ) -> None:
        """`names`: cluster, node, version of the program."""
        self._cluster, self._node, self._version = names
        self._published, self._health, self._clock = published, health, clock
        self._stale_after_seconds = stale_after_seconds

    def collect(self) -> Iterator[Family]:
        """All families of this moment."""
        now, published, health = self._clock(), self._published(), self._health()
        if published.at is not None and now - published.at <= self._stale_after_seconds:
            yield from node_families(published, self._cluster, self._node)
        yield from collector_families(health, self._cluster, self._version)
        yield from blindness_families(health, self._cluster, self._node, now)

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


def node_families(published: NodePublished, cluster: str, node: str) -> Iterator[Family]:
    """Every known reading under its name, and what the ports' counters mean."""
    by_name: dict[str, list[tuple[tuple[str, ...], float]]] = {}
    for reading in published.readings:
        entry = find(reading.name)
        if entry is not None and isinstance(reading.value, Known):
            labels = tuple(reading.labels.get(label, "") for label in entry.labels)
            by_name.setdefault(reading.name, []).append(((cluster, *labels), reading.value.value))
    for name, rows in sorted(by_name.items()):
        yield family(name, rows, before=_CLUSTER)
    yield family(TROUBLE, _troubles(published, cluster, node))
    yield from _rdma_holders(published, cluster, node)
    yield family(UNUSUAL, _unusual(published, cluster, node))
    yield family(WRONG_SETTING, _wrong_settings(published, cluster, node))


def _rdma_holders(published: NodePublished, cluster: str, node: str) -> Iterator[Family]:
    holders = published.rdma_holders
    if holders is not None:
        yield family(RDMA_HOLDER, (((cluster, node, *one), 1.0) for one in holders.named))
        named = len({device for device, _, _ in holders.named})
        counts = {"exclusive": named, "none": holders.unnamed}
        yield family(RDMA_HELD, (((cluster, node, word), float(count)) for word, count in counts.items()))


def _unusual(published: NodePublished, cluster: str, node: str) -> Rows:
    for (device, port, layer), trouble, verdict in published.usual:
        if isinstance(verdict, Known):
            yield (cluster, node, device, port, layer, trouble), verdict.value


def _wrong_settings(published: NodePublished, cluster: str, node: str) -> Rows:
    for port, setting, verdict in wrong_settings(published.readings, published.ports.troubles()):
        if isinstance(verdict, Known):
            yield (cluster, node, *port, setting), verdict.value


def _troubles(published: NodePublished, cluster: str, node: str) -> Rows:
    for (device, port, layer), trouble, rate in published.ports.troubles():
        if isinstance(rate, Known):
            yield (cluster, node, device, port, layer, trouble), rate.value
