"""Goals and how seeds are summed up."""

from __future__ import annotations

import math

import pytest

from controller.evaluate.recipe import Goal, SeedResult, Sense, summed_up


@pytest.mark.parametrize(
    ("sense", "good", "bad"),
    [(Sense.AT_MOST, 1.0, 1.1), (Sense.AT_LEAST, 1.0, 0.9), (Sense.EXACTLY, 1.0, 1.1)],
)
def test_a_goal_is_met_on_its_bound_and_not_beyond(sense: Sense, good: float, bad: float) -> None:
    goal = Goal("x_ratio", sense, 1.0)
    assert goal.is_met(good)
    assert not goal.is_met(bad)
    assert not goal.is_met(math.nan)
    assert goal.worse([good, bad]) == bad


def test_the_median_over_seeds_of_the_worse_placement_counts() -> None:
    goals = (Goal("attained", Sense.AT_LEAST, 0.9), Goal("lost", Sense.AT_MOST, 5))
    measured = {"counts": [(0.9, 1), (1.0, 2), (0.1, 9)], "nodes": [(0.8, 1), (0.7, 1), (0.6, 3)]}
    per_seed = [
        SeedResult(seed, {"attained": attained, "lost": lost, "seen": lost}, placement)
        for placement, rows in measured.items()
        for seed, (attained, lost) in enumerate(rows)
    ]
    assert summed_up(per_seed, goals) == {"attained": 0.7, "lost": 2, "seen": 2}
