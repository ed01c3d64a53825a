"""Each rule has a promtool test in which it fires, or gives a sample, and one in which it stays silent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from alerts.rules import rule_groups
from tests.golden.rules_for_tests import GROUPS_BY_FILE, RULE_TESTS


@cache
def _cases() -> tuple[dict[str, Any], ...]:
    documents = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(RULE_TESTS.glob("*.test.yaml")))
    return tuple(case for document in documents for case in document["tests"])


def _alert_tests() -> Iterator[dict[str, Any]]:
    return (test for case in _cases() for test in case.get("alert_rule_test", ()))


def _tests_of_series(record: str) -> list[dict[str, Any]]:
    whole_name = re.compile(rf"(?<![\w:]){re.escape(record)}(?![\w:])")
    tests = (test for case in _cases() for test in case.get("promql_expr_test", ()))
    return [test for test in tests if whole_name.search(test["expr"])]


def test_every_alert_has_a_firing_test_with_its_own_labels() -> None:
    fired = [(t["alertname"], alert["exp_labels"]) for t in _alert_tests() for alert in t["exp_alerts"]]
    missing = [
        (alert.name, dict(alert.labels))
        for group in rule_groups()
        for alert in group.alerts
        if not any(name == alert.name and alert.labels.items() <= labels.items() for name, labels in fired)
    ]
    assert missing == []


def test_every_alert_has_a_silent_test() -> None:
    silent = {test["alertname"] for test in _alert_tests() if not test["exp_alerts"]}
    assert {alert.name for group in rule_groups() for alert in group.alerts} - silent == set()


def test_every_recording_rule_has_a_test_with_and_one_without_a_sample() -> None:
    records = {rule.record for group in rule_groups() for rule in group.recordings}
    without = {name for name in records if not any(t["exp_samples"] for t in _tests_of_series(name))}
    never_silent = {name for name in records if all(t["exp_samples"] for t in _tests_of_series(name))}
    assert (without, never_silent) == (set(), set())


def test_the_tests_name_rule_files_that_are_made() -> None:
    documents = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(RULE_TESTS.glob("*.test.yaml")))
    named = [(document["rule_files"], document["group_eval_order"]) for document in documents]
    assert named
    for files, order in named:
        assert set(files) <= set(GROUPS_BY_FILE)
        # promtool evaluates groups in no order of its own: without this the same test passes and fails.
        assert order == [group.name for group in rule_groups()]
