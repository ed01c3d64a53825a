"""Running the collector over a picture that is given: when it ticks, when it is ready, what it says once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from structlog.testing import capture_logs

from collector.exporter.http import Address
from collector.model.objects import Picture
from controller.api.errors import InputError
from controller.demo.processes import wait_until
from controller.runtime.collecting import Collecting, CollectorSettings
from controller.runtime.configuration import Configuration

DOCUMENTS = """
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  pools:
  - {name: h100, resource: nvidia.com/gpu, nodeSelector: {a: b}, engine: kueue, flavor: h100}
  tiers:
  - {name: critical, rank: 100, startWithin: {single-node: 5m}}
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: vision}
spec: {tier: critical, members: {namespaces: [vision]}, pools: [{pool: h100, guarantee: 8}]}
"""


class Watch:
    """Shows what it is told, once it is settled."""

    def __init__(self) -> None:
        self.settled, self.started, self.stopped = threading.Event(), False, False
        self.unreadable: dict[str, str] = {}
        self.fails = False

    def start(self) -> None:
        self.started = True

    def wait_ready(self, timeout_seconds: float) -> bool:
        return self.settled.wait(timeout_seconds)

    def picture(self, now: float) -> Picture:
        if self.fails:
            raise ZeroDivisionError("by nothing")
        return Picture(taken_at=now, unreadable=dict(self.unreadable))

    def stop(self, within_seconds: float = 2.0) -> bool:
        self.stopped = True
        return True


class Running:
    """A collector that runs in a thread of the test."""

    def __init__(self, config: Path, **more: Any) -> None:
        self.watch, self.stop = Watch(), threading.Event()
        settings = CollectorSettings("c1", Address("127.0.0.1", 0), time_scale=60.0, **more)
        self.collecting = Collecting(settings, Configuration([config], "c1"), self.watch)
        self.thread = threading.Thread(target=self.collecting.run, args=(self.stop,), daemon=True)
        self.thread.start()
        wait_until(lambda: self.collecting.server.port != 0, "the server to listen")

    def get(self, path: str) -> urllib3.BaseHTTPResponse:
        url = f"http://127.0.0.1:{self.collecting.server.port}{path}"
        return urllib3.request("GET", url, retries=urllib3.Retry(5, backoff_factor=0.05), timeout=60.0)

    def end(self) -> None:
        self.stop.set()
        self.thread.join(60)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "documents.yaml"
    path.write_text(DOCUMENTS, encoding="utf-8")
    return path


@pytest.fixture
def running(config: Path) -> Iterator[Running]:
    running = Running(config)
    yield running
    running.end()


def test_before_every_kind_is_settled_it_is_alive_and_says_nothing_about_the_cluster(running: Running) -> None:
    assert running.get("/healthz").status == 200
    assert running.get("/readyz").status == 503
    text = running.get("/metrics").data.decode()
    assert 'trimtab_collector_last_success_timestamp_seconds{cluster="c1",source="kubernetes"} 0.0' in text
    assert "trimtab_tenant" not in text


def test_once_settled_it_ticks_and_is_ready(running: Running) -> None:
    running.watch.settled.set()
    wait_until(lambda: running.get("/readyz").status == 200, "the first tick")
    assert 'trimtab_tenant_entitled_gpus{cluster="c1",pool="h100",tenant="vision"} 0.0' in (
        running.get("/metrics").data.decode()
    )


def test_it_ends_while_it_waits_and_leaves_no_thread(config: Path) -> None:
    before = threading.active_count()
    running = Running(config)
    wait_until(lambda: running.watch.started, "the watch to start")
    running.end()
    assert not running.thread.is_alive()
    assert running.watch.stopped
    wait_until(lambda: threading.active_count() == before, "its threads to end")


def test_a_problem_is_said_when_it_begins_and_when_it_ends_and_not_in_between(config: Path) -> None:
    with capture_logs() as logs:
        running = Running(config)
        running.watch.unreadable = {"pods": "403 Forbidden"}
        running.watch.settled.set()
        wait_until(lambda: running.get("/readyz").status == 200, "the first tick")
        time.sleep(1.2)  # one more tick with the same problem
        running.watch.unreadable = {}
        wait_until(lambda: any(line["event"] == "can be read again" for line in logs), "the end to be said")
        running.end()
    events = [line["event"] for line in logs]
    assert events == ["collecting", "can not be read", "can be read again", "stopped"]
    assert logs[1]["reason"] == "pods not readable: 403 Forbidden"


def test_a_mistake_of_ours_in_one_round_is_said_and_counted_and_ends_nothing(config: Path) -> None:
    with capture_logs() as logs:
        running = Running(config)
        running.watch.fails = True
        running.watch.settled.set()
        wait_until(lambda: any(line["event"] == "failed unexpectedly" for line in logs), "the failure to be said")
        assert 'trimtab_collector_errors_total{device="",reason="unexpected",source="tick"}' in (
            running.get("/metrics").data.decode()
        )
        running.watch.fails = False
        wait_until(lambda: running.get("/readyz").status == 200, "the next tick")
        running.end()


@pytest.mark.parametrize("helper", ["_read_gpus", "_read_ceph"])
def test_a_mistake_of_ours_in_a_helper_does_not_end_its_thread(
    config: Path, monkeypatch: pytest.MonkeyPatch, helper: str
) -> None:
    rounds = threading.Semaphore(0)

    def bug(self: Collecting) -> None:
        rounds.release()
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(Collecting, helper, bug)
    with capture_logs():
        running = Running(config, gpu_exporters=("http://127.0.0.1:1/",), ceph_urls=("http://127.0.0.1:1/",))
        assert all(rounds.acquire(timeout=60.0) for _ in range(2))
        running.end()


def test_without_good_documents_it_does_not_start(tmp_path: Path) -> None:
    broken = tmp_path / "documents.yaml"
    broken.write_text("kind: Nothing\n", encoding="utf-8")
    settings = CollectorSettings("c1", Address("127.0.0.1", 0))
    watch = Watch()
    with pytest.raises(InputError):
        Collecting(settings, Configuration([broken], "c1"), watch).run(threading.Event())
    assert not watch.started


@pytest.mark.parametrize(
    ("time_scale", "tick", "gpu", "window"), [(1.0, 5.0, 15.0, 600.0), (2.0, 1.0, 7.5, 300.0), (600.0, 1.0, 1.0, 12.0)]
)
def test_durations_shrink_with_the_time_scale_and_never_below_what_can_be_read(
    time_scale: float, tick: float, gpu: float, window: float
) -> None:
    settings = CollectorSettings("c1", Address("127.0.0.1", 0), time_scale=time_scale)
    assert (settings.tick_seconds, settings.gpu_seconds, settings.idle_window_seconds) == (tick, gpu, window)
    assert settings.scrape_limits.total_seconds <= gpu
