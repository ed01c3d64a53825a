"""The controller's own metrics: families made anew per scrape from the status board and the doorbell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from collector.catalogue.index import find
from collector.catalogue.metric import Kind
from controller.policy.change import Change, Stage
from controller.policy.targets import by_key
from controller.runtime.doorbell import Doorbell
from controller.runtime.observe import Observation
from controller.runtime.status import StatusBoard, answer
from controller.runtime.tick import TickReport

_STAGES: Final = tuple(stage for stage in Stage if stage is not Stage.ENDED)
_ENDS: Final[Mapping[str, tuple[Callable[[Change], str], Callable[[Change], int]]]] = {
    "given": (lambda change: change.destination, lambda change: change.given_written),
    "taken": (lambda change: change.source, lambda change: change.taken_written),
}
"""Direction → name of the own object at that end of a change, and the GPUs that moved there."""


@dataclass(eq=False, slots=True)
class ControllerCollector(Collector):
    """Gives a registry what the loop did. Asked in web threads."""

    board: StatusBoard
    doorbell: Doorbell

    def collect(self) -> Iterator[Family]:
        """All families of this moment; what is not known yet is left out."""
        report, cluster = self.board.last, self.board.cluster
        yield _family("trimtab_controller_ticks_total", [((cluster,), self.board.ticks)])
        posts = [((cluster, outcome), count) for outcome, count in sorted(self.doorbell.counts.items())]
        yield _family("trimtab_doorbell_posts_total", posts)
        decisions = [((cluster, *labels), count) for labels, count in sorted(self.board.decisions.items())]
        yield _family("trimtab_controller_decisions_total", decisions)
        if report is None:
            return
        blind = report.outcome is None or (report.observation and report.observation.snapshot.blind_reasons)
        yield _family("trimtab_controller_blind", [((cluster,), 1.0 if blind else 0.0)])
        yield _family("trimtab_controller_last_tick_timestamp_seconds", [((cluster,), report.at)])
        active = [((cluster, knob), count) for knob, count in sorted(self.board.active_changes().items())]
        yield _family("trimtab_controller_active_changes", active)
        remaining = [((cluster, name), value) for name, value in report.budget_remaining.items()]
        yield _family("trimtab_controller_budget_remaining_ratio", remaining)
        if report.observation is not None:
            yield _family("trimtab_tenant_change_gpus", _moved_gpus(report.observation, report.ledger.active))
            yield _family("trimtab_tenant_finding", _findings(report, report.observation.snapshot.site.cluster))

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


def _moved_gpus(observation: Observation, changes: Iterable[Change]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Rows (cluster, tenant, pool, direction, stage) → GPUs, for every entitlement of the site, also with 0."""
    site, places = observation.snapshot.site, by_key(observation.targets)
    moved = {
        (tenant.name, entitlement.pool, direction, stage): 0
        for tenant in site.tenants
        for entitlement in tenant.entitlements
        for direction in _ENDS
        for stage in _STAGES
    }
    for change in changes:
        for direction, (end, gpus) in _ENDS.items():
            target = places.get((end(change), change.pool))
            if target is None or target.tenant is None:
                continue
            key = (target.tenant, change.pool, direction, change.stage)
            if key in moved:
                moved[key] += gpus(change)
    return (((site.cluster, *key), float(gpus)) for key, gpus in moved.items())


def _findings(report: TickReport, cluster: str) -> Iterator[tuple[tuple[str, ...], float]]:
    for decision in report.outcome.decisions if report.outcome else ():
        finding = decision.finding
        named = (cluster, finding.tenant, finding.pool, finding.kind.value, finding.cause.value)
        yield (*named, *answer(decision)), 1.0


def _family(name: str, rows: Iterable[tuple[tuple[str, ...], float]]) -> Family:
    entry = find(name)
    if entry is None:
        raise KeyError(f"{name} is not in the catalogue")
    kind = CounterMetricFamily if entry.kind is Kind.COUNTER else GaugeMetricFamily
    family = kind(entry.name, entry.meaning, labels=entry.labels)
    for labels, value in rows:
        family.add_metric(labels, value)
    return family
