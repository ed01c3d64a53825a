"""What a Prometheus holds of each exporter that is read: there, how old, and whether its labels came through. Asks.

Counts and ages are asked for, never the series themselves: it answers the same on a large site.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from collector.catalogue import accelerators as names
from collector.catalogue.controller import CONTROLLER
from collector.catalogue.exported import TENANTS
from collector.catalogue.kubernetes import KUBE_SCHEDULER, KUBE_STATE_METRICS, KUEUE
from collector.catalogue.metric import Metric
from collector.catalogue.recorded import RECORDED
from collector.catalogue.spelling import Vocabulary
from collector.catalogue.spellings.ceph import CEPH_MGR
from collector.catalogue.spellings.index import ACCELERATOR_VOCABULARIES, names_of
from collector.catalogue.spellings.rdma import NODE_EXPORTER
from collector.sources.errors import SourceError, TimedOut, Unreachable
from collector.sources.prometheus import VectorSample
from controller.runtime.doctor import Check, SourceReport, State, silence

_OLD_SECONDS: Final = 120.0
_HONOR: Final = "scrape it with honor_labels: true (ServiceMonitor: honorLabels: true)"
_RULES: Final = "load the rules: chart value monitoring.prometheusRule, or trimtab render rules"
_WINDOWED: Final = "<window>"


class Asking(Protocol):
    """What is needed of a `collector.sources.prometheus.Prometheus`."""

    url: str

    def instant(self, query: str) -> Sequence[VectorSample]:
        """The result now. Raises SourceError."""
        ...


@dataclass(frozen=True, slots=True)
class _Exporter:
    """Series that belong together. `fix` empty: nothing needs them."""

    what: str
    series: tuple[str, ...]
    fix: str = ""
    tells_namespaces: bool = False
    """Its own label `namespace` is about others, and is lost when Prometheus does not honour it."""
    lost: str = ""
    """What to do when it was lost."""
    tells_pods: bool = False

    @property
    def selector(self) -> str:
        return f'__name__=~"{"|".join(self.series)}"'


def _of(metrics: Iterable[Metric]) -> tuple[str, ...]:
    return tuple(metric.name for metric in metrics if _WINDOWED not in metric.name)


def _facts(vocabulary: Vocabulary) -> tuple[str, ...]:
    return names_of(vocabulary, names.ACTIVE, names.UTILIZATION, names.MEMORY_USED)


_EXPORTERS: Final = (
    _Exporter(
        "Trimtab collector", _of(TENANTS), "run trimtab run collector, and let Prometheus scrape it", True, _HONOR
    ),
    _Exporter("Trimtab rules", _of(RECORDED), _RULES),
    _Exporter("Trimtab controller", _of(CONTROLLER)),
    _Exporter(
        "GPU exporters",
        (*(name for one in ACCELERATOR_VOCABULARIES for name in _facts(one)), names.UTILIZATION, names.MEMORY_USED),
        "scrape the GPU exporter of each node, such as dcgm-exporter; where none runs: the chart's node.nvml",
        tells_pods=True,
    ),
    _Exporter("kube-state-metrics", _of(KUBE_STATE_METRICS), tells_namespaces=True, lost=_HONOR),
    _Exporter("kube-scheduler", _of(KUBE_SCHEDULER)),
    _Exporter("Kueue", _of(KUEUE)),
    _Exporter("node_exporter, RDMA", tuple(one.theirs for one in NODE_EXPORTER.spellings)),
    _Exporter("Ceph", tuple(one.theirs for one in CEPH_MGR.spellings if one.theirs.startswith("ceph_health"))),
)


def check_prometheus(prometheus: Asking) -> SourceReport:
    """All exporters that the catalogue knows."""
    checks: list[Check] = []
    try:
        for exporter in _EXPORTERS:
            checks.extend(_exporter(prometheus, exporter))
    except (Unreachable, TimedOut) as problem:
        fix = "check the address, and that this machine may reach it"
        checks.append(Check("Prometheus", State.UNREACHABLE, silence(problem), fix))
    except SourceError as problem:
        checks.append(Check("Prometheus", State.MISSING, str(problem), "is this the address of a Prometheus?"))
    return SourceReport("Prometheus", prometheus.url, tuple(checks))


def _exporter(prometheus: Asking, exporter: _Exporter) -> Iterator[Check]:
    found = prometheus.instant(f"count by (__name__) ({{{exporter.selector}}})")
    if not found:
        state = State.MISSING if exporter.fix else State.ABSENT
        yield Check(exporter.what, state, "no series of it", exporter.fix)
        return
    series = int(sum(sample.value for sample in found))
    # Of one name: `timestamp` drops names, and what differs in nothing else may not stand in one answer.
    commonest = max(found, key=lambda sample: sample.value).labels["__name__"]
    age_seconds = _number(prometheus, f'time() - max(timestamp({{__name__="{commonest}"}}))')
    told = f"{series} series under {len(found)} names, the youngest {age_seconds:.0f} s old"
    if age_seconds > _OLD_SECONDS:
        yield Check(exporter.what, State.MISSING, told, "its scrapes fail: look at the page Targets of Prometheus")
    else:
        yield Check(exporter.what, State.FINE, told)
    if exporter.tells_namespaces:
        yield _namespaces(prometheus, exporter)
    if exporter.tells_pods:
        yield _pods(prometheus, exporter, series)


def _namespaces(prometheus: Asking, exporter: _Exporter) -> Check:
    what = f"{exporter.what}: labels"
    renamed = _number(prometheus, f'count({{{exporter.selector},exported_namespace!=""}})')
    if renamed:
        return Check(
            what, State.MISSING, f"{renamed:.0f} series have lost their namespace to the scrape's", exporter.lost
        )
    return Check(what, State.FINE, "namespaces came through")


def _pods(prometheus: Asking, exporter: _Exporter, series: int) -> Check:
    """Both spellings are read, so that a renamed label is no fault; no pod at all may be."""
    nobodys = _number(prometheus, f'count({{{exporter.selector},pod="",pod_name="",exported_pod=""}})')
    renamed = _number(prometheus, f'count({{{exporter.selector},exported_pod!=""}})')
    what = f"{exporter.what}: pods"
    if nobodys >= series:
        fix = "if pods hold GPUs, let the exporter map them (dcgm-exporter: DCGM_EXPORTER_KUBERNETES=true)"
        return Check(what, State.ABSENT, "no series names a pod: all GPUs are free, or it is not told", fix)
    how = f", {renamed:.0f} as exported_pod, which is read as well" if renamed else ""
    return Check(what, State.FINE, f"{series - nobodys:.0f} of {series} series name a pod{how}")


def _number(prometheus: Asking, query: str) -> float:
    """The one value of a query; 0 for an empty answer, which `count` gives for none."""
    found = prometheus.instant(query)
    return found[0].value if found else 0.0
