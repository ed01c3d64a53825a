"""`plan` and `run janitor` say when they did not see, and end with the exit code for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from collector.accounting.address import read_address
from collector.accounting.schema.rows import Batch, Look, State, Transition
from collector.accounting.store import Store
from collector.model.objects import Picture
from controller.cli.main import run
from controller.runtime.tick import Controller
from tests.unit.controller.runtime.stage import Stage

KUBECONFIG = str(Path(__file__).with_name("kubeconfig.yaml"))
Verb = Callable[..., tuple[int, str, str, dict[str, Any]]]


class _HalfBlind(Stage):
    """A stage whose pods can not be read."""

    forbidden = False

    def picture(self, now: float) -> Picture:
        seen = super().picture(now)
        kinds = frozenset({"pods"} if self.forbidden else ())
        return replace(seen, pods={}, unreadable={"pods": "GET /api/v1/pods: no"}, forbidden=kinds)


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verb:
    """Calls a verb on a stage: exit code, stdout and stderr for people, and the JSON for scripts."""

    def call(stage: Stage, *words: str) -> tuple[int, str, str, dict[str, Any]]:
        def one_shot(*_: object) -> Controller:
            return stage.controller()

        module = "plan" if words[0] == "plan" else "run_janitor"
        monkeypatch.setattr(f"controller.cli.{module}.one_shot", one_shot)
        monkeypatch.setattr(f"controller.cli.{module}.now", lambda: stage.world.now)
        options = ["--config", str(stage.documents), "--kubeconfig", KUBECONFIG]
        code = run([*words, *options])
        said = capsys.readouterr()
        assert run([*words, *options, "-o", "json"]) == code
        record: dict[str, Any] = orjson.loads(capsys.readouterr().out)
        assert record["schema_version"] == 1
        return code, said.out, said.err, record

    return call


def test_a_plan_that_saw_everything_tells_what_it_would_change(verb: Verb, tmp_path: Path) -> None:
    code, _, _, record = verb(Stage(tmp_path), "plan", "--prometheus-url", "http://prometheus:9090")
    assert code == 1
    assert record["would_change"]


def test_a_plan_names_who_starts_and_without_a_history_predicts_no_wait(verb: Verb, tmp_path: Path) -> None:
    _, words, _, record = verb(Stage(tmp_path), "plan", "--prometheus-url", "http://prometheus:9090")
    (forecast,) = record["forecasts"]
    assert forecast["ready"]
    assert (record["predictions"], "Predicted waits: not known without a history" in words) == (None, True)


def test_a_plan_runs_the_picture_forward_with_run_times_of_the_history(verb: Verb, tmp_path: Path) -> None:
    store = Store(read_address(str(tmp_path / "history.db")))
    store.begin_writing()
    tenants = ("ads", "vision", "research")
    rows = [row for tenant in tenants for number in range(6) for row in _life(tenant, number)]
    store.write(Batch(rows=tuple(rows), looks=(Look("default", 0.0, 9e5),)))
    store.close()
    options = ["--prometheus-url", "http://prometheus:9090", "--accounting", str(tmp_path / "history.db")]
    _, words, _, record = verb(Stage(tmp_path), "plan", *options)
    (pool,) = record["predictions"]
    named = [one for one in pool["starts"] if one["named"]]
    assert [one["work"] for one in named] == record["forecasts"][0]["ready"]
    assert all(one["changed"]["median_seconds"] < one["as_it_is"]["median_seconds"] for one in named)
    assert "Predicted starts in pool" in words


def _life(tenant: str, number: int) -> list[Transition]:
    steps = ((0.0, State.PENDING), (10.0, State.RUNNING), (7210.0, State.FINISHED))
    return [
        Transition(
            "default", f"{tenant}-{number}", step, at, state, f"{tenant}/{number}", tenant, f"job-{number}", "Job",
            tenant, "standard", "h100", "", 8, 1,
        )
        for step, (at, state) in enumerate(steps)
    ]  # fmt: skip


@pytest.mark.parametrize(("forbidden", "code"), [(False, 3), (True, 4)])
def test_a_blind_plan_does_not_end_as_if_nothing_were_to_do(
    verb: Verb, tmp_path: Path, forbidden: bool, code: int
) -> None:
    stage = _HalfBlind(tmp_path)
    stage.forbidden = forbidden
    found, words, _, record = verb(stage, "plan", "--prometheus-url", "http://prometheus:9090")
    assert found == code
    assert "pods not readable" in words
    assert record["would_change"] is None


def test_a_plan_without_prometheus_says_which_option_is_missing(verb: Verb, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.world.evidence = replace(stage.world.evidence, blind=("no Prometheus is configured",))
    code, _, said, _ = verb(stage, "plan")
    assert code == 3
    assert said == "Without --prometheus-url nothing can be decided.\n"


@pytest.mark.parametrize(("forbidden", "code"), [(False, 3), (True, 4)])
def test_a_janitor_that_can_not_read_pods_says_so(verb: Verb, tmp_path: Path, forbidden: bool, code: int) -> None:
    stage = _HalfBlind(tmp_path)
    stage.forbidden = forbidden
    found, words, said, record = verb(stage, "run", "janitor")
    assert (found, words) == (code, "0 changes in force.\n")
    assert said == "Not seen, so nothing was sent back: pods not readable: GET /api/v1/pods: no\n"
    assert record["problems"] == [said.strip()]


def test_a_janitor_that_saw_all_ends_well(verb: Verb, tmp_path: Path) -> None:
    code, words, said, record = verb(Stage(tmp_path), "run", "janitor")
    assert (code, words, said, record["problems"]) == (0, "0 changes in force.\n", "", [])


@pytest.mark.parametrize("words", [["plan"], ["run", "controller"]])
def test_an_address_of_prometheus_that_is_none_is_bad_input(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = Stage(tmp_path)
    options = ["--config", str(stage.documents), "--kubeconfig", KUBECONFIG, "--prometheus-url", "foo"]
    assert run([*words, *options]) == 2
    assert capsys.readouterr().err.startswith("--prometheus-url: got foo, expected an address such as")


@pytest.mark.parametrize("words", [["run", "controller"], ["run", "janitor"], ["plan"]])
def test_a_baseline_file_that_was_never_there_is_bad_input_and_not_the_last_good_one(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, missing = Stage(tmp_path), tmp_path / "nope.yaml"
    options = ["--config", str(stage.documents), "--kubeconfig", KUBECONFIG, "--baseline", str(missing)]
    assert run([*words, *options]) == 2
    said = capsys.readouterr().err
    assert f"{missing}: got no such file or folder, expected a baseline manifest" in said
    assert "last good" not in said
