"""The controller's own metrics: families made anew per scrape from the status board and the doorbell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from collector.catalogue.index import find
from collector.catalogue.metric import Kind
from controller.runtime.doorbell import Doorbell
from controller.runtime.status import StatusBoard

KNOB = "kueue-leaf-cohort"


@dataclass(eq=False, slots=True)
class ControllerCollector(Collector):
    """Gives a registry what the loop did. Asked in web threads."""

    board: StatusBoard
    doorbell: Doorbell

    def collect(self) -> Iterator[Family]:
        """All families of this moment; what is not known yet is left out."""
        report = self.board.last
        yield _family("trimtab_controller_ticks_total", [((), self.board.ticks)])
        posts = [((outcome,), count) for outcome, count in sorted(self.doorbell.counts.items())]
        yield _family("trimtab_doorbell_posts_total", posts)
        decisions = [((KNOB, *key), count) for key, count in sorted(self.board.decisions.items())]
        yield _family("trimtab_controller_decisions_total", decisions)
        if report is None:
            return
        blind = report.outcome is None or (report.observation and report.observation.snapshot.blind_reasons)
        yield _family("trimtab_controller_blind", [((), 1.0 if blind else 0.0)])
        yield _family("trimtab_controller_last_tick_timestamp_seconds", [((), report.at)])
        yield _family("trimtab_controller_active_changes", [((KNOB,), len(report.ledger.active))])
        remaining = report.budget_remaining.items()
        yield _family("trimtab_controller_budget_remaining_ratio", [((name,), value) for name, value in remaining])

    def describe(self) -> Iterable[Family]:
        """Nothing: registering must not look at the world."""
        return ()


def _family(name: str, rows: Iterable[tuple[tuple[str, ...], float]]) -> Family:
    entry = find(name)
    if entry is None:
        raise KeyError(f"{name} is not in the catalogue")
    kind = CounterMetricFamily if entry.kind is Kind.COUNTER else GaugeMetricFamily
    family = kind(entry.name, entry.meaning, labels=entry.labels)
    for labels, value in rows:
        family.add_metric(labels, value)
    return family
