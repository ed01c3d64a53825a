"""One tick: what it writes, and what it says when a source fails, a document is broken, or we are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.model.snapshot import Evidence
from collector.sources.errors import CredentialsProblem, Forbidden, Malformed, Throttled, TimedOut, Unreachable
from controller.api.errors import InvariantError
from controller.policy.change import Stage as ChangeStage
from controller.runtime import tick as tick_module
from controller.runtime.lease import FenceError
from controller.runtime.ledger_store import LedgerStore
from controller.runtime.tick import Controller
from tests.unit.controller.runtime.stage import CONFIG_MAPS, DOCUMENTS, HOME, Stage

LEDGER = f"{CONFIG_MAPS}/trimtab-ledger"
COHORTS = "/apis/kueue.x-k8s.io/v1beta2/cohorts"
PROBLEMS = (Unreachable, TimedOut, Forbidden, Throttled, Malformed)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def ticks(stage: Stage, controller: Controller, count: int = 2) -> None:
    for _ in range(count):
        controller.tick()
        stage.passes(30.0)


def test_the_second_look_confirms_and_moves_the_gpus(stage: Stage) -> None:
    controller = stage.controller()
    assert controller.tick().written == ()
    stage.passes(30.0)
    report = controller.tick()
    assert [(one.target, one.before, one.after) for one in report.written] == [
        ("trimtab-shared", 16, 8),
        ("trimtab-vision", 8, 16),
    ]
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (8, 16)
    assert LedgerStore(stage.api, HOME).load().active[0].stage is ChangeStage.ON_TRIAL
    takes, gives = (stage.api.writes.index(f"{COHORTS}/trimtab-{name}") for name in ("shared", "vision"))
    assert stage.api.writes.index(LEDGER) < takes < gives
    assert LEDGER in stage.api.writes[takes:gives], "the give is intended only once the take was seen"


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("path", [f"{CONFIG_MAPS}/trimtab-control", LEDGER])
def test_whatever_the_api_server_answers_the_tick_holds_and_says_so(
    stage: Stage, path: str, problem: type[Unreachable]
) -> None:
    controller = stage.controller()
    ticks(stage, controller, 1)

    def fails(method: str, asked: str) -> None:
        if asked == path:
            raise problem(method, asked, "said the server")

    stage.api.before = fails
    report = controller.tick()
    assert report.outcome is None
    assert "said the server" in report.sentence
    assert report.sentence.startswith("Held: ")
    assert report.wake_at > report.at
    stage.api.before = lambda method, asked: None
    stage.passes(30.0)
    assert controller.tick().outcome is not None


def test_a_write_of_the_ledger_that_fails_leaves_the_objects_alone(stage: Stage) -> None:
    controller = stage.controller()
    ticks(stage, controller, 1)

    def fails(method: str, asked: str) -> None:
        if method == "PATCH" and asked == LEDGER:
            raise Unreachable(method, asked, "connection lost")

    stage.api.before = fails
    report = controller.tick()
    assert "connection lost" in report.sentence
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8)


def test_an_identity_that_is_gone_is_held_and_said(stage: Stage) -> None:
    controller = stage.controller()

    def fails(method: str, asked: str) -> None:
        raise CredentialsProblem("token file", "gone")

    stage.api.before = fails
    assert "token file: gone" in controller.tick().sentence


def test_own_objects_that_can_not_be_listed_make_it_blind_and_nothing_is_written(stage: Stage) -> None:
    controller = stage.controller()
    ticks(stage, controller, 1)

    def fails(method: str, asked: str) -> None:
        if asked == COHORTS:
            raise Forbidden(method, asked, "cohorts are forbidden")

    stage.api.before = fails
    report = controller.tick()
    assert report.outcome is not None
    assert "cohorts are forbidden" in report.sentence
    assert report.written == ()
    assert LEDGER not in stage.api.writes


def test_without_evidence_it_is_blind_and_begins_nothing(stage: Stage) -> None:
    stage.world.evidence = Evidence(blind=("Prometheus is away",))
    controller = stage.controller()
    ticks(stage, controller, 4)
    report = controller.tick()
    assert report.sentence == "Blind, so nothing new is decided: Prometheus is away."
    assert stage.api.writes == []


def test_a_broken_edit_of_a_document_changes_nothing_and_is_said(stage: Stage) -> None:
    controller = stage.controller()
    controller.tick()
    stage.documents.write_text(DOCUMENTS.replace("guarantee: 8", "guarantee: -8"), encoding="utf-8")
    report = controller.tick()
    assert report.outcome is not None
    assert any("the last good documents stay in force" in problem for problem in report.problems)


def test_documents_that_were_never_good_are_waited_for(stage: Stage) -> None:
    stage.documents.write_text("kind: [", encoding="utf-8")
    controller = stage.controller()
    report = controller.tick()
    assert report.outcome is None
    assert report.ledger.latched == ""
    stage.documents.write_text(DOCUMENTS, encoding="utf-8")
    assert controller.tick().outcome is not None


@pytest.mark.parametrize("text", [b"kind: [", b"kind: Pod", b"\xff\xfe\x00", b"apiVersion: v1\nkind: Cohort\n"])
def test_a_broken_baseline_is_said_and_the_last_good_one_stays(stage: Stage, text: bytes) -> None:
    controller = stage.controller()
    ticks(stage, controller, 1)
    stage.baseline.write_bytes(text)
    report = controller.tick()
    assert any("the last good one stays in force" in problem for problem in report.problems)
    assert stage.leaf("trimtab-vision") == 16


def test_a_baseline_file_that_is_gone_is_said_and_the_last_good_one_stays(stage: Stage) -> None:
    controller = stage.controller()
    ticks(stage, controller, 1)
    stage.baseline.unlink()
    assert any("the last good one stays in force" in problem for problem in controller.tick().problems)
    assert stage.leaf("trimtab-vision") == 16


def test_a_broken_invariant_latches_and_what_follows_decides_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = stage.controller()

    def wrong(*args: object) -> None:
        raise InvariantError("levels below zero")

    with monkeypatch.context() as patched:
        patched.setattr(tick_module, "decide", wrong)
        assert controller.tick().sentence == "Held: latched: levels below zero"
    ticks(stage, controller, 3)
    report = controller.tick()
    assert report.ledger.latched == "levels below zero"
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8)
    assert report.outcome is not None
    refusals = [decision.refusal.code for decision in report.outcome.decisions if decision.refusal is not None]
    assert refusals == ["LATCHED"]


def test_a_lease_that_is_lost_stops_it_before_the_write(stage: Stage) -> None:
    class Gone:
        def check(self) -> None:
            raise FenceError("held by another")

    controller = stage.controller(Gone())
    ticks(stage, controller, 1)
    with pytest.raises(FenceError):
        controller.tick()
    assert stage.api.writes == []


def test_somebody_elses_ledger_is_read_again_before_anything_is_decided(stage: Stage) -> None:
    controller, other = stage.controller(), stage.controller()
    ticks(stage, controller, 1)
    ticks(stage, other, 2)
    moved = stage.leaf("trimtab-vision")
    controller.tick()
    assert stage.leaf("trimtab-vision") == moved
    assert len(LedgerStore(stage.api, HOME).load().changes) == 1


def test_a_change_that_the_ledger_lost_is_adopted_from_its_marks(stage: Stage) -> None:
    controller = stage.controller()
    ticks(stage, controller, 2)
    identifier = controller.ledger.active[0].id
    del stage.api.objects[LEDGER]
    report = stage.controller().tick()
    assert any(f"change {identifier} was adopted" in problem for problem in report.problems)
    assert [change.id for change in LedgerStore(stage.api, HOME).load().active] == [identifier]


def test_pause_is_heeded_and_outlasts_a_word_that_can_not_be_read(stage: Stage) -> None:
    path = f"{CONFIG_MAPS}/trimtab-control"
    stage.api.objects[path] = {"metadata": {"resourceVersion": "1"}, "data": {"paused": "maintenance"}}
    controller = stage.controller()
    ticks(stage, controller, 4)
    assert controller.tick().paused == "maintenance"
    assert stage.leaf("trimtab-vision") == 8

    def fails(method: str, asked: str) -> None:
        raise Unreachable(method, asked, "away")

    stage.api.before = fails
    assert controller.tick().paused == "maintenance"


def test_a_write_that_crossed_the_kill_switch_on_its_way_is_taken_back_by_the_next_tick(stage: Stage) -> None:
    controller = stage.controller()
    ticks(stage, controller, 2)
    store = LedgerStore(stage.api, HOME)
    (change,) = store.load().active
    store.save(store.load().with_change(change.ended(stage.world.now, "revert --all")))
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (8, 16)
    report = controller.tick()
    assert [(one.target, one.after) for one in report.written] == [("trimtab-vision", 8), ("trimtab-shared", 16)]
    assert (stage.leaf("trimtab-shared"), stage.leaf("trimtab-vision")) == (16, 8)


@pytest.mark.parametrize("identifier", ["", "..", "a b", "x" * 300, "<script>", "Ä"])
def test_a_mark_with_an_id_that_no_ledger_could_keep_is_no_mark(stage: Stage, identifier: str) -> None:
    mark = {"id": identifier, "tenant": "vision", "pool": "h100", "from": "trimtab-shared", "to": "trimtab-vision"}
    cohort = stage.api.objects[f"{COHORTS}/trimtab-vision"]
    text = json.dumps([{**mark, "gpus": 1, "expiresAt": "2030-01-01T00:00:00Z"}])
    cohort["metadata"]["annotations"] = {"trimtab.io/changes": text}
    report = stage.controller().tick()
    assert report.outcome is not None
    assert report.ledger.changes == ()


def test_a_baseline_that_was_never_good_is_not_called_the_last_good_one(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.baseline.write_text("kind: Nothing", encoding="utf-8")
    problems = stage.controller().tick().problems
    assert any("the baseline can not be read, there never was one" in problem for problem in problems)
    assert not any("last good" in problem for problem in problems)
