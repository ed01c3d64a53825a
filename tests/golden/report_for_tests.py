"""A small report, and where its page is kept. `python -m tests.golden.report_for_tests` writes the page anew."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from collector.model.reading import Known
from collector.model.tenancy import Engine, Entitlement, Objective, ObjectiveKind, Pool, Site, Tenant
from controller.policy.change import Verdict
from controller.policy.ledger import Ledger
from controller.reports.model import ReportModel
from controller.reports.render_html import report_html
from controller.reports.samples import CAPACITY, HELD, IDLE_HELD, UNJUDGED
from tests.unit.controller.reports.histories import HOUR, START, change, report, steady

PAGE: Final = Path(__file__).parent / "reports" / "weekly.html"
_SLOTS: Final = 168


def small_report() -> ReportModel:
    """A week with a gap, a tenant of whom no activity is known, a promise that was not kept, and three changes."""
    series = steady(_SLOTS, held=8.0)
    series[CAPACITY]["a", "h100"][60:66] = [None] * 6
    series[HELD]["a", "nlp <&>", "h100"] = [2.0] * (_SLOTS + 1)
    series[UNJUDGED]["a", "nlp <&>", "h100"] = [2.0] * (_SLOTS + 1)
    series[IDLE_HELD]["a", "vision", "h100"][100:110] = [None] * 10
    promise = Objective("start", ObjectiveKind.QUEUE_WAIT, 0.99, 28 * 24 * HOUR)
    vision = Tenant("vision", "critical", entitlements=(Entitlement("h100", 4),), objectives=(promise,))
    pools = tuple(Pool(name, "nvidia.com/gpu", {}, Engine.KUEUE, flavor=name) for name in ("a100", "h100"))
    changes = (
        change("trim-1", START + 3 * HOUR),
        change("trim-2", START + 90 * HOUR, Verdict.NO_EFFECT, verdict_reason="vision-train/late is not Ready"),
        change("trim-3", START + 167 * HOUR, None),
    )
    return report(_SLOTS, series, Known(Ledger(changes)), Site("c1", pools, (), (vision,)))


if __name__ == "__main__":
    PAGE.write_text(report_html(small_report()), encoding="utf-8")
