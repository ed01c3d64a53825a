"""What a recipe of the scoreboard is and what it gives: goals, results per seed, the whole. Runs nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from controller.evaluate.folder import TraceFolder


class Sense(StrEnum):
    """On which side of its bound a result is good."""

    AT_MOST = "at most"
    AT_LEAST = "at least"
    EXACTLY = "exactly"


@dataclass(frozen=True, slots=True)
class Goal:
    """One result and the bound that it has to keep. The unit stands in the metric's name."""

    metric: str
    sense: Sense
    bound: float

    def is_met(self, value: float) -> bool:
        """Whether that value is good enough; a NaN never is."""
        if self.sense is Sense.AT_MOST:
            return value <= self.bound
        return value >= self.bound if self.sense is Sense.AT_LEAST else value == self.bound

    def worse(self, values: Sequence[float]) -> float:
        """The value among several that is farthest on the bad side."""
        if self.sense is Sense.EXACTLY:
            return max(values, key=lambda value: abs(value - self.bound))
        return max(values) if self.sense is Sense.AT_MOST else min(values)


@dataclass(frozen=True, slots=True)
class SeedResult:
    """The results of one seed under one placement; placement None where there is no such choice."""

    seed: int
    results: Mapping[str, float]
    placement: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a recipe found. `details` are figures beside the goals, such as the baseline's own."""

    results: Mapping[str, float]
    per_seed: tuple[SeedResult, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)


Tell: TypeAlias = Callable[[float, str], None]
"""How far a recipe is (0 to 1), and what it does now."""

Run: TypeAlias = Callable[[int, Tell], Outcome]
"""Carries a recipe out with so many seeds. Pure: its data was read before."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A measurement that can be repeated: where its data comes from, how it runs, what it should reach."""

    name: str
    line: str
    """What is measured, in one sentence."""
    anchor: str
    """What others reach, measured."""
    goals: tuple[Goal, ...]
    load: Callable[[TraceFolder], Run]
    """Reads what the recipe needs. Raises InputError when it is not there."""
    seeds: int = 5
    """How many are usual; 1 where no chance is involved."""


def summed_up(per_seed: Sequence[SeedResult], goals: Sequence[Goal]) -> dict[str, float]:
    """For each metric the median over seeds, of the placement in which that is worse.

    Worse is what its goal says; for a metric without goal, more.
    """
    goal_of = {goal.metric: goal for goal in goals}
    found: dict[str, dict[str | None, list[float]]] = {}
    for one in per_seed:
        for metric, value in one.results.items():
            found.setdefault(metric, {}).setdefault(one.placement, []).append(value)
    results: dict[str, float] = {}
    for metric, by_placement in found.items():
        medians = [median(values) for values in by_placement.values()]
        results[metric] = goal_of[metric].worse(medians) if metric in goal_of else max(medians)
    return results
