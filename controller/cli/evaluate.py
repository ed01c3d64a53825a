"""`trimtab evaluate`: one recipe of the scoreboard, its results against its goals. Asks no cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from controller.cli.options import Format
from controller.cli.output import FINDINGS, Output, console, left, print_json, right, table, talk
from controller.cli.values import path_for

if TYPE_CHECKING:
    from controller.evaluate.recipe import Tell
    from controller.evaluate.score import Score


def evaluate(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Recipe, such as fidelity or speed; a wrong name lists all.")
    ],
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="How many. [default: the recipe's own]")] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            "--traces",
            parser=path_for("--traces"),
            metavar="FOLDER",
            envvar="TRIMTAB_TRACES",
            help="Folder with one folder per public trace. [default: traces, shared/traces or ../shared/traces]",
            show_default=False,
        ),
    ] = None,
    form: Format = Output.TEXT,
) -> None:
    """Measure Trimtab against what others reach: anchor, goal, result, pass or fail.

    All recipes run one shipped configuration; its digest stands in the result. Equal seeds give equal results (but for
    speeds).

    Example: trimtab evaluate fidelity --traces ../shared/traces

    Exit code 0: all goals met; 1: a goal is missed; 2: bad input, or a trace is not there.
    """
    # Only now: help and mistakes in options need none of it.
    from controller.evaluate.folder import TraceFolder
    from controller.evaluate.registry import recipe_named
    from controller.evaluate.score import scored

    recipe, folder = recipe_named(name), TraceFolder.found(traces)
    with _progress(recipe.name) as tell:
        score = scored(recipe, folder, seeds, tell)
    if form is Output.JSON:
        print_json(score.document())
    else:
        _show(score)
    if not score.passed:
        raise typer.Exit(FINDINGS)


@contextmanager
def _progress(name: str) -> Iterator[Tell]:
    """A bar beside the data; nothing where standard error is no terminal."""
    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal, transient=True) as bar:
        task = bar.add_task(name, total=1.0)
        yield lambda share, what: bar.update(task, completed=share, description=f"{name}: {what}")


def _show(score: Score) -> None:
    recipe = score.recipe
    screen = console()
    screen.print(f"{recipe.name}: {recipe.line}")
    screen.print(f"anchor: {recipe.anchor}")
    rows = table(left("result"), right("value"), left("goal"), left(""))
    goal_of = {goal.metric: goal for goal in recipe.goals}
    for metric, value in score.outcome.results.items():
        goal = goal_of.get(metric)
        said = "" if goal is None else f"{goal.sense.value} {goal.bound:,.10g}"
        judged = "" if goal is None else ("met" if goal.is_met(value) else "missed")
        rows.add_row(metric, f"{value:,.6g}", said, judged)
    for metric in (metric for metric in score.missed if metric not in score.outcome.results):
        rows.add_row(metric, "none", f"{goal_of[metric].sense.value} {goal_of[metric].bound:,.10g}", "missed")
    screen.print(rows)
    for name, value in score.outcome.details.items():
        screen.print(f"  {name}: {value:,.6g}")
    screen.print(f"policy {score.policy_digest[:12]} · {score.wall_seconds:.1f} s · {score.seeds} seeds")
    if score.missed:
        talk(f"missed: {', '.join(score.missed)}")
