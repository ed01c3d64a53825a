"""What `trimtab demo` shows on a terminal: tenants as bars of GPUs, what is said now, and what happened so far.

A frame fits the terminal, from 80 x 24 on: what happened gives way, the oldest first; on a smaller one the marks stand
above all else. Every time on it is real time since the start; only the cluster lives faster.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from collector.model.quantities import counted, format_duration
from controller.cli.output import left, section, table
from controller.demo.chronicle import Entry, Kind
from controller.demo.live_cluster import TenantView
from controller.demo.performance import Performance
from controller.demo.summary import Summary

_STYLES: Final = {
    Kind.ALERT: "bold red",
    Kind.FINDING: "yellow",
    Kind.LEFT_ALONE: "magenta",
    Kind.CHANGE: "bold cyan",
    Kind.VERDICT: "bold green",
    Kind.BACK: "dim",
    Kind.WRONG: "bold red reverse",
}
_INDENT: Final = 2
_TITLE_LINES: Final = 2
"""Title of a section and the blank line after it."""
_SMALL_SCREEN_LINES: Final = 30
_BEFORE_TEXT: Final = _INDENT + len("+00:00") + 2 + max(len(kind.value) for kind in Kind) + 2
_WAITING_AT_MOST: Final = 16
_TOLD_AT_MOST: Final = 60


def screen(performance: Performance, summary: Summary, seconds: float | None, out: Console) -> RenderableType:
    """One frame for `out`."""
    last, now = performance.board.last, performance.elapsed_seconds
    sentence = last.sentence if last is not None else "The first look is under way."
    views = performance.cluster.tenants()
    above = Group(
        _head(performance, now, seconds),
        section("GPUs", bars(views, _late(performance), out.width - _INDENT)),
        section("Trimtab says", Text("\n".join(_cut(sentence, out.width - _INDENT, _most_lines(out))), style="bold")),
    )
    below: list[RenderableType] = [_seen(summary)]
    if seconds is not None:
        below.append(ProgressBar(total=seconds, completed=min(now, seconds), width=min(60, out.width - 4)))
    free = out.height - len(out.render_lines(above)) - len(out.render_lines(Group(*below))) - _TITLE_LINES
    if free < 1:  # so small a terminal has room for the marks or for what happened
        return Group(*below, Text(""), above)
    told = last_told(performance.chronicle.told(), performance.cluster.begins_at, out, free)
    return Group(above, section("What happened", told), *below)


def closing_words(summary: Summary, entries: Sequence[Entry], begins_at: float) -> RenderableType:
    """What is left to say when it is over."""
    judged = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in summary.verdicts.items() if count)
    named = f" ({', '.join(summary.wrong_cause)})" if summary.wrong_cause else ""
    told = (
        f"{counted(summary.alerts_fired, 'alert')} delivered, {counted(summary.changes, 'change')} made "
        f"({judged or 'none judged yet'}), "
        f"{len(summary.wrong_cause)} for a wrong cause{named}, in {format_duration(summary.seconds)}. "
        f"The storage fault was {'named and left alone' if summary.storage_fault_named else 'not named yet'}."
    )
    real = (
        "Real: Prometheus, Alertmanager, rules, collector, doorbell, loop. Simulated: the cluster and what its "
        "exporters say. Everything that was started has been stopped."
    )
    style = "bold green" if summary.passed else "bold yellow"
    happened = section("What happened, in real time since the start", *_all_told(entries, begins_at))
    return Group(happened, Text(told, style=style), Text(real, style="dim"))


def _head(performance: Performance, now: float, seconds: float | None) -> RenderableType:
    scale = performance.play.time_scale
    end = "Ctrl-C ends it" if seconds is None else f"ends at {_moment(seconds)}"
    line = Text.assemble(("Trimtab demo", "bold"), f"   {_moment(now)}, {end}")
    pace = f"Times are real ones; the cluster is simulated and lives {scale:g} times as fast."
    pages = f"status page {performance.page_url}   Prometheus {performance.prometheus_url}"
    return Group(line, Text(pace, style="dim"), Text(pages, style="dim"), Text(""))


def _moment(seconds: float) -> str:
    """Since the start, as +minutes:seconds."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    return f"+{minutes:02}:{rest:02}"


def _late(performance: Performance) -> dict[str, int]:
    """Tenant → GPUs that wait longer than agreed."""
    last = performance.board.last
    if last is None or last.observation is None:
        return {}
    return {state.tenant: state.shortfall for state in last.observation.snapshot.tenants}


