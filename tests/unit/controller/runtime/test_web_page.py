"""The status page: what an operator reads in five seconds, before the first tick and after, with what is not known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx

from alerts.rules.model import SignalKind
from alerts.signals import Signal, SignalStatus
from collector.model.reading import Unknown
from controller.api.policy import Mode
from controller.runtime.doorbell import Doorbell
from controller.runtime.status import StatusBoard
from controller.runtime.tick import TickReport
from controller.runtime.web import application
from tests.unit.controller.demo.rehearsal import Rehearsal
from tests.unit.controller.runtime.stage import Stage

SIGNAL = Signal(
    SignalKind.STARVED,
    "TrimtabTenantStarved",
    SignalStatus.FIRING,
    "demo",
    "vision",
    "h100",
    1.0,
    "f",
    "k",
    {},
    "it waits",
)


def page(board: StatusBoard) -> str:
    door = httpx.ASGITransport(application(board, Doorbell("token"), lambda: True))

    async def asked() -> httpx.Response:
        async with httpx.AsyncClient(transport=door, base_url="http://trimtab") as client:
            return await client.get("/")

    answer = asyncio.run(asked())
    assert answer.status_code == 200
    return answer.text


def test_what_a_person_may_apply_stands_there_field_by_field_with_its_command(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    controller = stage.controller()
    controller.ceiling = Mode.RECOMMEND
    controller.tick()
    stage.passes(30.0)
    board = StatusBoard()
    board.take(controller.tick())
    text = page(board)
    assert "For a person to apply" in text
    assert "nominalQuota: 16 → 8" in text
    assert "kubectl apply --server-side --field-manager=trimtab" in text


def played(folder: Path, seconds: float) -> TickReport:
    rehearsal = Rehearsal(folder, 1)
    rehearsal.play(seconds)
    return rehearsal.reports[-1]


def test_before_the_first_tick_it_says_that_it_starts() -> None:
    assert "no tick has ended yet" in page(StatusBoard())


def test_it_shows_tenants_as_bars_and_the_alerts_that_rang(tmp_path: Path) -> None:
    board = StatusBoard()
    board.ring([SIGNAL, replace(SIGNAL, status=SignalStatus.RESOLVED)], 100.0)
    board.take(played(tmp_path, 30))
    shown = page(board)
    assert all(f"<b>{name}</b>" in shown for name in ("vision", "nlp", "speech", "research"))
    assert 'class="lent"' in shown
    assert shown.count("it waits") == 2
    assert "a demo" not in shown.lower(), "only a demo is marked as one"
    assert board.alerts_fired == 1, "a resolved alert has not fired"


def test_a_float_that_is_not_known_is_no_bar_and_no_zero(tmp_path: Path) -> None:
    report = played(tmp_path, 10)
    assert report.observation is not None
    snapshot = report.observation.snapshot
    tenants = tuple(replace(one, floating_now=Unknown("cohorts not readable")) for one in snapshot.tenants)
    blind = replace(report, observation=replace(report.observation, snapshot=replace(snapshot, tenants=tenants)))
    board = StatusBoard()
    board.take(blind)
    shown = page(board)
    assert "unknown" in shown
    assert 'class="own" style' not in shown


def test_a_demo_says_that_it_is_one_before_and_after_the_first_tick(tmp_path: Path) -> None:
    board = StatusBoard(notice="A demo: the cluster is simulated.")
    assert "A demo: the cluster is simulated." in page(board)
    board.take(played(tmp_path, 10))
    assert "A demo: the cluster is simulated." in page(board)


def test_a_tick_that_did_not_see_shows_no_zero_and_does_not_say_that_nothing_is_wrong(tmp_path: Path) -> None:
    report = played(tmp_path, 10)
    assert report.observation is not None
    assert report.outcome is not None
    snapshot = replace(report.observation.snapshot, blind=("pods not readable: 403 Forbidden",))
    board = StatusBoard()
    blind = replace(report, observation=replace(report.observation, snapshot=snapshot))
    board.take(replace(blind, outcome=replace(report.outcome, decisions=())))
    shown = page(board)
    assert "What is wrong is not known" in shown
    assert "Nothing is wrong." not in shown
    assert {row["reserved_gpus"] for row in board.document()["tenants"]} == {None}
    assert 'class="own" style' not in shown


def test_a_sentence_stands_once_however_often_its_numbers_change(tmp_path: Path) -> None:
    board, report = StatusBoard(), played(tmp_path, 10)
    assert report.outcome is not None
    for shortfall in (9, 12, 14):
        told = f"speech lacks {shortfall} GPUs of pool h100."
        board.take(replace(report, outcome=replace(report.outcome, sentence=told)))
    assert [sentence[21:] for sentence in board.sentences] == ["speech lacks 14 GPUs of pool h100."]
    assert page(board).count("speech lacks") == 1
