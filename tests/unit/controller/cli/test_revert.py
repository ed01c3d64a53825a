"""`trimtab revert` on an API in memory: what it writes, what it says, and that it never leaves half a kill switch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.sources.errors import Unreachable
from controller.cli.main import run
from controller.cli.output import BAD_INPUT, REFUSED, UNREACHABLE
from controller.policy.change import Change, Stage
from controller.runtime.control import read_control
from controller.runtime.ledger_store import LedgerLost, LedgerStore
from tests.unit.controller.cli.test_explain import CHANGE
from tests.unit.controller.runtime.stage import CONFIG_MAPS, HOME
from tests.unit.controller.runtime.stage import Stage as Site

PAUSED = "Trimtab is paused now: no new changes until `trimtab resume`."


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Leaves of the baseline, one of which holds more than agreed under a change in force."""
    site = Site(tmp_path)
    monkeypatch.setattr("controller.cli.revert.connect", lambda *_: site.api)
    store = LedgerStore(site.api, HOME)
    store.save(store.load().with_change(CHANGE))
    site.api.asked.clear()
    return site


def revert(site: Site, *arguments: str) -> int:
    return run(["revert", *arguments, "--namespace", HOME])


def the_change(site: Site) -> Change:
    (change,) = LedgerStore(site.api, HOME).load().changes
    return change


def paused(site: Site) -> str:
    return read_control(site.api, HOME).paused


def test_all_pauses_writes_the_baseline_ends_the_changes_and_says_how_to_resume(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    assert revert(site, "--all", "--reason", "drill", "--baseline", str(site.baseline)) == 0
    assert paused(site) == "revert --all: drill"
    assert site.api.writes[0] == f"{CONFIG_MAPS}/trimtab-control", "before anything else, so that nobody moves it again"
    assert the_change(site).stage is Stage.ENDED
    said = capsys.readouterr().err.splitlines()
    assert said[0] == PAUSED
    assert "trimtab-vision holds its baseline." in said
    assert f"Change {CHANGE.id} is ended." in said


@pytest.mark.parametrize("kept", ["nothing", "a file that is not there", "a folder", "no text", "no manifest"])
def test_a_baseline_that_can_not_be_read_pauses_nothing_and_writes_nothing(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], kept: str
) -> None:
    file = tmp_path / "kept.yaml"
    if kept == "a folder":
        file.mkdir()
    elif kept == "no text":
        file.write_bytes(b"\xff\xfe\x00")
    elif kept == "no manifest":
        file.write_text("kind: [", encoding="utf-8")
    where = [] if kept == "nothing" else ["--baseline", str(file)]
    assert revert(site, "--all", *where) == BAD_INPUT
    assert site.api.writes == []
    said = capsys.readouterr().err
    assert PAUSED not in said
    assert "expected" in said
    assert "Errno" not in said
    if where:
        assert said.startswith(f"{file}"), "the place first"


def test_an_api_server_that_goes_away_before_the_pause_pauses_nothing(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    def away(method: str, path: str) -> None:
        raise Unreachable(method, path, "connection refused")

    site.api.before = away
    assert revert(site, "--all") == UNREACHABLE
    assert PAUSED not in capsys.readouterr().err


def test_softly_it_pauses_and_lets_the_change_follow_usage_down(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    before = site.leaf("trimtab-vision")
    assert revert(site, "--all", "--soft", "--reason", "drill") == 0
    assert paused(site) == "revert --all: drill"
    assert the_change(site).stage is Stage.RETURNING
    assert site.leaf("trimtab-vision") == before, "nothing is written at once: that could evict"
    said = capsys.readouterr().err.splitlines()
    assert said == [
        PAUSED,
        f"Change {CHANGE.id} goes back softly, as its GPUs become free, from the next tick of controller or janitor.",
    ]


def test_one_change_goes_back_and_nothing_is_paused(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert revert(site, CHANGE.id) == 0
    assert paused(site) == ""
    assert the_change(site).stage is Stage.RETURNING
    said = capsys.readouterr().err
    assert said == f"Change {CHANGE.id} goes back with the next tick of controller or janitor.\n"


@pytest.mark.parametrize(("arguments", "is_paused"), [(("--all", "--soft"), True), (("--tenant", "vision"), False)])
def test_scripts_are_told_whether_it_paused(
    site: Site, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], is_paused: bool
) -> None:
    assert revert(site, *arguments, "-o", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["paused"], told["returning"], told["problems"]) == (is_paused, [CHANGE.id], [])


def test_another_tenants_changes_stay_in_force(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert revert(site, "--tenant", "nlp") == 0
    assert the_change(site).stage is CHANGE.stage
    assert capsys.readouterr().err == "No change is in force.\n"


@pytest.mark.parametrize("arguments", [(), ("--all", "--tenant", "vision"), ("some-id", "--all")])
def test_no_target_or_several_is_bad_input(site: Site, arguments: tuple[str, ...]) -> None:
    assert revert(site, *arguments) == BAD_INPUT
    assert site.api.writes == []


def test_a_beginning_that_is_no_changes_is_bad_input(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert revert(site, "other") == BAD_INPUT
    assert "the beginning of exactly one change's id" in capsys.readouterr().err


def test_a_ledger_that_keeps_changing_is_a_problem_that_says_what_to_do(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lost(*_: object) -> None:
        raise LedgerLost("somebody else wrote")

    monkeypatch.setattr(LedgerStore, "save", lost)
    assert revert(site, "--all", "--baseline", str(site.baseline)) == REFUSED
    assert "stop the controller and try again" in capsys.readouterr().err


def test_the_help_says_that_it_stays_paused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["revert", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--all leaves Trimtab paused, until `trimtab resume`" in text
