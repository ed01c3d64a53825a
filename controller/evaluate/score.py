"""Runs one recipe and judges it: which goals are met, under which configuration, in how long."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from controller.api.policy import Budgets, Cadence, Lending, Mode, Policy, Revert
from controller.api.rendering import policy_digest
from controller.evaluate.folder import TraceFolder
from controller.evaluate.recipe import Outcome, Recipe, Tell

SHIPPED: Final = Policy(
    mode=Mode.ENFORCE,
    cadence=Cadence(tick_seconds=60.0),
    budgets=Budgets(changes_per_day=96, tenants_per_hour=20),
    revert=Revert(24 * 3600.0),
    lending=Lending(),
)
"""The one configuration that every recipe runs, guards on. Recipes set only tiers, targets, pools and the tick."""


@dataclass(frozen=True, slots=True)
class Score:
    """A judged outcome."""

    recipe: Recipe
    seeds: int
    outcome: Outcome
    wall_seconds: float
    policy_digest: str

    @property
    def missed(self) -> tuple[str, ...]:
        """Metrics whose goal is not met, or that are not there."""
        results = self.outcome.results
        return tuple(g.metric for g in self.recipe.goals if not g.is_met(results.get(g.metric, math.nan)))

    @property
    def passed(self) -> bool:
        """Whether all goals are met."""
        return not self.missed

    def document(self) -> Mapping[str, Any]:
        """As JSON shows it. A result that is no number is null: the goal is missed, and nothing is made up."""
        return {
            "name": self.recipe.name,
            "anchor": self.recipe.anchor,
            "seeds": self.seeds,
            "results": _numbers(self.outcome.results),
            "goals": {goal.metric: {"sense": goal.sense.value, "bound": goal.bound} for goal in self.recipe.goals},
            "passed": self.passed,
            "missed": list(self.missed),
            "per_seed": [
                {"seed": one.seed, "placement": one.placement, "results": _numbers(one.results)}
                for one in self.outcome.per_seed
            ],
            "details": _numbers(self.outcome.details),
            "policy_digest": self.policy_digest,
            "wall_seconds": round(self.wall_seconds, 3),
        }


def _numbers(results: Mapping[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in results.items()}


def scored(recipe: Recipe, folder: TraceFolder, seeds: int | None, tell: Tell) -> Score:
    """Load, run, judge. Raises InputError when the recipe's data is not there."""
    run = recipe.load(folder)
    count = recipe.seeds if seeds is None else seeds
    begin = time.perf_counter()
    outcome = run(count, tell)
    return Score(recipe, count, outcome, time.perf_counter() - begin, policy_digest(SHIPPED))
