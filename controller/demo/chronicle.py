"""What happened so far, told from the status after each tick: alerts, findings, changes, verdicts, each once.

It stands where a cluster would keep the controller's status, so it sees just what an operator sees.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class Kind(StrEnum):
    """What an entry is about."""

    ALERT = "alert"
    FINDING = "finding"
    LEFT_ALONE = "left alone"
    CHANGE = "change"
    VERDICT = "verdict"
    BACK = "back"
    WRONG = "wrong cause"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the story. `at`: epoch seconds."""

    at: float
    kind: Kind
    text: str


_NOT_SCHEDULING = frozenset({"ceph", "rdma", "gpu-health", "workload", "unknown"})
SEEN_WITHIN_SECONDS: Final = 6.0
"""By then slow storage stands in the evidence of a tick: collector and Prometheus each look once a second, and the mean
that they look at is over the limit after another one. What is decided before could not know."""


@dataclass(slots=True)
class Chronicle:
    """Takes a status per tick. Written by the loop, read by the screen."""

    clock: Callable[[], float]
    troubled: Callable[[float], Mapping[str, float]]
    """Tenants whose trouble is known not to be scheduling at a moment, and since how many seconds: the truth that the
    loop does not know."""
    entries: list[Entry] = field(default_factory=list)
    verdicts: dict[str, str] = field(default_factory=dict)
    """Change → verdict."""
    changes: dict[str, str] = field(default_factory=dict)
    """Change → tenant that it was made for."""
    wrong_cause_changes: list[str] = field(default_factory=list)
    """Changes whose tenant's trouble could be seen not to be scheduling when they were decided."""
    storage_named: set[str] = field(default_factory=set)
    """Tenants whose storage was named as the cause while it was in trouble."""
    _seen: set[tuple[str, ...]] = field(default_factory=set)
    _found: set[tuple[str, ...]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, document: Mapping[str, Any]) -> None:
        """One more status."""
        now = self.clock()
        with self._lock:
            for alert in document.get("alerts", ()):
                self._alert(alert, now)
            self._findings(document.get("findings", ()), now)
            for change in document.get("active_changes", ()):
                self._change(change, now)
                self._judge_cause(change, document.get("findings", ()))
            for change in document.get("recent_changes", ()):
                self._judged(change, now)

    def told(self) -> Sequence[Entry]:
        """All entries, oldest first."""
        with self._lock:
            return tuple(self.entries)

    def verdict_counts(self) -> Mapping[str, int]:
        """Verdict, as scripts spell it → changes."""
        with self._lock:
            found = Counter(word.replace("-", "_") for word in self.verdicts.values())
        return {word: found.get(word, 0) for word in ("helped", "no_effect", "hurt", "cannot_tell")}

    def _alert(self, alert: Mapping[str, Any], now: float) -> None:
        key = ("alert", alert["at"], alert["alert"], str(alert["tenant"]), alert["status"])
        if alert["status"] == "firing" and self._once(key):
            about = f" for {alert['tenant']}" if alert["tenant"] else ""
            self._tell(now, Kind.ALERT, f"{alert['alert']}{about}: {alert['summary']}")

    def _findings(self, findings: Sequence[Mapping[str, Any]], now: float) -> None:
        present: set[tuple[str, ...]] = {(item["tenant"], item["kind"], item["cause"]) for item in findings}
        for item in findings:
            if item["cause"] == "ceph" and item["tenant"] in self.troubled(now):
                self.storage_named.add(item["tenant"])
            if (item["tenant"], item["kind"], item["cause"]) in self._found:
                continue
            alone = item["cause"] in _NOT_SCHEDULING
            words = f"{item['decision']}" if alone else f"{item['finding']} Cause: {item['cause']}."
            self._tell(now, Kind.LEFT_ALONE if alone else Kind.FINDING, words)
        self._found = present

    def _change(self, change: Mapping[str, Any], now: float) -> None:
        name = change["id"]
        if name not in self.changes:
            self.changes[name] = change["tenant"]
            self._tell(now, Kind.CHANGE, change["reason"])
        self._judged(change, now)

    def _judge_cause(self, change: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> None:
        """By what could be known: the truth once it was there to be seen, and what the deciding tick itself found."""
        name, tenant = change["id"], change["tenant"]
        if not self._once(("cause", name)):
            return
        slow_seconds = self.troubled(change["created_at"]).get(tenant, 0.0)
        told = [item["cause"] for item in findings if item["tenant"] == tenant and item["cause"] in _NOT_SCHEDULING]
        if slow_seconds >= SEEN_WITHIN_SECONDS:
            why = f"although its storage had been slow for {slow_seconds:.0f} s"
        elif told:
            why = f"although the same look found {told[0]}"
        else:
            return
        self.wrong_cause_changes.append(name)
        self._tell(self.clock(), Kind.WRONG, f"{name} was made for {tenant} {why}.")

    def _judged(self, change: Mapping[str, Any], now: float) -> None:
        name, verdict = change["id"], change["verdict"]
        if verdict and name not in self.verdicts:
            self.verdicts[name] = verdict
            self._tell(now, Kind.VERDICT, f"{verdict}: {change['verdict_reason']} ({name}).")
        ended = bool(change.get("ended_at"))
        if change.get("return_reason") and self._once(("back", name)):
            goes = "went" if ended and self._once(("ended", name)) else "goes softly"
            self._tell(now, Kind.BACK, f"{name} {goes} back to the baseline: {change['return_reason']}.")
        elif ended and self._once(("ended", name)):
            self._tell(now, Kind.BACK, f"{name} has gone back; all stands at the baseline again.")

    def _once(self, key: tuple[str, ...]) -> bool:
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _tell(self, at: float, kind: Kind, text: str) -> None:
        self.entries.append(Entry(at, kind, text))
