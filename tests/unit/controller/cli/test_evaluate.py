"""`trimtab evaluate`: exit codes, the table for people, the document for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple, TypeAlias

import pytest

from controller.cli.main import run
from controller.evaluate import registry
from controller.evaluate.folder import TraceFolder
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, Sense


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The results of a recipe `tried`, to be filled in."""
    results: dict[str, float] = {}

    def load(folder: TraceFolder) -> Run:
        return lambda seeds, tell: Outcome(dict(results), details={"seeds_seen": float(seeds)})

    module = ModuleType("recipes_for_tests")
    goals = (Goal("waits_seconds", Sense.AT_MOST, 10.0),)
    module.TRIED = Recipe("tried", "What is measured.", "what others reach", goals, load)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "recipes_for_tests", module)
    monkeypatch.setitem(registry.RECIPES, "tried", "recipes_for_tests:TRIED")
    return results


class Called(NamedTuple):
    """How a call ended, and what it wrote."""

    exit_code: int
    stdout: str
    stderr: str


Call: TypeAlias = Callable[..., Called]


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: str) -> Called:
        code = run(["evaluate", *arguments])
        return Called(code, *capsys.readouterr())

    return call


def test_a_goal_that_is_met_ends_with_zero(called: Call, measured: dict[str, float]) -> None:
    measured["waits_seconds"] = 3.0
    result = called("tried", "--seeds", "2")
    assert result.exit_code == 0
    assert "anchor: what others reach" in result.stdout
    assert "at most 10" in result.stdout
    assert "seeds_seen: 2" in result.stdout


def test_a_goal_that_is_missed_ends_with_one_and_says_which(called: Call, measured: dict[str, float]) -> None:
    measured["other_ratio"] = 3.0
    result = called("tried")
    assert result.exit_code == 1
    assert "missed: waits_seconds" in result.stderr
    assert "none" in result.stdout


def test_scripts_get_a_document_in_either_case(called: Call, measured: dict[str, float]) -> None:
    measured["waits_seconds"] = 30.0
    result = called("tried", "-o", "json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["passed"], document["missed"]) == (1, False, ["waits_seconds"])


def test_an_unknown_recipe_ends_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "nothing"]) == 2
    assert "NAME: got nothing, expected one of" in capsys.readouterr().err
