"""`trimtab report weekly` against a real Prometheus that holds a week, with hours in which nothing was scraped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from controller.cli.main import run
from controller.policy.change import Verdict
from controller.policy.ledger_text import change_text
from controller.reports.samples import (
    CAPACITY,
    ENTITLED,
    EVICTIONS,
    FLOATING,
    FREE,
    GUARANTEE,
    HELD,
    IDLE_HELD,
    OLDEST,
    RUNNING,
    SHORTFALL,
    UNJUDGED,
    UNUSABLE,
    WAITED,
)
from tests.integration.fake_api_server import FakeApiServer, document, fake_api_server
from tests.testbed import Testbed
from tests.testbed.parts import PartMissing
from tests.unit.controller.reports.histories import change

pytestmark = pytest.mark.prometheus

ZONE = ZoneInfo("Europe/Berlin")
START = datetime(2024, 10, 21, tzinfo=ZONE).timestamp()
HOURS = 169
"""On Sunday of that week the clocks went back."""
GAP_HOURS = (100, 106)
RESTART_HOUR = 150
PATH = "/api/v1/namespaces/trimtab-system/configmaps"


def after(hour: float, then: float, before: float) -> Callable[[float], float]:
    return lambda hours: then if hours >= hour else before


def restarted(per_hour: float) -> Callable[[float], float]:
    return lambda hours: per_hour * (hours - RESTART_HOUR if hours >= RESTART_HOUR else hours + 1000)


def always(value: float) -> Callable[[float], float]:
    return lambda hours: value


def history() -> dict[str, dict[str, Callable[[float], float]]]:
    """One pool of 16 GPUs: vision holds 8, nlp 4 of them until the 84th hour, and then nobody."""
    pool, vision, nlp = 'pool="h100"', 'tenant="vision",pool="h100"', 'tenant="nlp",pool="h100"'
    queue = 'tenant="vision",tier="critical",queue="vision/q"'
    return {
        CAPACITY: {pool: always(16)},
        FREE: {pool: after(84, 6, 2)},
        UNUSABLE: {f'{pool},reason="cordoned"': always(2), f'{pool},reason="not ready"': always(0)},
        HELD: {vision: always(8), nlp: after(84, 0, 4)},
        RUNNING: {vision: always(8), nlp: after(84, 0, 4)},
        GUARANTEE: {vision: always(4), nlp: always(8)},
        FLOATING: {vision: always(1), nlp: always(0)},
        IDLE_HELD: {vision: always(2)},
        UNJUDGED: {vision: always(0), nlp: after(84, 0, 4)},
        ENTITLED: {vision: always(10), nlp: after(84, 0, 4)},
        SHORTFALL: {vision: always(1), nlp: always(0)},
        OLDEST: {queue: after(160, 7200, 60)},
        WAITED: {queue: restarted(3600)},
        EVICTIONS: {queue: restarted(0.1)},
    }


def openmetrics() -> Iterator[str]:
    for name, rows in history().items():
        for labels, value in rows.items():
            for minute in range(-1, HOURS * 60):
                hours = (minute + 0.5) / 60
                if not GAP_HOURS[0] <= hours < GAP_HOURS[1]:
                    at = START + hours * 3600
                    yield f'{name}{{cluster="c1",job="trimtab",instance="a",{labels}}} {value(hours):.4f} {at:.3f}\n'
    yield "# EOF\n"


@pytest.fixture(scope="module")
def prometheus_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("kept")
    with Testbed(folder) as bed:
        text = folder / "week.txt"
        text.write_text("".join(openmetrics()))
        data = folder / "prometheus" / "data"
        data.mkdir(parents=True)
        try:
            command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(text), str(data)]
            subprocess.run(command, check=True, capture_output=True)
            bed.start("prometheus")
        except (PartMissing, FileNotFoundError) as missing:
            pytest.skip(f"testbed part missing: {missing}")
        yield bed.prometheus.url


@pytest.fixture
def api_server() -> Iterator[FakeApiServer]:
    with fake_api_server() as running:
        yield running


def weekly(url: str, kubeconfig: Path, *more: str) -> int:
    week = ["--week", "2024-W43", "--time-zone", "Europe/Berlin"]
    return run(["report", "weekly", "--prometheus-url", url, "--kubeconfig", str(kubeconfig), *week, *more])


def test_a_week_with_a_change_of_clocks_a_gap_and_a_restart_closes(
    prometheus_url: str, api_server: FakeApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = change("abc", START + 3600, Verdict.HELPED)
    data = {"abc": change_text(made), "broken": "{}"}
    api_server.scripts[f"{PATH}/trimtab-ledger"] = [document({"metadata": {"resourceVersion": "1"}, "data": data})]
    kubeconfig = api_server.kubeconfig(tmp_path, token="t1")
    assert weekly(prometheus_url, kubeconfig, "-o", "json") == 0
    told = capsys.readouterr()
    assert "broken in the ledger is left out" in told.err
    report = json.loads(told.out)
    assert report["cluster"] == "c1"
    assert report["window"]["hours"] == HOURS
    (pool,) = report["pools"]
    assert pool["capacity_gpu_hours"] == 16 * HOURS
    assert pool["not_seen_gpu_hours"] == 16 * 6
    assert pool["running_gpu_hours"] == pytest.approx(8 * (HOURS - 6) + 4 * 84)
    assert pool["free_gpu_hours"] == pytest.approx(2 * 84 + 6 * (HOURS - 84 - 6))
    assert pool["unusable_gpu_hours"] == {"cordoned": 2.0 * (HOURS - 6), "not ready": 0.0}
    assert pool["difference_gpu_hours"] == pool["misfit_gpu_hours"] == 0.0
    nlp, vision = report["tenants"]
    assert vision["pools"][0]["within_guarantee_gpu_hours"] == 4.0 * (HOURS - 6)
    assert vision["pools"][0]["borrowed_gpu_hours"] == 3.0 * (HOURS - 6)
    assert vision["pools"][0]["idle_held_gpu_hours"] == 2.0 * (HOURS - 6)
    assert vision["pools"][0]["attainment_ratio"] == pytest.approx(0.9)
    assert vision["oldest_wait_seconds"] == 7200
    assert vision["waited_hours"] == pytest.approx(HOURS, abs=0.1)
    assert nlp["pools"][0]["idle_held_gpu_hours"] is None
    assert [(item["id"], item["verdict"]) for item in report["changes"]] == [("abc", "helped")]


def test_the_page_is_written_to_a_file_also_when_the_api_server_is_away(
    prometheus_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_api_server() as server:
        kubeconfig = server.kubeconfig(tmp_path, token="t1")
    out = tmp_path / "w43.html"
    assert weekly(prometheus_url, kubeconfig, "--out", str(out)) == 3
    assert "changes are not known" in capsys.readouterr().err
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "What Trimtab changed is not known" in page


def test_a_week_of_which_nothing_is_kept_is_red_or_no_cluster(
    prometheus_url: str, api_server: FakeApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kubeconfig = api_server.kubeconfig(tmp_path, token="t1")
    asked = ["report", "weekly", "--prometheus-url", prometheus_url, "--kubeconfig", str(kubeconfig)]
    asked += ["--week", "2024-W30"]
    assert run(asked) == 2
    assert "--cluster: got no trimtab_pool_capacity_gpus in the window" in capsys.readouterr().err
    assert run([*asked, "--cluster", "c1", "-o", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["data"]["light"] == "red"
    assert report["changes"] is None
    assert "no controller has left a ledger" in report["changes_unknown_why"]


def test_a_file_that_can_not_be_written_is_bad_input(
    prometheus_url: str, api_server: FakeApiServer, tmp_path: Path
) -> None:
    assert weekly(prometheus_url, api_server.kubeconfig(tmp_path, token="t1"), "--out", str(tmp_path)) == 2
