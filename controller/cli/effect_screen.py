"""A comparison as a person reads it and as scripts get it: the sentence first, then the figures behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from collector.model.quantities import format_duration, format_time
from controller.cli.output import Output, console, left, print_json, right, table

if TYPE_CHECKING:
    from controller.cli.recorded import Asked
    from controller.evaluate.counterfactual import Comparison, Effect, Figure
    from controller.evaluate.effect_chart import Draw


def drawer_for(plot: Path | None) -> Draw | None:
    """What draws an answer; None: nobody asked for it. Raises InputError when it could not be drawn."""
    if plot is None:
        return None
    from controller.evaluate.effect_chart import effect_drawer

    return effect_drawer(plot)


def show(
    sentence: str, answer: Comparison, asked: Asked, form: tuple[Output, Mapping[str, Any]], draw: Draw | None
) -> None:
    """Draw where that was asked for, and print; `form`: for whom, and the settings that scripts get repeated."""
    if draw is not None:
        draw(sentence, answer)
    output, settings = form
    if output is Output.JSON:
        print_json({**settings, **effect_document(sentence, answer, asked)})
    else:
        print_effect(sentence, answer, asked)


def effect_document(sentence: str, answer: Comparison, asked: Asked) -> dict[str, Any]:
    """Everything, as plain JSON values; null where nothing can be said."""
    question = answer.question
    return {
        "sentence": sentence,
        "source": asked.recording.source,
        "quotas": asked.quotas.source,
        "from": format_time(asked.begin),
        "to": format_time(asked.recording.jobs[-1].submitted_seconds),
        "seeds": question.seeds,
        "engine": question.conditions.engine.value,
        "placement": question.conditions.placement.value,
        "restart_seconds": question.conditions.restart_seconds,
        "left_out": {**asked.recording.left_out, **answer.left_out},
        "changes": None if answer.changes is None else answer.changes.document(),
        "all": answer.all.document(),
        "tenants": {name: effect.document() for name, effect in answer.tenants.items()},
    }


def print_effect(sentence: str, answer: Comparison, asked: Asked) -> None:
    """For people; the range over seeds stands behind each difference."""
    screen = console()
    screen.print(Text(sentence, style="bold"))
    screen.print()
    told = (*answer.tenants.items(), ("all", answer.all))
    waits = table(left("tenant", min_width=8), *map(right, ("mean wait", "then", "difference", "range")), left(""))
    columns = ("quota", "jobs", "p95 wait", "attained", "evictions", "lost GPU h")
    others = table(left("tenant", min_width=8), *map(right, columns))
    for name, effect in told:
        waits.add_row(name, *_waits(effect))
        others.add_row(name, *_others(effect))
    screen.print(waits)
    screen.print()
    screen.print(others)
    screen.print()
    seeds, source = answer.question.seeds, f"{asked.recording.source}; {asked.quotas.source}"
    screen.print(f"medians of {seeds} seeds; range: of the difference over seeds. From {source}")
    for reason, count in sorted({**asked.recording.left_out, **answer.left_out}.items()):
        screen.print(f"left out: {count:,}: {reason}")


def _waits(effect: Effect) -> list[str]:
    wait = effect.figures["mean_wait_seconds"]
    if wait.before is None or wait.after is None or wait.difference is None:
        return ["", "", "", "", effect.felt.value]
    spread = wait.difference
    cells = [format_duration(wait.before.median), format_duration(wait.after.median), _signed(spread.median)]
    return [*cells, f"{_signed(spread.low)} … {_signed(spread.high)}", effect.felt.value]


def _others(effect: Effect) -> list[str]:
    quotas = effect.quota_gpus
    return [
        str(quotas[0]) if quotas[0] == quotas[1] else f"{quotas[0]} → {quotas[1]}",
        f"{effect.jobs:,}",
        _pair(effect.figures["p95_wait_seconds"], format_duration),
        _pair(effect.figures["attainment"], "{:.3f}".format),
        _pair(effect.figures["preemptions"], "{:,.0f}".format),
        _pair(effect.figures["lost_gpu_hours"], "{:,.0f}".format),
    ]


def _pair(figure: Figure, shown: Callable[[float], str]) -> str:
    if figure.before is None or figure.after is None:
        return ""
    return f"{shown(figure.before.median)} → {shown(figure.after.median)}"


def _signed(seconds: float) -> str:
    return ("+" if seconds > 0 else "") + format_duration(seconds)
