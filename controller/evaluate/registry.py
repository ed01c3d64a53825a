"""The names of all recipes. A recipe's module is loaded when it is called for, so that a list costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from controller.api.errors import InputError, Mistake
from controller.api.shown_values import printable
from controller.evaluate.recipe import Recipe

RECIPES: Final = {
    "cycles": "controller.evaluate.cycles:CYCLES",
    "deadlines": "controller.evaluate.deadlines:DEADLINES",
    "fidelity": "controller.evaluate.fidelity:FIDELITY",
    "gfs": "controller.evaluate.gfs:GFS",
    "lending-kueue": "controller.evaluate.steering:LENDING_KUEUE",
    "lending-native": "controller.evaluate.lending_native:LENDING_NATIVE",
    "noise": "controller.evaluate.noise:NOISE",
    "objectives": "controller.evaluate.steering:OBJECTIVES",
    "speed": "controller.evaluate.speed:SPEED",
    "starvation": "controller.evaluate.starvation:STARVATION",
    "wrong-cause": "controller.evaluate.wrong_cause:WRONG_CAUSE",
}
"""Name → module and the Recipe in it."""


def recipe_named(name: str) -> Recipe:
    """The recipe of that name. Raises InputError with the names there are."""
    if name not in RECIPES:
        raise InputError((Mistake("NAME", printable(name), f"one of {', '.join(sorted(RECIPES))}"),))
    module, _, attribute = RECIPES[name].partition(":")
    found: Recipe = getattr(import_module(module), attribute)
    return found
