"""Rules become files that Prometheus, its operator and Alertmanager take; the command writes them or says the drift."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.render.__main__ import main
from alerts.render.alertmanager import alertmanager_document
from alerts.render.files import generated_files
from alerts.render.kept import check_kept
from alerts.render.reference import alerts_page
from alerts.render.rules import hint_template, prometheus_rule_object, prometheus_rules
from alerts.rules import rule_groups
from alerts.rules.health import blind, starved
from alerts.rules.timing import Timing
from alerts.runbooks import RUNBOOKS


def _rules(text: str) -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def test_every_rule_is_written_with_what_people_need() -> None:
    alerts = [rule for rule in _rules(prometheus_rules(rule_groups())) if "alert" in rule]
    assert alerts
    for alert in alerts:
        assert {"severity", "trimtab_signal"} <= set(alert["labels"])
        assert {"summary", "description", "runbook_url"} <= set(alert["annotations"])


def test_the_files_are_the_same_every_time() -> None:
    assert dict(generated_files()) == dict(generated_files())


def test_expressions_of_several_lines_are_blocks_that_people_can_read() -> None:
    text = prometheus_rules(rule_groups())
    assert "expr: |-\n" in text
    assert "\\n" not in text


def test_a_hint_asks_for_the_labels_of_its_own_alert() -> None:
    assert "{cluster=%q,tenant=%q,waiting!=" in hint_template(starved(Timing()))
    assert "` $labels.cluster $labels.tenant | query }}" in hint_template(starved(Timing()))
    assert "{cluster=%q}[6h]" in hint_template(blind(Timing()))


def test_the_operator_s_object_holds_the_same_rules() -> None:
    manifest = yaml.safe_load(prometheus_rule_object(rule_groups()))
    assert (manifest["apiVersion"], manifest["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert manifest["spec"] == yaml.safe_load(prometheus_rules(rule_groups()))


def test_the_operator_knows_every_field_that_we_write(shared_folder: Path) -> None:
    crd = shared_folder / "fixtures" / "crds" / "monitoring.coreos.com_prometheusrules.yaml.gz"
    schema = yaml.safe_load(gzip.decompress(crd.read_bytes()))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    group = schema["properties"]["spec"]["properties"]["groups"]["items"]["properties"]
    rule = group["rules"]["items"]["properties"]
    written = yaml.safe_load(prometheus_rule_object(rule_groups()))["spec"]["groups"]
    assert {field for one in written for field in one} <= set(group)
    assert {field for one in written for entry in one["rules"] for field in entry} <= set(rule)


def test_our_alerts_reach_the_doorbell_and_people_resolved_ones_too() -> None:
    document = alertmanager_document()
    doorbell, people = document["route"]["routes"]
    assert (doorbell["matchers"], doorbell["continue"], people) == (
        ['trimtab_signal=~".+"'],
        True,
        {"receiver": "people"},
    )
    (webhook,) = document["receivers"][1]["webhook_configs"]
    assert webhook["send_resolved"]
    assert set(webhook["http_config"]["authorization"]) == {"type", "credentials_file"}


@pytest.mark.parametrize(("scale", "wait", "repeat"), [(1, "5s", "1h"), (60, "1s", "1m"), (1e6, "1s", "1s")])
def test_alertmanager_s_waits_shrink_with_the_time_scale_to_a_second(scale: float, wait: str, repeat: str) -> None:
    doorbell = alertmanager_document(time_scale=scale)["route"]["routes"][0]
    assert (doorbell["group_wait"], doorbell["repeat_interval"]) == (wait, repeat)


def test_every_alert_stands_on_the_page_under_the_address_that_it_carries() -> None:
    page = alerts_page(rule_groups())
    for name in RUNBOOKS:
        assert f"\n## {name}\n" in page
    assert all(f"`{rule.record}`" in page for group in rule_groups() for rule in group.recordings)
    addresses = {alert.runbook for group in rule_groups() for alert in group.alerts}
    assert addresses == {f"docs/reference/alerts.md#{name.lower()}" for name in RUNBOOKS}


def test_the_command_writes_and_then_finds_no_drift(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--root", str(tmp_path), "--check"]) == 0
    assert capsys.readouterr().out == ""


def test_the_command_says_what_differs_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--root", str(tmp_path)])
    page = tmp_path / "docs" / "reference" / "alerts.md"
    edited = page.read_text(encoding="utf-8").replace("# Alerts", "# Alarms", 1)
    page.write_text(edited, encoding="utf-8")
    (tmp_path / "deploy" / "generated" / "trimtab.rules.yaml").unlink()
    assert main(["--root", str(tmp_path), "--check"]) == 1
    said = capsys.readouterr().out
    assert "-# Alarms\n+# Alerts\n" in said
    assert "deploy/generated/trimtab.rules.yaml (generated)" in said
    assert page.read_text(encoding="utf-8") == edited


@pytest.mark.parametrize(("before", "after"), [(b"\n", b"\r\n"), (b".\n", b".")])
def test_ends_of_lines_that_differ_are_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: bytes, after: bytes
) -> None:
    text = "One.\nTwo.\n"
    (tmp_path / "page.md").write_bytes(text.encode().removesuffix(before) + after)
    assert check_kept(tmp_path, {"page.md": text}) == 1
    assert "page.md (generated)" in capsys.readouterr().out


def test_an_impossible_time_scale_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--time-scale", "0"])
    assert stopped.value.code == 2
    assert "time_scale: 0.0 is not a finite number above 0" in capsys.readouterr().err
