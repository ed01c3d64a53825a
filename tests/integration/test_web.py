"""The controller's door over real HTTP: who may ring, what scripts, people and Prometheus are served."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import urllib3

from collector.catalogue.controller import CONTROLLER
from collector.catalogue.index import find
from collector.exporter.http import Address, HttpServer
from collector.parse.exposition import parse_exposition
from controller.policy.change import Stage as ChangeStage
from controller.runtime.doorbell import LARGEST_BODY_BYTES
from controller.runtime.loop import Loop
from controller.runtime.web import application
from tests.unit.controller.runtime.stage import CONFIG_MAPS, TOKEN, Stage, Stop
from tests.unit.controller.runtime.test_doorbell import post_of

HOSTILE = "<script>alert('x')</script>"


@dataclass
class Door:
    """A loop over a world in memory, and its door on a real port."""

    stage: Stage
    loop: Loop
    port: int

    def get(self, path: str) -> urllib3.BaseHTTPResponse:
        return self.request("GET", path)

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> urllib3.BaseHTTPResponse:
        url = f"http://127.0.0.1:{self.port}{path}"
        return urllib3.request(method, url, body=body, headers=headers, retries=False, timeout=60.0)

    def ring(self, body: bytes, token: str = TOKEN) -> urllib3.BaseHTTPResponse:
        return self.request("POST", "/alerts", body, Authorization=f"Bearer {token}")

    def ticks(self, count: int) -> None:
        self.loop.run(Stop(self.stage, count))

    def status(self) -> dict[str, Any]:
        document: dict[str, Any] = self.get("/status").json()
        return document


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    stage = Stage(tmp_path)
    loop = stage.loop()
    app = application(loop.board, loop.doorbell, lambda: loop.board.last is not None)
    server = HttpServer(app, Address("127.0.0.1", 0))
    server.start()
    yield Door(stage, loop, server.port)
    server.stop()


# The doorbell


def test_news_rings_and_the_same_post_a_hundred_times_has_one_effect(door: Door) -> None:
    answers = [door.ring(post_of("vision")) for _ in range(100)]
    assert {answer.status for answer in answers} == {200}
    assert sum(answer.json()["accepted"] for answer in answers) == 1
    assert [signal.tenant for signal in door.loop.doorbell.taken()] == ["vision"]


@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN}2"])
def test_without_the_token_nobody_rings(door: Door, token: str) -> None:
    assert door.ring(post_of("vision"), token).status == 401
    assert door.request("POST", "/alerts", post_of("vision")).status == 401
    assert door.loop.doorbell.taken() == ()


def test_who_has_no_token_is_answered_before_the_body_is_read(door: Door) -> None:
    with socket.create_connection(("127.0.0.1", door.port), timeout=60.0) as connection:
        head = f"POST /alerts HTTP/1.1\r\nHost: trimtab\r\nContent-Length: {LARGEST_BODY_BYTES}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 401")


def test_a_post_that_never_ends_holds_up_nobody_else(door: Door) -> None:
    with socket.create_connection(("127.0.0.1", door.port), timeout=60.0) as connection:
        head = f"POST /alerts HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 1000\r\n\r\n"
        connection.sendall(head.encode() + b"{")
        assert door.get("/healthz").status == 200
        assert door.ring(post_of("vision")).status == 200


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"not json", 400),
        (b"[]", 400),
        (b"{}", 400),
        (b"\xff\xfe", 400),
        (b"[" * 200_000, 400),
        (b"x" * (LARGEST_BODY_BYTES + 1), 413),
        (b"x" * (3 * LARGEST_BODY_BYTES), 413),
        (post_of("vision", alert="SomebodyElses", signal=""), 200),
    ],
    ids=["no JSON", "a list", "empty", "no text", "deep", "oversized", "far oversized", "unknown alert"],
)
def test_what_is_no_news_gets_its_code_and_wakes_nobody(door: Door, body: bytes, expected: int) -> None:
    assert door.ring(body).status == expected
    assert not door.loop.doorbell.woken.is_set()
    assert door.loop.doorbell.taken() == ()
    assert door.get("/healthz").status == 200


def test_the_doorbell_can_only_be_rung(door: Door) -> None:
    assert door.get("/alerts").status == 405


# Health


def test_it_is_alive_at_once_and_ready_after_the_first_tick(door: Door) -> None:
    assert (door.get("/healthz").status, door.get("/readyz").status) == (200, 503)
    assert door.status() == {"schema_version": 1, "ready": False, "waiting": "", "notice": ""}
    door.ticks(1)
    assert (door.get("/healthz").status, door.get("/readyz").status) == (200, 200)


# Status for scripts


def test_status_tells_what_was_found_and_moved(door: Door) -> None:
    door.ticks(2)
    status = door.status()
    assert (status["ready"], status["mode"], status["blind"], status["latched"]) == (True, "Enforce", [], "")
    assert status["sentence"].startswith("vision is starved in pool h100: move 8 GPUs")
    assert [(one["tenant"], one["kind"], one["cause"]) for one in status["findings"]] == [
        ("vision", "starved", "scheduling")
    ]
    (change,) = status["active_changes"]
    assert (change["given"], change["stage"]) == (8, ChangeStage.ON_TRIAL)
    assert change["inverse"] == "give 8 GPUs of pool h100 back from trimtab-vision to trimtab-shared"
    vision = next(row for row in status["tenants"] if row["tenant"] == "vision")
    assert (vision["guarantee_gpus"], vision["reserved_gpus"], vision["shortfall_gpus"]) == (8, 16, 8)


# Metrics


def families(door: Door) -> dict[str, list[dict[str, str]]]:
    """Family → the label sets of its samples."""
    answer = door.get("/metrics")
    assert answer.status == 200
    found = parse_exposition(answer.data.decode())
    assert found.problems == ()
    labels: dict[str, list[dict[str, str]]] = {}
    for sample in found.samples:
        labels.setdefault(sample.name, []).append(dict(sample.labels))
    return labels


def test_every_family_is_of_the_catalogue_with_just_its_labels_and_none_is_left_out(door: Door) -> None:
    door.ring(post_of("vision"))
    door.ring(b"", token="wrong")
    door.ticks(3)
    shown = families(door)
    for name, label_sets in shown.items():
        entry = find(name)
        assert entry is not None, name
        for labels in label_sets:
            assert set(labels) == set(entry.labels), name
        assert len({tuple(sorted(labels.items())) for labels in label_sets}) == len(label_sets), f"{name} twice"
    assert set(shown) == {entry.name for entry in CONTROLLER}
    assert {labels["outcome"] for labels in shown["trimtab_doorbell_posts_total"]} == {"accepted", "unauthorized"}
    assert {labels["knob"] for labels in shown["trimtab_controller_active_changes"]} == {"kueue-leaf-cohort"}


def test_before_the_first_tick_nothing_is_said_of_what_nobody_saw(door: Door) -> None:
    assert set(families(door)) == {"trimtab_controller_ticks_total"}


# The page for people


class Texts(HTMLParser):
    """All text of a page; fails on an element that we never write."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def page(door: Door) -> Texts:
    answer = door.get("/")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    return Texts(answer.data.decode())


