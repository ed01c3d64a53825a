"""The outermost frame: when it ticks and when not, what it says, and that only a lost lease ends it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from structlog.testing import capture_logs

from collector.sources.errors import CredentialsProblem, Forbidden, SourceError, TimedOut, Unreachable
from controller.api.policy import Mode
from controller.cli import pause, run_controller
from controller.cli.output import REFUSED
from controller.runtime.lease import FenceError
from controller.runtime.loop import Loop
from controller.runtime.tick import TickReport
from tests.unit.controller.runtime.stage import CONFIG_MAPS, HOME, TOKEN, Pause, Stage, Stop
from tests.unit.controller.runtime.test_doorbell import post_of

STATUS = f"{CONFIG_MAPS}/trimtab-status"
LEASE = "trimtab-controller"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def run(stage: Stage, loop: Loop, pauses: int) -> list[dict[str, Any]]:
    """Run until it was at rest so often; what it logged."""
    with capture_logs() as logs:
        loop.run(Stop(stage, pauses))
    return [dict(line) for line in logs]


def sentences(logs: list[dict[str, Any]]) -> list[str]:
    return [line["sentence"] for line in logs if line["event"] == "tick"]


def status(stage: Stage) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(stage.api.objects[STATUS]["data"]["status.json"])
    return document


def failing(stage: Stage, error: Callable[[str, str], Exception], *, path_end: str) -> None:
    def fails(method: str, path: str) -> None:
        if path.endswith(path_end):
            raise error(method, path)

    stage.api.before = fails


def answers_again(stage: Stage) -> None:
    stage.api.before = lambda method, path: None


def test_it_ticks_in_its_cadence_and_tells_each_tick_once(stage: Stage) -> None:
    started = stage.ticked
    logs = run(stage, stage.loop(), 3)
    assert len(sentences(logs)) == 3
    assert stage.ticked - started == pytest.approx(2 * 30.0 + 1.0)
    assert status(stage)["sentence"] == sentences(logs)[-1]
    assert [line["target"] for line in logs if line["event"] == "written"] == ["trimtab-shared", "trimtab-vision"]


@pytest.mark.parametrize("kind", [Unreachable, TimedOut, Forbidden])
@pytest.mark.parametrize("path_end", ["/trimtab-control", "/trimtab-ledger", "/cohorts", "/trimtab-status", ""])
def test_no_answer_of_the_api_server_ends_it(stage: Stage, kind: type[SourceError], path_end: str) -> None:
    loop = stage.loop()
    run(stage, loop, 1)
    failing(stage, lambda method, path: kind(method, path, "said the server"), path_end=path_end)
    logs = run(stage, loop, 3)
    assert "said the server" in str(logs)
    answers_again(stage)
    stage.passes(60.0)
    logs = run(stage, loop, 3)
    assert "said the server" not in str(logs)
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (8, 16)


def test_no_identity_that_is_gone_ends_it(stage: Stage) -> None:
    loop = stage.loop()
    run(stage, loop, 1)
    failing(stage, lambda method, path: CredentialsProblem("token file", "gone"), path_end="")
    assert "token file: gone" in str(run(stage, loop, 12))
    answers_again(stage)
    assert sentences(run(stage, loop, 2))


def test_a_tick_that_fails_unexpectedly_latches_is_told_and_the_next_goes_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = stage.loop()

    def bug(*args: object) -> TickReport:
        raise ZeroDivisionError("by nothing")

    with monkeypatch.context() as patched:
        patched.setattr(type(loop.controller.observer), "look", bug)
        logs = run(stage, loop, 2)
    assert [line["event"] for line in logs].count("tick failed") == 2
    assert "ZeroDivisionError: by nothing" in status(stage)["latched"]
    assert loop.board.document()["sentence"].startswith("Held: latched: a tick failed unexpectedly")
    run(stage, loop, 4)
    assert "ZeroDivisionError" in status(stage)["latched"]
    assert status(stage)["findings"][0]["refusal"] == "LATCHED"
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8)


def test_a_latch_outlasts_a_new_start_and_is_lifted_by_resume_without_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = stage.loop()

    def bug(*args: object) -> TickReport:
        raise ZeroDivisionError("by nothing")

    with monkeypatch.context() as patched:
        patched.setattr(type(loop.controller.observer), "look", bug)
        run(stage, loop, 1)
    loop.lease.release()
    restarted = stage.loop()
    run(stage, restarted, 4)
    assert "ZeroDivisionError" in restarted.controller.ledger.latched
    assert stage.leaf("trimtab-vision") == 8
    monkeypatch.setattr(pause, "connect", lambda *_: stage.api)
    pause.resume(namespace=HOME)
    assert "A latch is lifted, which said: a tick failed unexpectedly" in capsys.readouterr().err
    run(stage, restarted, 4)
    assert (restarted.controller.ledger.latched, stage.leaf("trimtab-vision")) == ("", 16)


def test_a_latch_in_observe_is_not_written_for_want_of_the_right(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = stage.loop()
    loop.controller.ceiling = Mode.OBSERVE
    monkeypatch.setattr(type(loop.controller.observer), "look", lambda *_: 1 / 0)
    run(stage, loop, 2)
    assert loop.controller.ledger.latched
    assert not [path for path in stage.api.writes if path.endswith("trimtab-ledger")]


def test_a_tick_that_fails_rests_as_long_as_any_other(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = stage.loop()
    run(stage, loop, 1)

    def bug(*args: object) -> TickReport:
        raise ZeroDivisionError

    monkeypatch.setattr(type(loop.controller.observer), "look", bug)
    started = stage.ticked
    run(stage, loop, 4)
    assert stage.ticked - started >= 3 * 30.0


def test_a_report_that_can_not_be_told_ends_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = stage.loop()

    def bug(*args: object) -> None:
        raise KeyError("name")

    monkeypatch.setattr(type(loop.status_store), "write", bug)
    assert len(sentences(run(stage, loop, 3))) == 3


def test_a_lease_that_is_lost_between_decision_and_write_ends_it(stage: Stage) -> None:
    loop, other = stage.loop(), stage.lease("other")
    other.acquire()
    other.release()

    def other_takes_it(method: str, path: str) -> None:
        if method == "PATCH" and path.endswith("/trimtab-shared"):  # the preview is no write, so this is the take
            return
        if path.endswith("/cohorts") and loop.board.ticks == 1:
            answers_again(stage)
            stage.passes(30.0)
            other.acquire()
            stage.passes(30.0)
            other.acquire()

    stage.api.before = other_takes_it
    with pytest.raises(FenceError, match="held by other"):
        loop.run(Stop(stage, 5))
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8)


def test_the_command_then_ends_with_refused(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> None:
    class Lost:
        def run(self, stop: object) -> None:
            raise FenceError("held by other")

    class Settled:
        def wait_ready(self, timeout_seconds: float) -> bool:
            return True

    with pytest.raises(typer.Exit) as ended:
        run_controller._until_stopped(Lost(), Settled(), Pause(stage))  # type: ignore[arg-type]  # two small doubles
    assert ended.value.exit_code == REFUSED == 4


def test_a_standby_does_not_tick_says_for_whom_it_waits_and_follows(stage: Stage) -> None:
    holder, standby = stage.lease("holder"), stage.loop(stage.lease("standby"))
    holder.acquire()
    logs = run(stage, standby, 2)
    assert {line["event"] for line in logs} == {"waiting for the lease"}
    assert logs[0]["reason"] == "held by holder"
    assert standby.board.document() == {
        "schema_version": 1,
        "ready": False,
        "waiting": "the lease is not ours: held by holder",
        "notice": "",
    }
    holder.release()
    assert sentences(run(stage, standby, 1))
    assert standby.board.document()["waiting"] == ""


def test_a_server_that_stays_away_is_told_where_no_tick_tells_it(stage: Stage) -> None:
    loop = stage.loop()
    run(stage, loop, 1)
    failing(stage, lambda method, path: Unreachable(method, path, "connection refused"), path_end="")
    run(stage, loop, 30)
    assert "connection refused" in loop.board.document()["waiting"]


def test_news_at_the_doorbell_ends_the_rest_and_a_storm_of_it_not_sooner_than_the_least_gap(stage: Stage) -> None:
    loop = stage.loop()
    posts = iter(range(100))

    def rings() -> None:
        loop.doorbell.post(f"Bearer {TOKEN}", post_of(f"tenant-{next(posts)}"))

    woken = loop.doorbell.woken
    assert isinstance(woken, Pause)
    woken.then = rings
    started = stage.ticked
    logs = run(stage, loop, 5)
    assert [line["alert"] for line in logs if line["event"] == "signal"] == ["TrimtabTenantStarved"] * 4
    assert 4 * loop.least_gap_seconds <= stage.ticked - started < 10.0


def test_a_clock_that_is_set_back_an_hour_does_not_make_it_sleep_an_hour(stage: Stage) -> None:
    loop = stage.loop()
    woken = loop.doorbell.woken
    assert isinstance(woken, Pause)
    set_back = iter([-3600.0])
    woken.then = lambda: stage.world.passes(next(set_back, 0.0))
    started = stage.ticked
    assert len(sentences(run(stage, loop, 3))) == 3
    assert stage.ticked - started == pytest.approx(61.0)


def test_the_lease_is_renewed_while_it_rests(stage: Stage) -> None:
    loop, other = stage.loop(stage.lease()), stage.lease("other")
    loop.lease.duration_seconds = 6
    woken = loop.doorbell.woken
    assert isinstance(woken, Pause)
    taken: list[bool] = []
    woken.then = lambda: taken.append(other.acquire())
    run(stage, loop, 3)
    assert taken
    assert not any(taken)


def test_a_stop_that_comes_while_it_rests_is_heeded_at_once(stage: Stage) -> None:
    loop, stop = stage.loop(), Stop(stage, 1000)
    woken = loop.doorbell.woken
    assert isinstance(woken, Pause)
    woken.then = stop.set
    loop.run(stop)
    assert loop.board.ticks == 1
    assert stage.ticked < 2.0
