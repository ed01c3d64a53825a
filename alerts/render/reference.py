"""The alerts and recording rules as a page for people (docs/reference/alerts.md). Makes text, writes no file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from alerts.rules.model import Alert, RecordingRule, RuleGroup
from alerts.rules.timing import promql_duration
from alerts.runbooks import RUNBOOKS, Runbook
from collector.catalogue.docs import GENERATED_NOTE, table

_OPENING: Final = """\
# Alerts

An alert is a doorbell: it makes the loop look now instead of at its next tick, and the loop reads everything again
before it decides. Each alert carries `severity` and `trimtab_signal`, and the labels of what it is about. The rules
below serve any site; durations are those of a time scale of 1. Scrape the collector with `honor_labels: true`.
"""
_RECORDING_OPENING: Final = """\
## Recording rules

What each series means stands in [metrics.md](metrics.md).
"""


def alerts_page(groups: Sequence[RuleGroup]) -> str:
    """The whole page in Markdown. Raises KeyError for an alert without a runbook."""
    alerts = sorted((alert for group in groups for alert in group.alerts), key=lambda alert: alert.name)
    chapters = (_chapter(name, list(same)) for name, same in groupby(alerts, key=lambda alert: alert.name))
    recordings = ((group, rule) for group in groups for rule in group.recordings)
    return "\n".join((GENERATED_NOTE, _OPENING, *chapters, _RECORDING_OPENING, _recordings(recordings)))


def _chapter(name: str, alerts: Sequence[Alert]) -> str:
    runbook = RUNBOOKS[name]
    parts = (f"## {name}", *_words(runbook), *(_rule(alert) for alert in alerts))
    return "\n\n".join(parts) + "\n"


def _words(runbook: Runbook) -> tuple[str, ...]:
    return (
        f"**Meaning.** {runbook.meaning}",
        f"**Impact.** {runbook.impact}",
        f"**Diagnosis.**\n\n{_steps(runbook.diagnosis)}",
        f"**Mitigation.**\n\n{_steps(runbook.mitigation)}",
    )


def _steps(steps: Iterable[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _rule(alert: Alert) -> str:
    labels = ", ".join(f"`{name}={value}`" for name, value in alert.labels.items())
    head = (
        f"Rule{f' ({labels})' if labels else ''}: severity `{alert.severity}`, signal `{alert.signal}`, "
        f"{f'after {promql_duration(alert.for_seconds)}' if alert.for_seconds else 'at once'}."
    )
    return f"{head}\n\n```promql\n{alert.expr}\n```"


def _recordings(rules: Iterable[tuple[RuleGroup, RecordingRule]]) -> str:
    rows = (
        (f"`{rule.record}`", promql_duration(group.interval_seconds), f"`{' '.join(rule.expr.split())}`")
        for group, rule in rules
    )
    return table(("series", "every", "expression"), rows) + "\n"