def test_the_page_renders_in_every_state(door: Door) -> None:
    assert "no tick has ended yet" in page(door).text
    door.ticks(2)
    shown = page(door).text
    assert "move 8 GPUs from trimtab-shared to trimtab-vision" in shown
    assert "8 of 8 GPUs" in shown
    other = door.stage.lease("other")
    door.stage.passes(60.0)
    assert not other.acquire()
    door.stage.passes(60.0)
    assert other.acquire()
    door.ticks(1)
    assert "Not ticking: the lease is not ours: held by other." in page(door).text


def test_hostile_text_is_shown_and_never_obeyed(door: Door) -> None:
    control = f"{CONFIG_MAPS}/trimtab-control"
    door.stage.api.objects[control] = {"metadata": {"resourceVersion": "1"}, "data": {"paused": HOSTILE}}
    ledger = f"{CONFIG_MAPS}/trimtab-ledger"
    door.stage.api.objects[ledger] = {"metadata": {"resourceVersion": "1"}, "data": {HOSTILE: HOSTILE}}
    post = json.loads(post_of("vision"))
    post["alerts"][0]["annotations"] = {"summary": HOSTILE}
    post["alerts"][0]["labels"]["tenant"] = HOSTILE
    assert door.ring(json.dumps(post).encode()).status == 200
    door.ticks(1)
    answer = door.get("/")
    assert "<script" not in answer.data.decode().lower()
    shown = page(door)
    assert shown.text.count(HOSTILE) >= 3
    assert shown.tags.isdisjoint({"script", "img", "iframe", "object"})
    assert door.status()["paused"] == HOSTILE
    assert set(families(door)) >= {"trimtab_controller_blind"}


def test_other_paths_are_not_found(door: Door) -> None:
    assert {door.get(path).status for path in ("/admin", "/status/../etc", "/templates/status.html")} == {404}


def test_a_post_that_is_cut_off_is_counted_and_is_no_fault(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    head = f"POST /alerts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 50\r\n\r\n"
    with socket.create_connection(("127.0.0.1", door.port), timeout=20.0) as caller:
        caller.sendall(head.encode() + b"{")
    for _ in range(200):
        if door.loop.doorbell.counts:
            break
        door.get("/healthz")
    assert door.loop.doorbell.counts == {"not_json": 1}
    assert not [record for record in caplog.records if record.exc_info]
