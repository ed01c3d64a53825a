"""What evictions cost, as metric families: edges, lost time of GPUs, a histogram until they were free. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.core import Metric as Family

from collector.assemble.eviction_costs import FREED_BOUNDS_SECONDS, EvictionCosts
from collector.catalogue.index import find
from collector.exporter.family import family

FREED: Final = "trimtab_eviction_freed_seconds"
_BOUNDS: Final = (*(f"{bound:g}" for bound in FREED_BOUNDS_SECONDS), "+Inf")


def eviction_families(costs: EvictionCosts, cluster: str) -> Iterator[Family]:
    """Totals since the start of the collector; of tenants that lost nothing there is no sample."""
    edges = (((cluster, *edge), float(count)) for edge, count in sorted(costs.edges.items()))
    yield family("trimtab_tenant_evictions_total", edges)
    lost = (((cluster, *key), seconds) for key, seconds in sorted(costs.lost_gpu_seconds.items()))
    yield family("trimtab_tenant_lost_gpu_seconds_total", lost)
    entry = find(FREED)
    if entry is None:
        raise KeyError(f"{FREED} is not in the catalogue")
    histogram = HistogramMetricFamily(FREED, entry.meaning, labels=[one for one in entry.labels if one != "le"])
    for key, freed in sorted(costs.freed.items()):
        buckets = [(bound, float(count)) for bound, count in zip(_BOUNDS, accumulate(freed.counts), strict=True)]
        histogram.add_metric([cluster, *key], buckets, freed.seconds_sum)
    yield histogram
