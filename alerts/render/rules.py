"""Rule groups as documents: a Prometheus rule file, and the PrometheusRule object of the Prometheus operator. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from alerts.render.yaml_text import GENERATED, yaml_text
from alerts.rules.model import SIGNAL_LABEL, Alert, RecordingRule, Rule, RuleGroup
from alerts.rules.timing import promql_duration


def prometheus_rules(groups: Iterable[RuleGroup], head: str = GENERATED) -> str:
    """A rule file for Prometheus 2.42 and later, and for what reads the same format. `head`: the comment above it."""
    return yaml_text(_document(groups), head)


def prometheus_rule_object(groups: Iterable[RuleGroup], name: str = "trimtab") -> str:
    """A PrometheusRule manifest. Its namespace, and the labels that an operator selects by, are the installer's."""
    manifest = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "trimtab"}},
        "spec": _document(groups),
    }
    return yaml_text(manifest)


def _document(groups: Iterable[RuleGroup]) -> dict[str, Any]:
    return {"groups": [_group(group) for group in groups]}


def _group(group: RuleGroup) -> dict[str, Any]:
    return {
        "name": group.name,
        "interval": promql_duration(group.interval_seconds),
        "rules": [_rule(rule) for rule in group.rules],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return _recording(rule) if isinstance(rule, RecordingRule) else _alert(rule)


def _recording(rule: RecordingRule) -> dict[str, Any]:
    labels = {"labels": dict(rule.labels)} if rule.labels else {}
    return {"record": rule.record, "expr": rule.expr, **labels}


def _alert(alert: Alert) -> dict[str, Any]:
    keep = alert.keep_firing_for_seconds
    bridge = {"keep_firing_for": promql_duration(keep)} if keep else {}
    hint = {"hint": hint_template(alert)} if alert.hint_query else {}
    return {
        "alert": alert.name,
        "expr": alert.expr,
        **({"for": promql_duration(alert.for_seconds)} if alert.for_seconds else {}),
        **bridge,
        "labels": {"severity": alert.severity.value, SIGNAL_LABEL: alert.signal.value, **alert.labels},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            **hint,
            "runbook_url": alert.runbook,
        },
    }


def hint_template(alert: Alert) -> str:
    """The hint as Go template text: asks the query for the alert's own labels, and is empty when it gives nothing."""
    names = [name for name in ("cluster", "tenant") if f'"{{{name}}}"' in alert.hint_query]
    query = alert.hint_query
    for name in names:
        query = query.replace(f'"{{{name}}}"', "%q")
    asked = f"printf `{query}` {' '.join(f'$labels.{name}' for name in names)} | query"
    said = f"{{{{ with first . }}}}{alert.hint_text}{{{{ end }}}}"
    return f"{{{{ with {asked} }}}}{said}{{{{ end }}}}"
