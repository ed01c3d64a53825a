"""The generated rules: every name known, nothing mixed, each alert with a runbook, any site and time scale served."""

from __future__ import annotations

import re
from collections.abc import Iterator

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.promql import output_labels, problems
from alerts.rules import Alert, RecordingRule, RuleGroup, rule_groups
from alerts.runbooks import RUNBOOKS
from collector.catalogue.index import CATALOGUE, find
from collector.catalogue.metric import Source
from tests.golden.rules_for_tests import GROUPS_BY_FILE, SITE

ALL_GROUPS = [(file, group) for file, groups in GROUPS_BY_FILE.items() for group in groups]


def _alerts(groups: tuple[RuleGroup, ...]) -> list[Alert]:
    return [alert for group in groups for alert in group.alerts]


def _expressions() -> Iterator[tuple[str, str]]:
    for file, group in ALL_GROUPS:
        for rule in group.rules:
            place = f"{file} {group.name} {rule.record if isinstance(rule, RecordingRule) else rule.name}"
            yield place, rule.expr
            if isinstance(rule, Alert) and rule.hint_query:
                yield f"{place} hint", rule.hint_query


def _recordings() -> Iterator[RecordingRule]:
    return (rule for _, group in ALL_GROUPS for rule in group.recordings)


def test_every_metric_and_label_in_every_expression_is_in_the_catalogue() -> None:
    assert [f"{place}: {problem}" for place, expr in _expressions() for problem in problems(expr)] == []


def test_every_recorded_series_is_in_the_catalogue_with_its_labels() -> None:
    wrong = [
        rule.record
        for rule in _recordings()
        if (entry := find(rule.record)) is None
        or set(entry.labels) != (output_labels(rule.expr) or frozenset()) | set(rule.labels)
    ]
    assert wrong == []


def test_every_recorded_entry_of_the_catalogue_is_really_recorded() -> None:
    recorded = {find(rule.record) for rule in _recordings()}
    assert {metric for metric in CATALOGUE if metric.source is Source.RECORDED} == recorded


def test_every_alert_has_a_runbook_and_no_runbook_is_left_over() -> None:
    assert {alert.name for alert in _alerts(rule_groups())} == set(RUNBOOKS)


def test_the_words_of_an_alert_name_only_labels_that_it_has() -> None:
    for alert in _alerts(rule_groups()):
        has = (output_labels(alert.expr) or frozenset()) | set(alert.labels)
        named = set(re.findall(r"\$labels\.(\w+)", alert.summary + alert.description))
        assert named <= has, alert.name
        assert set(re.findall(r'"\{(\w+)\}"', alert.hint_query)) <= has, alert.name


def test_no_constant_label_holds_a_value_of_the_moment() -> None:
    assert [a.name for a in _alerts(rule_groups()) for text in a.labels.values() if "{{" in text] == []


def test_a_rule_is_known_by_its_name_and_labels() -> None:
    for groups in GROUPS_BY_FILE.values():
        names = [
            (rule.record if isinstance(rule, RecordingRule) else rule.name, tuple(sorted(rule.labels.items())))
            for group in groups
            for rule in group.rules
        ]
        assert len(names) == len(set(names))
        assert len({group.name for group in groups}) == len(groups)


def test_objectives_that_have_no_indicator_yet_make_no_rule() -> None:
    text = " ".join(str(rule) for group in rule_groups(SITE) for rule in group.rules)
    assert "'fabric'" not in text


def test_a_week_has_only_the_alerts_that_fire_before_its_budget_is_gone() -> None:
    burns = [a.labels["burn"] for a in _alerts(rule_groups(SITE)) if a.labels.get("window") == "7d"]
    assert burns == ["fast", "slow"]


def test_windows_of_the_objectives_are_recorded() -> None:
    records = {rule.record for group in rule_groups(SITE) for rule in group.recordings}
    assert {"trimtab:tenant_attainment_ratio:7d", "trimtab:tenant_attainment_ratio:28d"} <= records


def test_a_site_without_objectives_has_no_burn_alerts_and_the_others_still() -> None:
    bare = type(SITE)(cluster="a", pools=(), tiers=(), tenants=())
    assert {alert.name for alert in _alerts(rule_groups(bare))} == set(RUNBOOKS) - {"TrimtabObjectiveBurning"}


@given(st.floats(min_value=0.5, max_value=1e6))
def test_any_time_scale_keeps_the_names_and_gives_rules_that_parse(scale: float) -> None:
    scaled = rule_groups(SITE, scale)
    for group, original in zip(scaled, rule_groups(SITE), strict=True):
        assert [r.record for r in group.recordings] == [r.record for r in original.recordings]
        assert group.interval_seconds >= 1.0
        for rule in group.rules:
            promql_parser.parse(rule.expr)
        assert all(alert.for_seconds >= 2.0 or alert.for_seconds == 0 for alert in group.alerts)


def test_an_impossible_time_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="time_scale"):
        rule_groups(None, 0)
