"""Asking Prometheus: a named fake that misbehaves for the errors, a real one for the answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from prometheus_client import CollectorRegistry

from collector.exporter.families import SnapshotCollector
from collector.exporter.health import HealthState
from collector.exporter.http import Address, HttpServer, metrics_app
from collector.model.reading import Known, Unknown
from collector.sources.errors import Forbidden, Malformed, NotFound, SourceError, Throttled, TimedOut, Unreachable
from collector.sources.evidence import EvidenceLimits, read_evidence
from collector.sources.prometheus import Prometheus
from collector.sources.prometheus_session import BadQuery, NotExecuted, Overloaded, Partial, PrometheusLimits
from controller.demo.processes import free_port, wait_until
from tests.testbed import Testbed
from tests.testbed.monitoring import ScrapeTarget
from tests.unit.collector.exporter.published import SITE, published, snapshot

LIMITS = PrometheusLimits(connect_seconds=3.0, total_seconds=3.0, series=50, body_bytes=100_000)


class FakePrometheus(BaseHTTPRequestHandler):
    """A named fake: the first part of the path says how it answers."""

    protocol_version = "HTTP/1.1"
    released = threading.Event()

    def do_GET(self) -> None:
        try:
            ANSWERS[urlsplit(self.path).path.split("/")[1]](self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""

    def send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status: int, kind: str) -> None:
        self.send(status, json.dumps({"status": "error", "errorType": kind, "error": "the words"}).encode())

    def succeed(self, result: object, **more: Any) -> None:
        document = {"status": "success", "data": {"resultType": "vector", "result": result}, **more}
        self.send(200, json.dumps(document).encode())

    def drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        while not self.released.wait(0.05):
            self.wfile.write(b" ")
        self.close_connection = True


def rows(count: int) -> list[dict[str, Any]]:
    return [{"metric": {"n": str(number)}, "value": [1700000000.5, "1"]} for number in range(count)]


ANSWERS: dict[str, Callable[[FakePrometheus], Any]] = {
    "400": lambda it: it.fail(400, "bad_data"),
    "401": lambda it: it.send(401, b"who are you"),
    "403": lambda it: it.send(403, b"no"),
    "404": lambda it: it.send(404, b"404 page not found"),
    "422": lambda it: it.fail(422, "execution"),
    "429": lambda it: it.fail(429, "too_many_requests"),
    "500": lambda it: it.fail(500, "internal"),
    "503": lambda it: it.fail(503, "unavailable"),
    "503-timeout": lambda it: it.fail(503, "timeout"),
    "302": lambda it: it.send(302, b""),
    "hang": lambda it: it.released.wait(30),
    "drip": FakePrometheus.drip,
    "html": lambda it: it.send(200, b"<html>sign in</html>"),
    "list": lambda it: it.send(200, b"[]"),
    "no-data": lambda it: it.send(200, b'{"status": "success"}'),
    "scalar": lambda it: it.succeed(3),
    "odd-row": lambda it: it.succeed([{"metric": {}, "value": "x"}]),
    "matrix": lambda it: it.succeed([{"metric": {}, "values": [[1, "2"]]}]),
    "huge": lambda it: it.succeed(["x" * 200_000]),
    "many": lambda it: it.succeed(rows(51)),
    "warned": lambda it: it.succeed(rows(1), warnings=["store-2 did not answer"]),
    "partial": lambda it: it.succeed(rows(1), isPartial=True),
    "informed": lambda it: it.succeed(rows(1), infos=["metric might not be a counter"]),
}
ERRORS: dict[str, type[SourceError]] = {
    "400": BadQuery,
    "401": Forbidden,
    "403": Forbidden,
    "404": NotFound,
    "422": NotExecuted,
    "429": Throttled,
    "500": Unreachable,
    "503": Overloaded,
    "503-timeout": TimedOut,
    "302": Malformed,
    "hang": TimedOut,
    "drip": TimedOut,
    "html": Malformed,
    "list": Malformed,
    "no-data": Malformed,
    "scalar": Malformed,
    "odd-row": Malformed,
    "matrix": Malformed,
    "huge": Malformed,
    "many": Partial,
    "warned": Partial,
    "partial": Partial,
}


@pytest.fixture(scope="module")
def fake() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakePrometheus)
    server.daemon_threads = True
    FakePrometheus.released.clear()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    FakePrometheus.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def source(request: pytest.FixtureRequest, fake: str) -> Iterator[Prometheus]:
    source = Prometheus(f"{fake}/{request.param}", LIMITS)
    yield source
    source.close()


@pytest.mark.parametrize(("source", "error"), list(ERRORS.items()), indirect=["source"], ids=list(ERRORS))
def test_each_way_to_fail_is_an_error_of_its_own_and_comes_in_time(
    source: Prometheus, error: type[SourceError]
) -> None:
    started = time.monotonic()
    with pytest.raises(error) as raised:
        source.instant("up")
    assert type(raised.value) is error
    assert time.monotonic() - started < 20, "a server that hangs does so for 30"


@pytest.mark.parametrize("source", ["401", "html"], indirect=True)
def test_an_error_names_the_server_and_no_password(source: Prometheus) -> None:
    address = source.url.removeprefix("http://")
    with_password = Prometheus(f"http://ann:secret@{address}", LIMITS)
    with pytest.raises(SourceError) as raised:
        with_password.instant("up")
    with_password.close()
    assert str(raised.value).startswith(f"GET http://{address}/api/v1/query: ")


@pytest.mark.parametrize("source", ["informed"], indirect=True)
def test_remarks_about_the_query_do_not_make_an_answer_partial(source: Prometheus) -> None:
    (sample,) = source.instant("up")
    assert (sample.labels, sample.value, sample.timestamp) == ({"n": "0"}, 1.0, 1700000000.5)


@pytest.mark.parametrize("source", ["matrix"], indirect=True)
def test_too_many_points_are_refused_before_they_are_asked_for(source: Prometheus) -> None:
    assert source.range_query("up", 0, 60, 15)[0].points == ((1.0, 2.0),)
    with pytest.raises(ValueError, match="60000 points per series"):
        source.range_query("up", 0, 60_000, 1)


def test_an_address_with_a_password_is_not_told(fake: str) -> None:
    source = Prometheus(fake.replace("http://", "http://reader:geheim@") + "/500", LIMITS)
    with pytest.raises(Unreachable) as raised:
        source.instant("up")
    assert "geheim" not in str(raised.value)
    source.close()


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://no-such-host.invalid", "nonsense"])
def test_an_address_where_no_prometheus_is(url: str) -> None:
    source = Prometheus(url, LIMITS)
    with pytest.raises(Unreachable):
        source.instant("up")
    source.close()


@pytest.mark.prometheus
def test_a_real_prometheus_answers_and_its_errors_are_told_apart(monitoring: Testbed) -> None:
    source = Prometheus(monitoring.prometheus.url)
    (sample,) = source.instant("vector(2) + 1")
    assert sample.value == 3.0
    assert source.instant('label_replace(vector(1), "a", "b", "", "")')[0].labels == {"a": "b"}
    now = time.time()
    (series,) = source.range_query("vector(1)", now - 60, now, 15)
    assert [value for _, value in series.points] == [1.0] * len(series.points)
    with pytest.raises(BadQuery):
        source.instant("sum(")
    with pytest.raises(NotExecuted):
        source.instant('label_replace(vector(1), "a", "x", "", "(")')
    source.close()


@pytest.fixture
def scraped_exporter(monitoring: Testbed) -> Iterator[HttpServer]:
    """Our own exporter with a small cluster, scraped every second."""
    now = time.time()
    state = published(replace(published().snapshot or snapshot(), taken_at=now))
    health = HealthState({}, {"kubernetes": now})
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: state, lambda: health, time.time, 90.0, "1.2.3"))
    server = HttpServer(metrics_app(registry, lambda: True), Address("127.0.0.1", free_port()))
    server.start()
    monitoring.prometheus.configure([ScrapeTarget("trimtab", f"http://127.0.0.1:{server.port}/metrics")])
    yield server
    server.stop()
    monitoring.prometheus.configure([])


@pytest.mark.prometheus
def test_an_exporter_that_goes_away_makes_blind_and_one_that_comes_back_makes_see(
    monitoring: Testbed, scraped_exporter: HttpServer
) -> None:
    source = Prometheus(monitoring.prometheus.url)
    limits = EvidenceLimits(freshest_seconds=20.0)

    def blind() -> tuple[str, ...]:
        return read_evidence(source, SITE, time.time(), limits).blind

    wait_until(lambda: blind() == (), "the first samples to arrive")
    evidence = read_evidence(source, SITE, time.time(), limits)
    idle_held = evidence.idle_held["vision", "h100"]
    assert isinstance(idle_held, Known)
    assert idle_held.value == 2.0
    assert idle_held.age_seconds < 20.0, "the age of the sample, not of the evaluation"
    assert evidence.attainment["vision", "h100"] == Unknown("it has no objective about queue wait")

    scraped_exporter.stop()
    wait_until(lambda: len(blind()) == 2, "both series to be missed")
    assert blind()[0] == (
        "trimtab_tenant_entitled_gpus is absent for vision in h100: does the collector run, and is it scraped?"
    )
    source.close()
