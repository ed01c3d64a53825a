"""Fetches a window's history from Prometheus, a day at a time, with gaps left as gaps. Counts nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from collector.catalogue.index import find
from collector.sources.prometheus import RangeSeries, VectorSample, quoted
from controller.api.errors import InputError, Mistake
from controller.reports.model import Window
from controller.reports.samples import CAPACITY, SERIES, Column, Samples, Values, key_labels

MOMENTS_PER_QUERY: Final = 1440
"""A day of minutes: an answer about a thousand series stays within the limit of its size."""
VOUCHED: Final = "1m"
"""How long a sample speaks for its series: the server would repeat it for five minutes."""


class History(Protocol):
    """What is needed of a `collector.sources.prometheus.Prometheus`."""

    def instant(self, query: str, at: float | None = None) -> Sequence[VectorSample]:
        """The result of a query at a moment; raises SourceError."""
        ...

    def range_query(self, query: str, start: float, end: float, step_seconds: float) -> Sequence[RangeSeries]:
        """The result of a query at many moments; raises SourceError."""
        ...


def the_cluster(history: History, window: Window, wanted: str | None) -> str:
    """The cluster to report on: the wanted one, else the only one that has pools in the window.

    Raises InputError when there are several or none, and SourceError.
    """
    if wanted is not None:
        return wanted
    query = f"count by (cluster) (present_over_time({CAPACITY}[{math.ceil(window.end - window.start)}s]))"
    found = sorted(sample.labels.get("cluster", "") for sample in history.instant(query, window.end))
    if len(found) == 1:
        return found[0]
    value = ", ".join(found) if found else f"no {CAPACITY} in the window"
    raise InputError((Mistake("--cluster", value, "the name of one cluster, as in its metrics"),))


def read_samples(history: History, cluster: str, window: Window) -> Samples:
    """Every series that a report is made of. Raises SourceError."""
    return Samples(window.slots, {name: _columns(history, name, cluster, window) for name in SERIES})


def range_expression(name: str, cluster: str) -> str:
    """The query for a metric: only what a sample vouches for, and nothing beyond the end of a series."""
    selector = f"{name}{{cluster={quoted(cluster)}}}"
    return f"{selector} and present_over_time({selector}[{VOUCHED}])"


def _columns(history: History, name: str, cluster: str, window: Window) -> Mapping[Column, Values]:
    columns: dict[Column, Values] = {}
    labels = key_labels(name)
    query = range_expression(name, cluster)
    for first, last in _parts(window.slots):
        start, end = (window.start + moment * window.slot_seconds for moment in (first, last))
        for series in history.range_query(query, start, end, window.slot_seconds):
            column = _source(name, series.labels), tuple(series.labels.get(label, "") for label in labels)
            values = columns.setdefault(column, np.full(window.slots + 1, np.nan))
            for moment, value in series.points:
                values[round((moment - window.start) / window.slot_seconds)] = value
    return columns


def _parts(slots: int) -> Iterator[tuple[int, int]]:
    for first in range(0, slots + 1, MOMENTS_PER_QUERY):
        yield first, min(first + MOMENTS_PER_QUERY - 1, slots)


def _source(name: str, labels: Mapping[str, str]) -> str:
    """Who said it: all labels that do not say what it is about."""
    entry = find(name)
    about = {"__name__", "cluster", *(entry.labels if entry else ())}
    return ",".join(f"{label}={value}" for label, value in sorted(labels.items()) if label not in about)
