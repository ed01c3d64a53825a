"""Judging an outcome: goals met and missed, numbers that are none, and the document for scripts."""

from __future__ import annotations

import math

from controller.evaluate.folder import TraceFolder
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell
from controller.evaluate.score import scored

GOALS = (Goal("waits_seconds", Sense.AT_MOST, 10.0), Goal("found_ratio", Sense.AT_LEAST, 0.9))


def recipe(outcome: Outcome, asked: list[int]) -> Recipe:
    def load(folder: TraceFolder) -> Run:
        def run(seeds: int, tell: Tell) -> Outcome:
            asked.append(seeds)
            tell(1.0, "done")
            return outcome

        return run

    return Recipe("tried", "What is measured.", "what others reach", GOALS, load, seeds=3)


def test_all_goals_met_passes() -> None:
    asked: list[int] = []
    good = Outcome({"waits_seconds": 10.0, "found_ratio": 1.0}, (SeedResult(0, {"waits_seconds": 10.0}, "nodes"),))
    score = scored(recipe(good, asked), TraceFolder(None), None, lambda share, what: None)
    document = score.document()
    assert (score.passed, asked) == (True, [3])
    assert document["goals"]["found_ratio"] == {"sense": "at least", "bound": 0.9}
    assert document["per_seed"] == [{"seed": 0, "placement": "nodes", "results": {"waits_seconds": 10.0}}]
    assert len(document["policy_digest"]) == 64
    assert {"name", "results", "passed", "wall_seconds"} <= set(document)


def test_a_result_that_is_missing_or_no_number_misses_its_goal() -> None:
    asked: list[int] = []
    score = scored(recipe(Outcome({"waits_seconds": math.nan}), asked), TraceFolder(None), 7, lambda share, what: None)
    assert (score.missed, asked) == (("waits_seconds", "found_ratio"), [7])
    assert score.document()["results"] == {"waits_seconds": None}
