"""Recording rules and alerts as data, made for a site and a time scale. Pure."""

from alerts.rules.groups import rule_groups
from alerts.rules.model import Alert, RecordingRule, RuleGroup, Severity, SignalKind

__all__ = ["Alert", "RecordingRule", "RuleGroup", "Severity", "SignalKind", "rule_groups"]
