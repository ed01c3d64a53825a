"""The HTTP server of the exporter, on a loopback port."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import urllib3
from prometheus_client import CollectorRegistry

from collector.exporter.families import SnapshotCollector
from collector.exporter.health import HealthState
from collector.exporter.http import Address, HttpServer, ListenError, metrics_app
from tests.unit.collector.exporter.published import NOW, published


class Served:
    """A running server and a client for it."""

    def __init__(self) -> None:
        self.ready = True
        registry = CollectorRegistry()
        health = HealthState({}, {"kubernetes": NOW})
        registry.register(SnapshotCollector(published, lambda: health, lambda: NOW, 90.0, "1.2.3"))
        self.server = HttpServer(metrics_app(registry, lambda: self.ready), Address("127.0.0.1", 0))
        self.server.start()
        self.client = urllib3.PoolManager(retries=False, timeout=60.0)

    def get(self, path: str, **headers: str) -> urllib3.BaseHTTPResponse:
        url = f"http://127.0.0.1:{self.server.port}{path}"
        return self.client.request("GET", url, headers=headers, decode_content=False, redirect=False)


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.client.clear()
    served.server.stop()


def test_metrics_are_plain_text_of_the_usual_format(served: Served) -> None:
    answer = served.get("/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b'trimtab_tenant_entitled_gpus{cluster="c1",pool="h100",tenant="vision"} 32.0\n' in answer.data
    assert answer.data.endswith(b"\n")


def test_metrics_are_compressed_for_who_asks(served: Served) -> None:
    answer = served.get("/metrics", **{"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.data) == served.get("/metrics").data


def test_health_and_readiness_are_told_apart(served: Served) -> None:
    served.ready = False
    assert served.get("/healthz").status == 200
    assert served.get("/readyz").status == 503
    served.ready = True
    assert served.get("/readyz").status == 200


@pytest.mark.parametrize(("path", "status"), [("/", 404), ("/metrics/x", 404), ("/nothing", 404)])
def test_other_paths_are_not_there(served: Served, path: str, status: int) -> None:
    assert served.get(path).status == status


def test_only_reading_is_allowed(served: Served) -> None:
    url = f"http://127.0.0.1:{served.server.port}/metrics"
    assert served.client.request("POST", url, body=b"x").status == 405


def test_many_scrapes_at_once_are_all_answered(served: Served) -> None:
    with ThreadPoolExecutor(16) as pool:
        statuses = [answer.status for answer in pool.map(lambda _: served.get("/metrics"), range(48))]
    assert statuses == [200] * 48


def test_rubbish_on_the_port_does_not_end_the_server(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.server.port)) as connection:
        connection.sendall(b"\x16\x03\x01 no http at all\r\n\r\n")
        connection.recv(1024)
    assert served.get("/healthz").status == 200


def test_a_port_in_use_is_said_before_anything_starts(served: Served) -> None:
    second = HttpServer(metrics_app(CollectorRegistry(), lambda: True), Address("127.0.0.1", served.server.port))
    with pytest.raises(ListenError, match="something listens there already"):
        second.start()
    second.stop()


def test_a_stopped_server_lets_go_of_its_port_and_its_thread() -> None:
    served = Served()
    port = served.server.port
    served.client.clear()
    served.server.stop()
    assert "metrics" not in {thread.name for thread in threading.enumerate()}
    with socket.create_server(("127.0.0.1", port)):
        pass


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9108", Address("127.0.0.1", 9108)),
        (":9108", Address("", 9108)),
        ("[::1]:0", Address("::1", 0)),
        ("collector.example:80", Address("collector.example", 80)),
    ],
)
def test_an_address_is_host_and_port(text: str, address: Address) -> None:
    assert Address.parse(text) == address


@pytest.mark.parametrize(
    "text", ["", "9108", "localhost", "localhost:", "localhost:http", "::1:9108", "a:70000", "a:-1"]
)
def test_what_is_no_address_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not an address such as"):
        Address.parse(text)


@pytest.mark.parametrize(
    "begun", [b"", b"GET /healthz HTTP/1.1\r\nHost: x", b"POST /healthz HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"]
)
def test_who_never_ends_a_request_takes_no_place_from_others(
    begun: bytes, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.exporter.prompt_protocol.REQUEST_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", served.server.port), timeout=20.0) as caller:
        caller.sendall(begun)
        while caller.recv(65536):
            pass  # an answer may come before the end, the end comes
    assert served.get("/healthz").status == 200


def test_who_asks_in_time_keeps_the_connection(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.exporter.prompt_protocol.REQUEST_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", served.server.port), timeout=0.5) as caller:
        for _ in range(2):
            caller.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while not answer.endswith(b"ok\n"):
                answer += caller.recv(65536)
            with pytest.raises(TimeoutError):  # longer than a request may take, and still open
                caller.recv(1)