def bars(views: Sequence[TenantView], late: dict[str, int], width: int) -> RenderableType:
    """A line per tenant and the legend, no wider than `width`: one sign for as many GPUs as that takes."""
    told = [_numbers(view, late.get(view.name, 0)) for view in views]
    names = max((len(view.name) for view in views), default=0)
    room = max(8, width - names - max((len(text) for text in told), default=0) - 5)
    longest = max((max(v.held, v.entitled) + min(v.waiting, _WAITING_AT_MOST) for v in views), default=1)
    each = max(1, math.ceil(longest / room))
    rows = Table.grid(padding=(0, 2, 0, 0))
    for view, text in zip(views, told, strict=True):
        rows.add_row(Text(view.name, style="bold"), text, _bar(view, each))
    return Group(rows, _legend(each))


def _numbers(view: TenantView, short: int) -> Text:
    numbers = Text(f"{view.held} of {view.entitled}" + (f", {view.waiting} wait" if view.waiting else ""))
    return numbers.append(f", {short} too long", style="bold red") if short else numbers


def _bar(view: TenantView, each: int) -> Text:
    own, borrowed = min(view.held, view.entitled), max(0, view.held - view.entitled)
    waiting = min(view.waiting, _WAITING_AT_MOST)
    parts = (("█", own, "green"), ("░", view.entitled - own, "green"), ("█", borrowed, "yellow"), ("·", waiting, "red"))
    bar = Text(no_wrap=True)
    done = shown = 0
    for sign, gpus, style in parts:
        done += gpus
        # Rounded at the end of each part, so that the whole is as long as the sum says.
        bar.append(sign * (done // each - shown), style=style)
        shown = done // each
    return bar.append("+" if view.waiting > waiting else "", style="red")


def _legend(each: int) -> RenderableType:
    signs = (("█", "green", "own"), ("░", "green", "own, free"), ("█", "yellow", "borrowed"), ("·", "red", "waits"))
    legend = Text(style="dim")
    for sign, style, meaning in signs:
        legend.append(sign, style=style).append(f" {meaning}   ")
    return legend.append(f"one sign: {each} GPU{'s' if each > 1 else ''}")


def last_told(entries: Sequence[Entry], begins_at: float, out: Console, free: int) -> RenderableType:
    """The newest entries that fill `free` lines of `out`, each cut to a few lines: the status page has the whole."""
    if not entries:
        return Text("Nothing yet: everyday work.", style="dim")
    most, width = _most_lines(out), out.width - _BEFORE_TEXT
    shown: list[tuple[Entry, list[str]]] = []
    for entry in reversed(entries):
        lines = _cut(entry.text, width, most)
        free -= len(lines)
        if free < 0:
            break
        shown.insert(0, (entry, lines))
    return _rows([(entry, "\n".join(lines)) for entry, lines in shown], begins_at)


def _all_told(entries: Sequence[Entry], begins_at: float) -> Iterator[RenderableType]:
    """All of them, whole; of very many the first and the last."""
    if not entries:
        yield Text("Nothing yet: everyday work.", style="dim")
    elif len(entries) <= _TOLD_AT_MOST:
        yield _rows([(entry, entry.text) for entry in entries], begins_at)
    else:
        half = _TOLD_AT_MOST // 2
        yield _rows([(entry, entry.text) for entry in entries[:half]], begins_at)
        yield Text(f"… {len(entries) - 2 * half} more in between …", style="dim")
        yield _rows([(entry, entry.text) for entry in entries[-half:]], begins_at)


def _rows(told: Sequence[tuple[Entry, str]], begins_at: float) -> RenderableType:
    rows = table(left("", no_wrap=True), left("", no_wrap=True), left(""))
    rows.show_header = False
    for entry, text in told:
        moment = Text(_moment(entry.at - begins_at), style="dim")
        rows.add_row(moment, Text(entry.kind.value, style=_STYLES[entry.kind]), Text(text))
    return rows


def _most_lines(out: Console) -> int:
    """Of one sentence."""
    return 2 if out.height <= _SMALL_SCREEN_LINES else 4


def _cut(text: str, width: int, most: int) -> list[str]:
    """At most so many lines of so many letters."""
    lines = textwrap.wrap(text, max(20, width), break_on_hyphens=False, max_lines=most, placeholder=" …")
    return lines or [""]


def _seen(summary: Summary) -> RenderableType:
    marks = (
        (summary.alerts_fired > 0, "alert rang"),
        (summary.changes > 0, "quota moved"),
        (summary.verdicts.get("helped", 0) > 0, "it helped"),
        (summary.storage_fault_named, "storage fault named, left alone"),
    )
    words = [(f"{'✓' if done else '·'} {what}   ", "green" if done else "dim") for done, what in marks]
    return Text.assemble(*words)
