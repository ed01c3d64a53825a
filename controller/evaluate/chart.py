"""Draws a simulated trace: GPUs in use and waiting over time, and how long jobs waited. PNG, or one page."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from controller.api.errors import InputError, Mistake
from controller.evaluate.trace_run import TraceRun
from controller.files.reading import mistaken, trouble_in_words
from controller.simulate.batch_setting import NEVER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 600
_TENANTS = 8
"""Shown by name; all others together, since more colours can not be told apart."""
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#7F5539", "#999999")


def drawer(path: Path) -> Callable[[TraceRun], None]:
    """What draws a run into that file. Raises InputError at once when it could not."""
    write = file_drawer(path)
    return lambda run: write(_figure(run), _title(run))


def file_drawer(path: Path) -> Callable[[Figure, str], None]:
    """What writes a figure and its title into that file. Raises InputError at once when it could not."""
    if path.suffix not in (".png", ".html"):
        raise mistaken(path, "another kind of file", "a file that ends in .png or .html", "--plot")
    if find_spec("matplotlib") is None:
        raise InputError((Mistake("--plot", "no matplotlib installed", "pip install 'trimtab[charts]'"),))
    if not path.absolute().parent.is_dir():
        raise mistaken(path, "a folder that is not there", "a file in a folder that is there", "--plot")
    return lambda figure, title: _write(path, figure, title)


def _write(path: Path, figure: Figure, title: str) -> None:
    try:
        if path.suffix == ".png":
            figure.savefig(path, dpi=150)
        else:
            path.write_text(_page(figure, title), encoding="utf-8")
    except OSError as error:
        raise mistaken(path, trouble_in_words(error), "a file to write to", "--plot") from error


def _page(figure: Figure, title: str) -> str:
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    svg = drawn.getvalue()
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        "<style>body{margin:1rem}svg{width:100%;height:auto}</style></head>"
        f"<body>\n{svg[svg.index('<svg') :]}</body></html>\n"
    )


def _title(run: TraceRun) -> str:
    policy, placement = run.request.policy_name, run.request.conditions.placement.value
    mean, capacity = run.outcome.all.mean_wait_seconds, run.capacity_gpus
    return f"{policy} on {capacity:,} GPUs ({placement}): {len(run.jobs):,} jobs, mean wait {mean:,.0f} s"


def _figure(run: TraceRun) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 8), layout="constrained")
    in_use, not_started, waits = figure.subplots(3, 1, height_ratios=(4, 2, 4))
    not_started.sharex(in_use)
    figure.suptitle(_title(run))
    groups = _groups(run)
    _draw_time(in_use, not_started, run, groups)
    _draw_waits(waits, run, groups)
    return figure


def _groups(run: TraceRun) -> Sequence[tuple[str, frozenset[int]]]:
    """(name, tenants), those with most jobs first, the small ones together."""
    names = run.jobs.tenants
    counts = [run.outcome.tenants[name].jobs for name in names]
    order = sorted(
        (number for number, count in enumerate(counts) if count), key=lambda number: (-counts[number], number)
    )
    shown = [(names[number], frozenset({number})) for number in order[:_TENANTS]]
    rest = frozenset(order[_TENANTS:])
    return [*shown, (f"{len(rest)} others", rest)] if rest else shown


def _draw_time(in_use: Axes, not_started: Axes, run: TraceRun, groups: Sequence[tuple[str, frozenset[int]]]) -> None:
    jobs, fates = run.jobs, run.fates
    begin, end = jobs.submit_seconds[0], max(fates.end_seconds)
    step = max(1.0, (end - begin) / _POINTS)
    days = [number * step / 86400.0 for number in range(_POINTS + 1)]
    used = [
        _series(((jobs.gpus[row], a, b) for row, a, b in fates.stays if jobs.tenant[row] in tenants), begin, step)
        for _, tenants in groups
    ]
    in_use.stackplot(days, used, labels=[name for name, _ in groups], colors=_COLOURS, step="post", linewidth=0)
    in_use.axhline(run.capacity_gpus, color="black", linewidth=1, linestyle="--", label="capacity")
    starts = zip(jobs.gpus, jobs.submit_seconds, fates.first_start_seconds, strict=True)
    waiting = _series(((size, at, end if start == NEVER else start) for size, at, start in starts), begin, step)
    in_use.set(ylabel="GPUs in use", xlim=(0, days[-1]), ylim=(0, 1.6 * run.capacity_gpus))
    in_use.legend(loc="upper right", ncols=3, fontsize="small")
    not_started.fill_between(days, waiting, step="post", color="#444444", linewidth=0)
    not_started.set(xlabel="days from the first submission", ylabel="GPUs waited for,\nnot started yet", ylim=(0, None))


def _series(stretches: Iterable[tuple[int, float, float]], begin: float, step: float) -> list[int]:
    """GPUs at the begin of each step."""
    changes = [0] * (_POINTS + 2)
    for gpus, start, stop in stretches:
        first, last = (min(_POINTS + 1, -int(-(at - begin) // step)) for at in (start, stop))
        changes[first] += gpus
        changes[last] -= gpus
    return list(accumulate(changes))[: _POINTS + 1]


def _draw_waits(axes: Axes, run: TraceRun, groups: Sequence[tuple[str, frozenset[int]]]) -> None:
    for (name, tenants), colour in zip(groups, _COLOURS, strict=False):
        rows = zip(run.jobs.tenant, run.fates.wait_seconds, strict=True)
        waits = sorted(max(1.0, wait) for tenant, wait in rows if tenant in tenants)
        shares = [(rank + 1) / len(waits) for rank in range(len(waits))]
        every = max(1, len(waits) // 2000)
        axes.step([*waits[::every], waits[-1]], [*shares[::every], 1.0], where="post", color=colour, label=name)
    axes.set(
        xscale="log", xlabel="wait of a job, s (1 or less: at the left edge)", ylabel="share of jobs", ylim=(0, 1.01)
    )
    axes.legend(loc="lower right", ncols=3, fontsize="small")
