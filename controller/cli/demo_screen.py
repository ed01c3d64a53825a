"""What `trimtab demo` shows on a terminal: tenants as bars of GPUs, what is said now, and what happened so far."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from collector.model.quantities import format_duration
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
}
_SHOWN_ENTRIES: Final = 8
_WAITING_AT_MOST: Final = 24


def screen(performance: Performance, summary: Summary, seconds: float | None, width: int) -> RenderableType:
    """One frame."""
    last, now = performance.board.last, performance.elapsed_seconds
    sentence = last.sentence if last is not None else "The first look is under way."
    views = performance.cluster.tenants()
    late = _late(performance)
    parts: list[RenderableType] = [
        _head(performance, now),
        section("GPUs", _bars(views, late), _legend()),
        section("Trimtab says", Text(sentence, style="bold")),
        section("What happened", _entries(performance.chronicle.told(_SHOWN_ENTRIES), performance.cluster.begins_at)),
        _seen(summary),
    ]
    if seconds is not None:
        parts.append(ProgressBar(total=seconds, completed=min(now, seconds), width=min(60, width - 4)))
    return Group(*parts)


def closing_words(summary: Summary, entries: Sequence[Entry], begins_at: float) -> RenderableType:
    """What is left to say when it is over."""
    judged = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in summary.verdicts.items() if count)
    told = (
        f"{summary.alerts_fired} alerts delivered, {summary.changes} changes made ({judged or 'none judged yet'}), "
        f"{summary.wrong_cause_changes} for a wrong cause, in {format_duration(summary.seconds)}. "
        f"The storage fault was {'named and left alone' if summary.storage_fault_named else 'not named yet'}."
    )
    real = (
        "Real: Prometheus, Alertmanager, rules, collector, doorbell, loop. Simulated: the cluster and what its "
        "exporters say. Everything that was started has been stopped."
    )
    style = "bold green" if summary.passed else "bold yellow"
    return Group(
        section("What happened", _entries(entries, begins_at)), Text(told, style=style), Text(real, style="dim")
    )


def _head(performance: Performance, now: float) -> RenderableType:
    scale = performance.play.time_scale
    pace = f"1 s here is {format_duration(scale)} there; {format_duration(now * scale)} have passed"
    line = Text.assemble(("Trimtab demo", "bold"), f"   {pace}")
    real = Text(
        "real: Prometheus, Alertmanager, rules, collector, doorbell, loop   simulated: the cluster", style="dim"
    )
    pages = Text(f"status page {performance.page_url}   Prometheus {performance.prometheus_url}", style="dim")
    return Group(line, real, pages, Text(""))


def _late(performance: Performance) -> dict[str, int]:
    """Tenant → GPUs that wait longer than agreed."""
    last = performance.board.last
    if last is None or last.observation is None:
        return {}
    return {state.tenant: state.shortfall for state in last.observation.snapshot.tenants}


def _bars(views: Sequence[TenantView], late: dict[str, int]) -> RenderableType:
    rows = Table.grid(padding=(0, 2, 0, 0))
    for view in views:
        own, borrowed = min(view.held, view.entitled), max(0, view.held - view.entitled)
        free = max(0, view.entitled - view.held)
        waiting = min(view.waiting, _WAITING_AT_MOST)
        more = "+" if view.waiting > waiting else ""
        bar = Text.assemble(
            ("█" * own, "green"), ("░" * free, "green"), ("█" * borrowed, "yellow"), ("·" * waiting + more, "red")
        )
        short = late.get(view.name, 0)
        numbers = Text.assemble(
            f"{view.held} of {view.entitled}", (f", {view.waiting} wait" if view.waiting else "", "")
        )
        if short:
            numbers.append(f", {short} too long", style="bold red")
        rows.add_row(Text(view.name, style="bold"), numbers, bar)
    return rows


def _legend() -> RenderableType:
    signs = (("█", "green", "own"), ("░", "green", "own, free"), ("█", "yellow", "borrowed"), ("·", "red", "waits"))
    legend = Text(style="dim")
    for sign, style, meaning in signs:
        legend.append(sign, style=style).append(f" {meaning}   ")
    return legend


def _entries(entries: Sequence[Entry], begins_at: float, most: int = 230) -> RenderableType:
    """The entries, each cut to `most` letters: the status page has the whole."""
    if not entries:
        return Text("Nothing yet: everyday work.", style="dim")
    rows = table(left("", no_wrap=True), left("", no_wrap=True), left(""))
    rows.show_header = False
    for entry in entries:
        text = entry.text if len(entry.text) <= most else f"{entry.text[:most].rsplit(' ', 1)[0]} …"
        moment = datetime.fromtimestamp(max(0.0, entry.at - begins_at), UTC).strftime("+%M:%S")
        rows.add_row(Text(moment, style="dim"), Text(entry.kind.value, style=_STYLES[entry.kind]), Text(text))
    return rows


def _seen(summary: Summary) -> RenderableType:
    marks = (
        (summary.alerts_fired > 0, "alert rang"),
        (summary.changes > 0, "quota moved"),
        (summary.verdicts.get("helped", 0) > 0, "it helped"),
        (summary.storage_fault_named, "storage fault named, left alone"),
    )
    words = [(f"{'✓' if done else '·'} {what}   ", "green" if done else "dim") for done, what in marks]
    return Text.assemble(*words)
