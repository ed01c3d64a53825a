"""Probes as metric families: what a node measured, and what the links of all nodes say. Made for each scrape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from collector.assemble.link_fabric import LinkFabric
from collector.assemble.probe_verdicts import ProbePicture
from collector.catalogue import probes as names
from collector.catalogue.metric import JUDGED
from collector.exporter.fabric_families import tenant_families
from collector.exporter.families import OF_WORK, Published
from collector.exporter.family import family, histogram_family
from collector.exporter.node_probes import NodeProbes
from collector.model.reading import Known


class NodeProbeCollector(Collector):
    """Gives a registry what the probes of one node measured."""

    def __init__(self, cluster: str, probes: NodeProbes, pace: Callable[[], int]) -> None:
        self._cluster, self._probes, self._pace = cluster, probes, pace

    def collect(self) -> Iterator[Family]:
        """All families of this moment."""
        where = (self._cluster, self._probes.node)
        histograms = sorted(self._probes.histograms.items())
        rows = (((*where, device, operation, operation.path), told) for (device, operation), told in histograms)
        yield histogram_family(names.NIC_LATENCY, rows)
        faults = sorted(self._probes.faults.items())
        yield family(names.FAILED, (((*where, *key), float(count)) for key, count in faults))
        yield family(names.PACE, [(where, 1.0 / self._pace())])

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


class ProbePictureCollector(Collector):
    """Gives a registry what all links say together."""

    def __init__(
        self,
        board: Callable[[], ProbePicture],
        fabric: Callable[[], LinkFabric],
        published: Callable[[], Published],
        clock: Callable[[], float],
        stale_after_seconds: float,
    ) -> None:
        """`stale_after_seconds`: of the picture of the cluster, without which nobody's edges are known."""
        self._picture, self._fabric, self._published, self._clock = board, fabric, published, clock
        self._stale_after_seconds = stale_after_seconds

    def collect(self) -> Iterator[Family]:
        """All families of this moment."""
        now, published = self._clock(), self._published()
        yield from picture_families(self._picture(), published.cluster)
        snapshot = published.snapshot
        seen = snapshot is not None and published.unreadable.isdisjoint(OF_WORK)
        if snapshot is not None and seen and published.age_seconds(now) <= self._stale_after_seconds:
            yield from tenant_families(self._fabric(), snapshot, published.cluster, now)

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


def picture_families(picture: ProbePicture, cluster: str) -> Iterator[Family]:
    """The worst links and suspects, and how many links there are of each kind."""
    worst = (
        ((cluster, one.state.link.source, one.state.link.destination, one.hop), one.ratio.value)
        for one in picture.links[: names.WORST]
        if isinstance(one.ratio, Known)
    )
    yield family(names.LINK_RATIO, worst)
    counts = Counter(one.judged for one in picture.links)
    yield family(names.LINKS, (((cluster, word), float(counts[word])) for word in JUDGED))
    suspects = (((cluster, one.kind, one.name), one.ratio) for one in picture.suspects[: names.WORST])
    yield family(names.SUSPECT, suspects)
    usual = sorted(picture.usual_of_hops.items())
    rows = (((cluster, hop, operation, operation.path), seconds) for (hop, operation), seconds in usual)
    yield family(names.HOP_USUAL, rows)
