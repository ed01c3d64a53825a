"""What the controller says of itself: one document for scripts, page and `trimtab status`, out of tick reports."""

from __future__ import annotations

import re
import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from alerts.signals import Signal, SignalStatus
from collector.model.quantities import format_time
from collector.model.reading import Known
from collector.model.snapshot import Snapshot, TenantPool
from collector.model.tenancy import Engine
from controller.policy.change import Change
from controller.policy.engine import Decision
from controller.policy.ledger_text import change_document
from controller.policy.strategies.deadlines import ClassChoice
from controller.runtime.tick import TickReport

SCHEMA_VERSION = 1
PRIORITY_CLASS_LABEL = "kueue.x-k8s.io/priority-class"
"""On a Job: the prepared class that Kueue takes its priority from, also while it waits."""
_LONGEST_SUMMARY = 500
"""Characters of an alert's own words: the status is one object with a bound, and whoever rings may write a lot."""
_COUNTS = ("reserved_gpus", "waiting_gpus", "entitled_gpus", "shortfall_gpus", "borrowed_gpus")
_KNOBS = {Engine.KUEUE: "kueue-leaf-cohort", Engine.NATIVE: "native-cap"}


@dataclass(slots=True)
class StatusBoard:
    """The last report and counts since the start. Written by the loop, read by web threads."""

    cluster: str = "default"
    """Which cluster it steers: several may write to one Prometheus."""
    ticks: int = 0
    last: TickReport | None = None
    waiting: str = ""
    """Why it does not tick at all; "" while it does."""
    notice: str = ""
    """What whoever looks must know before all else, such as that this is a demo; "" for nothing."""
    decisions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(knob, outcome, refusal code) → count."""
    sentences: deque[str] = field(default_factory=lambda: deque(maxlen=20))
    alerts: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=20))
    """What Alertmanager rang with last, oldest first."""
    alerts_fired: int = 0
    """Firing alerts that it rang with since the start."""
    _knobs: Mapping[str, str] = field(default_factory=dict)
    """Pool → its knob, as of the last look."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, report: TickReport) -> None:
        """Remember a tick."""
        with self._lock:
            self.ticks += 1
            self.last = report
            self._say(f"{format_time(report.at)} {report.sentence}")
            if report.observation is not None:
                site = report.observation.snapshot.site
                self._knobs = {pool.name: _KNOBS[pool.engine] for pool in site.pools}
            for decision in report.outcome.decisions if report.outcome else ():
                self.decisions[self._knob(decision.finding.pool), *answer(decision)] += 1

    def _say(self, told: str) -> None:
        """A sentence that only has other numbers takes the place of the last one."""
        if self.sentences and _without_numbers(self.sentences[-1]) == _without_numbers(told):
            self.sentences.pop()
        self.sentences.append(told)

    def active_changes(self) -> Mapping[str, int]:
        """Knob → changes in force, for every knob that the site has."""
        with self._lock:
            active = self.last.ledger.active if self.last is not None else ()
            return {**dict.fromkeys(self._knobs.values(), 0), **Counter(self._knob(change.pool) for change in active)}

    def ring(self, signals: Iterable[Signal], now: float) -> None:
        """Remember what the doorbell was rung with."""
        with self._lock:
            for signal in signals:
                self.alerts_fired += signal.status is SignalStatus.FIRING
                self.alerts.append(_alert_document(signal, now))

    def document(self) -> dict[str, Any]:
        """Everything, as plain JSON values."""
        with self._lock:
            report, sentences, waiting = self.last, list(self.sentences), self.waiting
            alerts = list(self.alerts)
        if report is None:
            return {
                "schema_version": SCHEMA_VERSION,
                "ready": False,
                "waiting": waiting,
                "notice": self.notice,
            }
        told = {"alerts": alerts, "sentences": sentences}
        return {"ready": True, "waiting": waiting, "notice": self.notice, **status_document(report), **told}

    def _knob(self, pool: str) -> str:
        return self._knobs.get(pool, "unknown")


def _without_numbers(told: str) -> str:
    """The words of "time sentence", each number in them replaced."""
    return re.sub(r"[0-9]+", "0", told.split(" ", 1)[1])


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
        "advice": [one.document() for one in report.advice],
        "classes": [_class_document(choice) for choice in outcome.classes] if outcome else [],
        "active_changes": [change_document(change) for change in report.ledger.active],
        "recent_changes": [_recent(change) for change in report.ledger.changes if not change.active][-20:],
        "tenants": _tenants(snapshot) if snapshot else [],
        "storage": _storage(snapshot) if snapshot else [],
    }


def _storage(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Tenants whose storage something would make quicker."""
    return [
        {"tenant": tenant, "storage": one.storage, "pattern": one.pattern, "advice": list(one.advice)}
        for tenant, uses in sorted(snapshot.evidence.storage.items())
        for one in uses
        if one.advice
    ]


def _alert_document(signal: Signal, now: float) -> dict[str, Any]:
    return {
        "at": format_time(now),
        "alert": signal.alert,
        "status": signal.status.value,
        "tenant": signal.tenant,
        "pool": signal.pool,
        "summary": signal.summary[:_LONGEST_SUMMARY],
    }


def _decision_document(decision: Decision) -> dict[str, Any]:
    finding = decision.finding
    return {
        "tenant": finding.tenant,
        "pool": finding.pool,
        "kind": finding.kind.value,
        "cause": finding.cause.value,
        "confidence": finding.confidence.value,
        "evidence": list(finding.evidence),
        "shortfall_gpus": finding.shortfall,
        "finding": finding.sentence,
        "decision": decision.sentence,
        "change": decision.change_id,
        "refusal": decision.refusal.code if decision.refusal else None,
    }


def _class_document(choice: ClassChoice) -> dict[str, Any]:
    """`command` is for a shell; null where the label of another kind of object would be needed."""
    command = (
        f"kubectl label job -n {choice.namespace} {choice.name} {PRIORITY_CLASS_LABEL}={choice.after} --overwrite"
        if choice.kind == "Job"
        else None
    )
    told = {"namespace": choice.namespace, "name": choice.name, "kind": choice.kind}
    return {
        **told,
        "before": choice.before or None,
        "after": choice.after,
        "reason": choice.sentence,
        "command": command,
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
    """Null is not known: of objects that were not seen, or long ago, no count is told."""
    if snapshot.blind:
        return [_agreed(state) | dict.fromkeys(_COUNTS) for state in snapshot.tenants]
    return [
        _agreed(state)
        | {
            "reserved_gpus": state.reserved,
            "waiting_gpus": state.waiting,
            "entitled_gpus": state.demand,
            "shortfall_gpus": state.shortfall,
            "borrowed_gpus": state.borrowed() if isinstance(state.entitled_now, Known) else None,
        }
        for state in snapshot.tenants
    ]


def _agreed(state: TenantPool) -> dict[str, Any]:
    return {
        "tenant": state.tenant,
        "pool": state.pool,
        "tier": state.tier,
        "guarantee_gpus": state.entitlement.guarantee,
        "floating_gpus": state.floating_now.value if isinstance(state.floating_now, Known) else None,
    }
