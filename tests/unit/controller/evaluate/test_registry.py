"""Every registered recipe is there under its own name."""

from __future__ import annotations

import pytest

from controller.api.errors import InputError
from controller.evaluate.registry import RECIPES, recipe_named


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_bears_its_name_and_says_what_it_measures(name: str) -> None:
    recipe = recipe_named(name)
    assert recipe.name == name
    assert recipe.line.endswith(".")
    assert recipe.anchor
    assert len({goal.metric for goal in recipe.goals}) == len(recipe.goals) > 0


def test_an_unknown_name_lists_all() -> None:
    with pytest.raises(InputError, match=r"expected one of .*fidelity.*speed"):
        recipe_named("fastest")
