"""What the controller says of itself: one document for scripts, page and `trimtab status`, out of tick reports."""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from collector.model.quantities import format_time
from collector.model.reading import Known
from collector.model.snapshot import Snapshot
from controller.policy.change import Change
from controller.policy.engine import Decision
from controller.policy.ledger_text import change_document
from controller.runtime.tick import TickReport

SCHEMA_VERSION = 1


@dataclass(slots=True)
class StatusBoard:
    """The last report and counts since the start. Written by the loop, read by web threads."""

    ticks: int = 0
    failures: int = 0
    last: TickReport | None = None
    decisions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(outcome, refusal code) → count."""
    sentences: deque[str] = field(default_factory=lambda: deque(maxlen=20))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, report: TickReport) -> None:
        """Remember a tick."""
        with self._lock:
            self.ticks += 1
            self.last = report
            told = f"{format_time(report.at)} {report.sentence}"
            if not self.sentences or self.sentences[-1].split(" ", 1)[1] != report.sentence:
                self.sentences.append(told)
            for decision in report.outcome.decisions if report.outcome else ():
                self.decisions[answer(decision)] += 1

    def document(self) -> dict[str, Any]:
        """Everything, as plain JSON values."""
        with self._lock:
            report, sentences = self.last, list(self.sentences)
        if report is None:
            return {"schema_version": SCHEMA_VERSION, "ready": False}
        return {"ready": True, **status_document(report), "sentences": sentences}


def answer(decision: Decision) -> tuple[str, str]:
    """What came of a finding, in the words of the metrics: (outcome, refusal code or "")."""
    return "changed" if decision.change_id else "refused", decision.refusal.code if decision.refusal else ""


def status_document(report: TickReport) -> dict[str, Any]:
    """One report as plain JSON values."""
    outcome, snapshot = report.outcome, report.observation.snapshot if report.observation else None
    return {
        "schema_version": SCHEMA_VERSION,
        "at": format_time(report.at),
        "mode": report.mode.word,
        "paused": report.paused,
        "sentence": report.sentence,
        "blind": list(snapshot.blind_reasons) if snapshot else list(report.problems),
        "latched": report.ledger.latched,
        "problems": list(report.problems),
        "findings": [_decision_document(decision) for decision in outcome.decisions] if outcome else [],
        "active_changes": [change_document(change) for change in report.ledger.active],
        "recent_changes": [_recent(change) for change in report.ledger.changes if not change.active][-20:],
        "tenants": _tenants(snapshot) if snapshot else [],
    }


def _decision_document(decision: Decision) -> dict[str, Any]:
    finding = decision.finding
    return {
        "tenant": finding.tenant,
        "pool": finding.pool,
        "kind": finding.kind.value,
        "cause": finding.cause.value,
        "shortfall_gpus": finding.shortfall,
        "finding": finding.sentence,
        "decision": decision.sentence,
        "change": decision.change_id,
        "refusal": decision.refusal.code if decision.refusal else None,
    }


def _recent(change: Change) -> dict[str, Any]:
    return {
        "id": change.id,
        "reason": change.reason,
        "verdict": change.verdict.value if change.verdict else None,
        "verdict_reason": change.verdict_reason,
        "return_reason": change.return_reason,
        "ended_at": format_time(change.ended_at) if change.ended_at is not None else None,
    }


def _tenants(snapshot: Snapshot) -> list[dict[str, Any]]:
    return [
        {
            "tenant": state.tenant,
            "pool": state.pool,
            "tier": state.tier,
            "guarantee_gpus": state.entitlement.guarantee,
            "floating_gpus": state.floating_now.value if isinstance(state.floating_now, Known) else None,
            "reserved_gpus": state.reserved,
            "waiting_gpus": state.waiting,
            "entitled_gpus": state.demand,
            "shortfall_gpus": state.shortfall,
            "borrowed_gpus": state.borrowed(),
        }
        for state in snapshot.tenants
    ]
