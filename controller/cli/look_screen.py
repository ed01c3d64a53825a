"""The screen of `trimtab look`: what hurts first, no line without use. Shows, judges nothing."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from collector.assemble.gpu_ledger import PoolLedger, total_of
from collector.model.quantities import counted, format_duration, format_time
from collector.model.reading import Unknown
from collector.model.snapshot import Lie, TenantPool, Work
from controller.cli.look_report import MOST_LISTED, LookReport
from controller.cli.not_known import gap_section
from controller.cli.output import CountTable, NotedRows, left, right, section, shortened, table
from controller.cli.view import View

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
    yield from gap_section(report.view.gaps)


def wait_row(work: Work) -> tuple[list[str | Text], str]:
    """A waiting work as cells under WAIT_COLUMNS, and why it waits."""
    waited = ("≥ " if work.waited_is_lower_bound else "") + format_duration(work.waited_seconds)
    limit = "–" if work.limit_seconds is None else format_duration(work.limit_seconds)
    name = work.waiting.value if work.waiting else "–"
    gpus = str(work.gpus) if work.pods == 1 else f"{work.pods}×{work.gpus_per_pod}"
    tone = "bold red" if work.overdue else ""
    return [Text(waited, style=tone), limit, gpus, work.tenant, work.title, Text(name, style=tone)], work.why


def use_cells(state: TenantPool, view: View) -> list[str]:
    """GPUs used, borrowed beyond the own quota, waiting, waiting too long; "?" where that is not known."""
    used = "?" if view.use_hidden else str(state.reserved)
    waits = ["?", "?"] if view.waits_hidden else [str(state.waiting), str(state.shortfall)]
    return [used, borrowed(state, view), *waits]


def borrowed(state: TenantPool, view: View) -> str:
    """GPUs beyond the own quota; "?" where that is not known."""
    return "?" if view.use_hidden or isinstance(state.entitled_now, Unknown) else str(state.borrowed())


def waits_title(count: int, late: int, view: View) -> str:
    """How many wait, as far as is known."""
    least = "at least " if view.waits_hidden else ""
    return f"Waiting: {least}{count}, of them {least}{late} beyond their limit"


def nobody_waits(view: View) -> Text:
    """What to say where no wait was found."""
    if view.waits_hidden:
        return Text("Whether anybody waits is not known.", style="yellow")
    return Text("Nobody waits.", style="green")


def _head(report: LookReport) -> RenderableType:
    view = report.view
    words = Text.assemble((view.server, "bold"), f"  {format_time(view.now)}  ")
    if report.findings:
        words.append(counted(report.findings, "finding"), style="bold red")
        parts = [counted(count, one, many) for count, one, many in report.counted_findings if count]
        words.append(f": {', '.join(parts)}")
    else:
        words.append("no findings", style="bold green")
    words.append("; nothing was written\n")
    return words


def _gpus(report: LookReport) -> RenderableType:
    view = report.view
    shown = CountTable(("POOL",), ("GPUS", "ACTIVE", "IDLE-HELD", "FREE", "STRANDED", "SICK", "UNKNOWN"))
    for ledger in view.ledgers:
        shown.add_row(*_ledger_cells(ledger, ledger.pool or f"(no pool: {ledger.resource})", report))
    if len(view.ledgers) > 1:
        shown.add_row(*_ledger_cells(total_of(view.ledgers), "all", report), style="bold")
    none = "How many GPUs there are is not known." if "nodes" in view.picture.unreadable else "No node offers GPUs."
    return section("GPUs, now", shown if view.ledgers else Text(none), *_gpu_notes(report))


def _ledger_cells(ledger: PoolLedger, name: str, report: LookReport) -> list[str | Text]:
    if ledger.not_seen:
        return [name, "?" if "nodes" in ledger.not_seen else str(ledger.total), *["?"] * 6]
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
        if ledger.not_seen:
            continue
        for one in ledger.stranded_on:
            name = ledger.pool or "no pool"
            yield Text(f"{one.gpus} stranded in {name}: {one.reason} ({shortened(one.nodes)})", style="italic")
    reasons = dict.fromkeys(ledger.unknown_why for ledger in report.view.ledgers if ledger.unknown_why)
    for reason in reasons or filter(None, (report.view.devices.missing,)):
        hint = " (give --prometheus-url)" if reason.startswith("no Prometheus") else ""
        yield Text(f"Whether held GPUs compute, and which are sick, is unknown: {reason}{hint}", style="italic")


def _waits(report: LookReport) -> Iterator[RenderableType]:
    if not report.waits:
        yield section("Waiting", nobody_waits(report.view))
        return
    shown = report.waits[:MOST_LISTED]
    title = waits_title(len(report.waits), len(report.overdue), report.view)
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
        yield section(f"Held and idle for {window} or longer: {counted(total, 'GPU')}", shown)


def _sick(report: LookReport) -> Iterator[RenderableType]:
    if report.sick:
        shown = table(left("NODE"), right("GPU"), right("XID"), left("MODEL"), left("HELD BY"))
        for one in report.sick[:MOST_LISTED]:
            shown.add_row(one.node, one.index, str(one.xid or "–"), one.model, shortened(one.holders) or "–")
        yield section(f"Sick devices: {len(report.sick)} (last error code; it has no time)", shown)


def _lies(lies: tuple[Lie, ...]) -> Iterator[RenderableType]:
    if lies:
        lines = [Text.assemble((lie.where, "bold"), f"  {lie.sentence}") for lie in lies]
        yield section(f"Settings that can not be true: {len(lies)}", *lines)


def _tenants(report: LookReport) -> RenderableType:
    view = report.view
    shown = CountTable(("TENANT", "POOL"), ("GUARANTEE", "FLOAT", "USED", "BORROWED", "WAITING", "SHORT"))
    for state in view.snapshot.tenants:
        floating = "?" if isinstance(state.floating_now, Unknown) else str(state.floating_now.value)
        agreed = str(state.entitlement.guarantee)
        shown.add_row(state.tenant, state.pool, agreed, floating, *use_cells(state, view))
    title = "Tenants" if view.inferred is None else "Tenants, as inferred (--yaml-out FILE writes the YAML)"
    notes = [Text(f"To decide: {note}.", style="italic") for note in view.inferred.notes] if view.inferred else []
    none = "Not known." if view.use_hidden else "None: nothing has to do with GPUs."
    return section(title, shown if view.snapshot.tenants else Text(none), *notes)
