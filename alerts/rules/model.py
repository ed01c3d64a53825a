"""What a rule is: recording rules, alerts, groups. Values only; `alerts.render` makes text of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

SIGNAL_LABEL: Final = "trimtab_signal"
"""The label that makes an alert a signal; routes match on it, and other people's alerts do not have it."""


class Severity(StrEnum):
    """Who should look: critical now, warning within working hours."""

    CRITICAL = "critical"
    WARNING = "warning"


class SignalKind(StrEnum):
    """The typed reasons to look that an alert can carry."""

    OBJECTIVE_BURNING = "objective-burning"
    STARVED = "starved"
    QUEUE_BROKEN = "queue-broken"
    STORAGE_SLOW = "storage-slow"
    STORAGE_STALLED = "storage-stalled"
    FABRIC_SLOW = "fabric-slow"
    GANG_HUNG = "gang-hung"
    GANG_STRAGGLES = "gang-straggles"
    GPU_SICK = "gpu-sick"
    NODE_BLIND = "node-blind"
    BLIND = "blind"
    CONTROLLER_STALLED = "controller-stalled"


@dataclass(frozen=True, slots=True)
class RecordingRule:
    """A series named `record`, made from `expr`, with `labels` added."""

    record: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert. `labels` are constant; those of the series come from `expr`. Values stand in annotations only."""

    name: str
    expr: str
    for_seconds: float
    """0: at once, for what the collector has made sure of itself."""
    severity: Severity
    signal: SignalKind
    summary: str
    description: str
    labels: Mapping[str, str] = field(default_factory=dict)
    keep_firing_for_seconds: float = 0.0
    """Bridges short gaps, so that a shortage that comes and goes is one alert."""
    hint_query: str = ""
    """PromQL, asked when the alert is sent; `{cluster}` and `{tenant}` stand for the alert's labels."""
    hint_text: str = ""
    """What is said of the first series that the hint query gives."""

    @property
    def runbook(self) -> str:
        """Address of its page, relative to the root of the repository."""
        return f"docs/reference/alerts.md#{self.name.lower()}"


Rule: TypeAlias = RecordingRule | Alert


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that are evaluated one after the other, so that a later one sees what an earlier one recorded."""

    name: str
    interval_seconds: float
    rules: tuple[Rule, ...]

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """The alerts among its rules."""
        return tuple(rule for rule in self.rules if isinstance(rule, Alert))

    @property
    def recordings(self) -> tuple[RecordingRule, ...]:
        """The recording rules among its rules."""
        return tuple(rule for rule in self.rules if isinstance(rule, RecordingRule))
