"""The screen of `trimtab look`: what hurts first, no line without use. Shows, judges nothing."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from collector.assemble.gpu_ledger import PoolLedger, total_of
from collector.model.quantities import format_duration, format_time
from collector.model.reading import Unknown
from collector.model.snapshot import Lie, TenantPool, Work
from controller.cli.look_report import MOST_LISTED, LookReport
from controller.cli.output import NotedRows, left, right, section, shortened, table

WAIT_COLUMNS = (right("WAITED"), right("LIMIT"), right("GPUS"), left("TENANT"), left("WORK"), left("NAMED"))


def look_screen(report: LookReport) -> Iterator[RenderableType]:
    """The parts of the screen, top to bottom."""
    yield _head(report)
    yield _gpus(report)
    yield from _waits(report)
    yield from _never(report)
    yield from _idle(report)
    yield from _sick(report)
    yield from _lies(report.view.lies)
    yield _tenants(report)
    yield from _hidden(report)


def wait_row(work: Work) -> tuple[list[str | Text], str]:
    """A waiting work as cells under WAIT_COLUMNS, and why it waits."""
    waited = ("≥ " if work.waited_is_lower_bound else "") + format_duration(work.waited_seconds)
    limit = "–" if work.limit_seconds is None else format_duration(work.limit_seconds)
    name = work.waiting.value if work.waiting else "–"
    gpus = str(work.gpus) if work.pods == 1 else f"{work.pods}×{work.gpus_per_pod}"
    tone = "bold red" if work.overdue else ""
    return [Text(waited, style=tone), limit, gpus, work.tenant, work.title, Text(name, style=tone)], work.why


def borrowed(state: TenantPool) -> str:
    """GPUs beyond the own quota; unknown where that is."""
    return "?" if isinstance(state.entitled_now, Unknown) else str(state.borrowed())


def _head(report: LookReport) -> RenderableType:
    view = report.view
    words = Text.assemble((view.server, "bold"), f"  {format_time(view.now)}  ")
    if report.findings:
        words.append(f"{report.findings} findings", style="bold red")
    else:
        words.append("no findings", style="bold green")
    words.append(", nothing was written\n")
    return words


def _gpus(report: LookReport) -> RenderableType:
    view = report.view
    shown = table(
        left("POOL"),
        *(right(title) for title in ("GPUS", "ACTIVE", "IDLE-HELD", "FREE", "STRANDED", "SICK", "UNKNOWN")),
    )
    for ledger in view.ledgers:
        shown.add_row(*_ledger_cells(ledger, ledger.pool or f"(no pool: {ledger.resource})", report))
    if len(view.ledgers) > 1:
        shown.add_row(*_ledger_cells(total_of(view.ledgers), "all", report), style="bold")
    return section("GPUs, now", shown if view.ledgers else Text("No node offers GPUs."), *_gpu_notes(report))


def _ledger_cells(ledger: PoolLedger, name: str, report: LookReport) -> list[str | Text]:
    unread = ledger.unknown > 0 and ledger.active + ledger.idle_held == 0
    sick = "?" if report.view.devices.missing and not ledger.sick else ledger.sick
    return [
        name,
        str(ledger.total),
        "?" if unread else str(ledger.active),
        _toned("?" if unread else ledger.idle_held, "yellow"),
        _toned(ledger.free, "green"),
        _toned(ledger.stranded, "yellow"),
        _toned(sick, "bold red"),
        _toned(ledger.unknown, "dim"),
    ]


def _toned(count: int | str, style: str) -> Text:
    return Text(str(count), style=style if isinstance(count, int) and count > 0 else "")


def _gpu_notes(report: LookReport) -> Iterator[RenderableType]:
    for ledger in report.view.ledgers:
        for one in ledger.stranded_on:
            name = ledger.pool or "no pool"
            yield Text(f"{one.gpus} stranded in {name}: {one.reason} ({shortened(one.nodes)})", style="italic")
    reasons = dict.fromkeys(ledger.unknown_why for ledger in report.view.ledgers if ledger.unknown_why)
    for reason in reasons or filter(None, (report.view.devices.missing,)):
        hint = " (give --prometheus-url)" if reason.startswith("no Prometheus") else ""
        yield Text(f"Whether held GPUs compute, and which are sick, is unknown: {reason}{hint}", style="italic")


def _waits(report: LookReport) -> Iterator[RenderableType]:
    if not report.waits:
        yield section("Waiting", Text("Nobody waits.", style="green"))
        return
    shown = report.waits[:MOST_LISTED]
    title = f"Waiting: {len(report.waits)}, of them {len(report.overdue)} beyond their limit"
    if len(report.waits) > len(shown):
        title += f"; the {len(shown)} longest (all: trimtab waits)"
    yield section(title, NotedRows(WAIT_COLUMNS, (wait_row(work) for work in shown)))


def _never(report: LookReport) -> Iterator[RenderableType]:
    if report.never:
        rows = []
        for work, reason in ((item.work, item.reason) for item in report.never[:MOST_LISTED]):
            rows.append(((format_duration(work.waited_seconds), str(work.gpus), work.tenant, work.title), reason))
        title = f"Can never start: {len(report.never)}"
        yield section(title, NotedRows((right("WAITED"), right("GPUS"), left("TENANT"), left("WORK")), rows))


def _idle(report: LookReport) -> Iterator[RenderableType]:
    if report.idle:
        shown = table(right("IDLE"), right("OF"), right("HELD FOR"), left("TENANT"), left("WORK"))
        for one in report.idle[:MOST_LISTED]:
            held_for = format_duration(one.held_seconds)
            shown.add_row(str(one.idle), str(one.gpus), held_for, one.tenant, f"{one.namespace}/{one.name}")
        total = sum(one.idle for one in report.idle)
        window = format_duration(report.view.devices.window_seconds)
        yield section(f"Held and idle for {window} or longer: {total} GPUs", shown)


def _sick(report: LookReport) -> Iterator[RenderableType]:
    if report.sick:
        shown = table(left("NODE"), right("GPU"), right("XID"), left("MODEL"), left("HELD BY"))
        for one in report.sick[:MOST_LISTED]:
            shown.add_row(one.node, one.index, str(one.xid), one.model, shortened(one.holders) or "–")
        yield section(f"Sick devices: {len(report.sick)} (last error code; it has no time)", shown)


def _lies(lies: tuple[Lie, ...]) -> Iterator[RenderableType]:
    if lies:
        lines = [Text.assemble((lie.where, "bold"), f"  {lie.sentence}") for lie in lies]
        yield section(f"Settings that can not be true: {len(lies)}", *lines)


def _tenants(report: LookReport) -> RenderableType:
    view = report.view
    shown = table(
        left("TENANT"),
        left("POOL"),
        *(right(title) for title in ("GUARANTEE", "FLOAT", "USED", "BORROWED", "WAITING", "SHORT")),
    )
    for state in view.snapshot.tenants:
        floating = "?" if isinstance(state.floating_now, Unknown) else str(state.floating_now.value)
        counts = (state.reserved, borrowed(state), state.waiting, state.shortfall)
        shown.add_row(state.tenant, state.pool, str(state.entitlement.guarantee), floating, *map(str, counts))
    title = "Tenants" if view.inferred is None else "Tenants, as inferred (--yaml-out FILE writes the YAML)"
    notes = [Text(f"To decide: {note}.", style="italic") for note in view.inferred.notes] if view.inferred else []
    return section(title, shown if view.snapshot.tenants else Text("None: nothing has to do with GPUs."), *notes)


def _hidden(report: LookReport) -> Iterator[RenderableType]:
    picture = report.view.picture
    lines = [Text(f"not readable: {kind} ({why})", style="yellow") for kind, why in sorted(picture.unreadable.items())]
    for kind, problems in sorted(picture.malformed.items()):
        lines.append(Text(f"not understood: {len(problems)} {kind} ({problems[0]})", style="yellow"))
    if lines:
        yield section("Not seen", *lines)
