"""Draws a what-if: mean wait of each tenant before and after, and the difference with its range. PNG, or one page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final, TypeAlias

from controller.evaluate.chart import file_drawer
from controller.evaluate.counterfactual import Comparison, Effect, Felt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw: TypeAlias = Callable[[str, Comparison], None]
_COLOURS: Final = {Felt.SHORTER: "#009E73", Felt.LONGER: "#D55E00", Felt.SAME: "#999999", Felt.UNCLEAR: "#E69F00"}
_UNITS: Final = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"))


def effect_drawer(path: Path) -> Draw:
    """What draws an answer below its sentence into that file. Raises InputError at once when it could not."""
    write = file_drawer(path)
    return lambda sentence, answer: write(_figure(sentence, answer), sentence)


def _figure(sentence: str, answer: Comparison) -> Figure:
    from matplotlib.figure import Figure

    told = [(name, effect) for name, effect in (*answer.tenants.items(), ("all", answer.all)) if _judged(effect)]
    told.reverse()  # the first on top
    figure = Figure(figsize=(11, 2.5 + 0.4 * len(told)), layout="constrained")
    figure.suptitle(fill(sentence, 120), fontsize="medium")
    waits, differences = figure.subplots(1, 2, sharey=True)
    rows, (unit, name) = range(len(told)), _unit([max(_medians(effect)) for _, effect in told])
    for side, colour, offset in (("before", "#56B4E9", 0.2), ("after", "#0072B2", -0.2)):
        medians = [_medians(effect)[side == "after"] / unit for _, effect in told]
        waits.barh([row + offset for row in rows], medians, 0.38, color=colour, label=side)
    waits.set(xlabel=f"mean wait, {name}", yticks=list(rows), yticklabels=[tenant for tenant, _ in told])
    waits.legend(loc="lower right", fontsize="small")
    for row, (_, effect) in enumerate(told):
        spread = effect.figures["mean_wait_seconds"].difference
        if spread is not None:
            median, low, high = (value / unit for value in (spread.median, spread.low, spread.high))
            errors = [[median - low], [high - median]]
            differences.errorbar(median, row, xerr=errors, fmt="o", capsize=3, color=_COLOURS[effect.felt])
    differences.axvline(0.0, color="black", linewidth=1)
    differences.set(xlabel=f"difference, {name}: median and range of {answer.question.seeds} seeds")
    return figure


def _unit(seconds: list[float]) -> tuple[float, str]:
    """The largest in which the longest wait is several."""
    longest = max(seconds, default=0.0)
    return next((one for one in _UNITS if longest >= 3 * one[0]), _UNITS[-1])


def _judged(effect: Effect) -> bool:
    return effect.figures["mean_wait_seconds"].difference is not None


def _medians(effect: Effect) -> tuple[float, float]:
    wait = effect.figures["mean_wait_seconds"]
    return (wait.before.median if wait.before else 0.0, wait.after.median if wait.after else 0.0)
