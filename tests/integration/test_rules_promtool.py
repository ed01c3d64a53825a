"""Prometheus' and Alertmanager's own tools judge the generated files; each rule fires and stays silent as it should."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from alerts.render.alertmanager import alertmanager_config
from alerts.render.rules import prometheus_rules
from alerts.rules import rule_groups
from tests.golden.rules_for_tests import RULE_TESTS, SITE, write_rules

pytestmark = pytest.mark.prometheus
TESTS = sorted(RULE_TESTS.glob("*.test.yaml"))


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("test", TESTS, ids=lambda path: path.name)
def test_rules_fire_and_stay_silent_as_their_promtool_tests_say(test: Path, tmp_path: Path) -> None:
    write_rules(tmp_path, devices="devices" in test.name)
    shutil.copy(test, tmp_path)
    assert "SUCCESS" in _run("promtool", "test", "rules", tmp_path / test.name)


@pytest.mark.parametrize("scale", [0.5, 1, 7, 60, 600, 3600, 1e6])
def test_promtool_takes_the_rules_at_any_time_scale(scale: float, tmp_path: Path) -> None:
    for name, groups in (("any.yaml", rule_groups(None, scale)), ("site.yaml", rule_groups(SITE, scale))):
        (tmp_path / name).write_text(prometheus_rules(groups), encoding="utf-8")
    assert "SUCCESS" in _run("promtool", "check", "rules", tmp_path / "any.yaml", tmp_path / "site.yaml")


@pytest.mark.parametrize("scale", [1, 60, 1e6])
def test_amtool_takes_the_configuration_at_any_time_scale(scale: float, tmp_path: Path) -> None:
    file = tmp_path / "alertmanager.yaml"
    file.write_text(alertmanager_config(time_scale=scale), encoding="utf-8")
    assert "SUCCESS" in _run("amtool", "check-config", file)


@pytest.mark.parametrize(
    ("labels", "receivers"),
    [
        (("alertname=TrimtabBlind", "trimtab_signal=blind"), "trimtab,people"),
        (("alertname=CephSlowOps",), "people"),
    ],
)
def test_only_our_alerts_ring_at_the_doorbell(labels: tuple[str, ...], receivers: str, tmp_path: Path) -> None:
    file = tmp_path / "alertmanager.yaml"
    file.write_text(alertmanager_config(), encoding="utf-8")
    assert _run("amtool", "config", "routes", "test", f"--config.file={file}", *labels).strip() == receivers
