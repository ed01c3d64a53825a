"""Rows of values → a metric family whose name, kind and labels come from the catalogue."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family

from collector.catalogue.index import find
from collector.catalogue.metric import Kind
from collector.exporter.histogram import Histogram

Rows = Iterable[tuple[tuple[str, ...], float]]


def histogram_family(name: str, rows: Iterable[tuple[tuple[str, ...], Histogram]]) -> Family:
    """A histogram as the catalogue describes it; its label `le` comes with the buckets. Raises KeyError."""
    entry = find(name)
    if entry is None:
        raise KeyError(f"{name} is not in the catalogue")
    labels = [label for label in entry.labels if label != "le"]
    found = HistogramMetricFamily(entry.name, entry.meaning, labels=labels)
    for values, histogram in rows:
        found.add_metric(values, histogram.buckets(), histogram.total)
    return found


def family(name: str, rows: Rows, before: tuple[str, ...] = ()) -> Family:
    """A family as the catalogue describes it. Raises KeyError for a name that it does not know.

    `before`: labels that stand before those of the entry, such as `cluster` on what is not named by cluster there.
    """
    entry = find(name)
    if entry is None:
        raise KeyError(f"{name} is not in the catalogue")
    if entry.kind is Kind.COUNTER:
        counter = CounterMetricFamily(entry.name, entry.meaning, labels=(*before, *entry.labels))
        for labels, value in rows:
            counter.add_metric(labels, value)
        return counter
    gauge = GaugeMetricFamily(entry.name, entry.meaning, labels=(*before, *entry.labels))
    for labels, value in rows:
        gauge.add_metric(labels, value)
    return gauge
