"""`trimtab doctor sources` over real parts: a Prometheus with one exporter scraped, and an API server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from collector.exporter.families import SnapshotCollector
from collector.exporter.health import HealthState
from collector.exporter.http import Address, HttpServer, metrics_app
from controller.cli.main import run
from controller.demo.processes import free_port, wait_until
from tests.testbed import Testbed
from tests.testbed.monitoring import ScrapeTarget
from tests.unit.collector.exporter.published import published, snapshot


def asked(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code, and the sources by name."""
    capsys.readouterr()
    code = run(["doctor", "sources", "-o", "json", *options])
    document = json.loads(capsys.readouterr().out)
    return code, {one["source"]: one for one in document["sources"]}


def state_of(source: dict[str, Any], what: str) -> str:
    states = [check["state"] for check in source["checks"] if check["what"] == what]
    assert len(states) == 1, source["checks"]
    return str(states[0])


@pytest.fixture
def scraped_exporter(monitoring: Testbed) -> Iterator[HttpServer]:
    """Our own exporter, scraped every second."""
    now = time.time()
    shown = published(replace(published().snapshot or snapshot(), taken_at=now))
    registry = CollectorRegistry()
    registry.register(
        SnapshotCollector(lambda: shown, lambda: HealthState({}, {"kubernetes": now}), time.time, 90.0, "1.2.3")
    )
    server = HttpServer(metrics_app(registry, lambda: True), Address("127.0.0.1", free_port()))
    server.start()
    monitoring.prometheus.configure([ScrapeTarget("trimtab", f"http://127.0.0.1:{server.port}/metrics")])
    yield server
    server.stop()
    monitoring.prometheus.configure([])


@pytest.mark.prometheus
def test_a_real_prometheus_is_told_what_it_holds_and_what_it_lacks(
    monitoring: Testbed, scraped_exporter: HttpServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = (f"--prometheus-url={monitoring.prometheus.url}", f"--kubeconfig={tmp_path / 'none'}")

    def collector() -> str:
        return state_of(asked(capsys, *options)[1]["Prometheus"], "Trimtab collector")

    wait_until(lambda: collector() == "fine", "the first samples to arrive")
    code, sources = asked(capsys, *options)
    assert code == 1
    assert state_of(sources["Prometheus"], "Trimtab collector: labels") == "fine"
    assert state_of(sources["Prometheus"], "GPU exporters") == "missing"
    assert sources["Kubernetes API"]["reached"] is False


@pytest.mark.kubernetes
def test_a_real_api_server_lets_its_administrator_list_and_watch_every_kind(
    kubeconfig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, sources = asked(capsys, f"--kubeconfig={kubeconfig}")
    assert code == 0
    assert {check["state"] for check in sources["Kubernetes API"]["checks"]} <= {"fine", "absent"}
    assert state_of(sources["Kubernetes API"], "pods") == "fine"
