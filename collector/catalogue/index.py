"""All entries together, and how to find one by the name that stands in a query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from collector.catalogue.accelerators import ACCELERATORS
from collector.catalogue.ceph import CEPH
from collector.catalogue.controller import CONTROLLER
from collector.catalogue.dcgm import DCGM
from collector.catalogue.exported import EXPORTED
from collector.catalogue.krbd import KRBD
from collector.catalogue.kubernetes import KUBE_SCHEDULER, KUBE_STATE_METRICS, KUEUE
from collector.catalogue.metric import FOREIGN, FOREIGN_ONLY, LABELS, UNNAMED, Kind, Metric, Source
from collector.catalogue.network import NETWORK
from collector.catalogue.probes import PROBES
from collector.catalogue.rdma import RDMA
from collector.catalogue.recorded import RECORDED
from collector.catalogue.vendor_series import VENDOR_SERIES

CATALOGUE: Final = (
    *EXPORTED,
    *CONTROLLER,
    *RECORDED,
    *ACCELERATORS,
    *RDMA,
    *PROBES,
    *NETWORK,
    *CEPH,
    *KRBD,
    *DCGM,
    *VENDOR_SERIES,
    *KUBE_STATE_METRICS,
    *KUBE_SCHEDULER,
    *KUEUE,
)
WINDOW: Final = "<window>"

_BY_NAME: Final = {metric.name: metric for metric in CATALOGUE}
_WINDOW_ENDING: Final = re.compile(r":(?:\d+(?:ms|[smhdwy]))+$")
_PART_OF_HISTOGRAM: Final = re.compile(r"_(?:bucket|sum|count)$")
_OURS: Final = re.compile(r"trimtab[_:][a-z0-9_]+(:[a-z]+|:<window>)?")


def find(name: str) -> Metric | None:
    """The entry of the series `name`; `…:1h` is found under `…:<window>`, a histogram's series under its own name.

    None: nobody makes or reads it.
    """
    found = _BY_NAME.get(name) or _BY_NAME.get(_WINDOW_ENDING.sub(f":{WINDOW}", name))
    if found is None:
        whole = _BY_NAME.get(_PART_OF_HISTOGRAM.sub("", name))
        return whole if whole is not None and whole.kind is Kind.HISTOGRAM else None
    return found


def problems(catalogue: Sequence[Metric]) -> tuple[str, ...]:
    """What is wrong with entries, each as "name: what"; empty for a sound catalogue."""
    names = [metric.name for metric in catalogue]
    doubles = sorted({name for name in names if names.count(name) > 1})
    found = [f"{name}: stands twice" for name in doubles]
    found += [f"{metric.name}: {what}" for metric in catalogue for what in _problems_of(metric)]
    return tuple(found)


def _problems_of(metric: Metric) -> Iterator[str]:
    yield from (f"label {label} is not in the list of labels" for label in metric.labels if label not in LABELS)
    if len(set(metric.labels)) != len(metric.labels):
        yield "a label stands twice"
    if not metric.meaning.endswith("."):
        yield "its meaning is no sentence"
    if metric.source not in FOREIGN:
        yield from _problems_of_own_name(metric)


def _problems_of_own_name(metric: Metric) -> Iterator[str]:
    name = metric.name
    if not _OURS.fullmatch(name):
        yield "our names are lower case, trimtab_… or, when recorded, trimtab:…:minute or :<window>"
    if (":" in name) != (metric.source is Source.RECORDED):
        yield "colons are for recorded series, and only for them"
    if metric.unit in FOREIGN_ONLY or "percent" in name:
        yield f"unit {metric.unit} is not for our own metrics: base units and ratios"
    if name.endswith("_total") != (metric.kind is Kind.COUNTER):
        yield "counters, and only counters, end in _total"
    if name.endswith("_info") != (metric.kind is Kind.INFO):
        yield "infos, and only infos, end in _info"
    if metric.unit not in UNNAMED and not _stem(name).endswith(f"_{metric.unit}"):
        yield f"does not end in its unit, {metric.unit}"


def _stem(name: str) -> str:
    parts = name.split(":")
    return (parts[1] if len(parts) > 1 else parts[0]).removesuffix("_total")
