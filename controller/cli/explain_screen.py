"""The screens of `trimtab explain`. Show, judge nothing."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from collector.accounting.schema.rows import Transition
from collector.model.quantities import counted, format_duration, format_time
from collector.model.reading import Unknown
from collector.model.snapshot import Lie, TenantPool, UseTold, Work
from controller.cli.accounting_text import transition_cells
from controller.cli.explain_facts import TenantFacts, WorkFacts
from controller.cli.look_screen import WAIT_COLUMNS, borrowed, nobody_waits, use_cells, wait_row, waits_title
from controller.cli.output import CountTable, NotedRows, left, right, section, shortened, table
from controller.cli.view import View
from controller.policy.change import Change, WorkRef

_MOST = 8
_MOST_ROWS = 30


def work_screen(facts: WorkFacts, view: View) -> Iterator[RenderableType]:
    """A workload: what it is, why it waits, who is ahead, who holds the quota, what would help."""
    work = facts.work
    yield Text.assemble((f"{work.title}", "bold"), f"  {work.kind}, tenant {work.tenant}, {_shape(work)}")
    yield Text(f"{_clock(work)}\n", style="bold red" if work.overdue else "")
    yield section("Why", Text(facts.why))
    yield from _troubles(facts.troubles)
    if facts.not_judged:
        yield section("Whether it hangs is not known", Text(facts.not_judged))
    if facts.queue_length:
        place = f"Place {len(facts.ahead) + 1} of {facts.queue_length} in its queue"
        yield section(place, Text(facts.order), *_ahead(facts.ahead))
    if facts.holders:
        yield section(f"Who holds pool {work.pool}", _holders(facts, view))
    if facts.help:
        yield section("What would help", *(Text(f"· {sentence}") for sentence in facts.help))
    if facts.storage:
        yield section("Its volumes", *(Text(line) for line in facts.storage))
    if facts.history:
        yield section("What happened to it", _history(facts.history))
    yield from _lies(facts.lies)


def past_screen(rows: tuple[Transition, ...]) -> Iterator[RenderableType]:
    """Work that is no more: what happened to it."""
    last = rows[-1]
    yield Text.assemble(
        (last.title, "bold"), f"  {last.kind}, tenant {last.tenant}, {counted(last.gpus, 'GPU')}: no more there\n"
    )
    yield section("What happened to it", _history(rows))


def tenant_screen(facts: TenantFacts, view: View) -> Iterator[RenderableType]:
    """A tenant: what it may use, what it uses and lacks, its objectives, its longest waits."""
    tenant = facts.tenant
    words = f"  tier {tenant.tier or '–'}, namespaces {shortened(facts.namespaces, 5) or 'none'}"
    yield Text.assemble((tenant.name, "bold"), words + (f", known from {facts.source}" if facts.source else ""), "\n")
    yield section("GPUs", _states(facts.states, view) if facts.states else Text(_no_states(view)))
    if facts.idle or facts.unread:
        yield section("Use", Text(_use(facts)))
    yield from _troubles(facts.troubles)
    if facts.storage:
        yield section("Storage", *(Text(line) for one in facts.storage for line in _used(one)))
    if tenant.objectives:
        shown = table(left("OBJECTIVE"), left("KIND"), right("TARGET"), right("WINDOW"))
        for one in tenant.objectives:
            shown.add_row(one.name, one.kind.value, f"{one.target:.4g}", format_duration(one.window_seconds))
        yield section("Objectives (how they stand: trimtab status, or the Tenant board)", shown)
    if facts.waits:
        title = waits_title(len(facts.waits), sum(1 for work in facts.waits if work.overdue), view)
        rows = (wait_row(work) for work in facts.waits[:_MOST])
        yield section(title, NotedRows(WAIT_COLUMNS, rows))
    elif view.waits_hidden:
        yield section("Waiting", nobody_waits(view))
    yield from _lies(facts.lies)


def _used(one: UseTold) -> Iterator[str]:
    yield one.pattern
    yield from (f"· {sentence}" for sentence in one.advice)


def change_screen(change: Change) -> Iterator[RenderableType]:
    """A change: why it was made, what it moved, what it foresaw, what came of it."""
    stage = change.stage.value + (f", verdict {change.verdict.value}" if change.verdict else "")
    yield Text.assemble((change.id, "bold"), f"  for {change.tenant} in pool {change.pool}: {stage}\n")
    yield section("Why", Text(change.reason))
    yield section("Steps", *(Text(line) for line in _steps(change)))
    yield section("Forecast", *(Text(line) for line in _forecast(change)))
    if change.verdict or change.return_reason:
        told = [change.verdict_reason, f"On its way back: {change.return_reason}" if change.return_reason else ""]
        yield section("What came of it", *(Text(line) for line in told if line))
    yield section("To undo it", Text(f"{change.inverse} (trimtab revert {change.id})"))


def _troubles(sentences: tuple[str, ...]) -> Iterator[RenderableType]:
    if sentences:
        lines = [Text(f"· {sentence}.") for sentence in sentences[:_MOST]]
        more = [Text(f"· and {len(sentences) - _MOST} more")] if len(sentences) > _MOST else []
        yield section("What is wrong with its GPUs", *lines, *more)


def _shape(work: Work) -> str:
    gpus = counted(work.gpus, "GPU") + ("" if work.pods == 1 else f" ({work.pods} pods of {work.gpus_per_pod})")
    return f"{gpus}, pool {work.pool or 'none'}" + (f", queue {work.queue}" if work.queue else "")


def _clock(work: Work) -> str:
    waited = ("at least " if work.waited_is_lower_bound else "") + format_duration(work.waited_seconds)
    limit = "no limit" if work.limit_seconds is None else f"limit {format_duration(work.limit_seconds)}"
    verb = "has waited" if work.waits else "waited"
    evicted = f", evicted {counted(work.evictions, 'time')}" + (
        f" (last by {work.evicted_by})" if work.evicted_by else ""
    )
    if len(work.evictions_by) > 1 or sum(work.evictions_by.values()) not in (0, work.evictions):
        evicted += f": {_evictors(work)}"
    name = f": {work.waiting.value}" if work.waiting else ""
    return f"{work.phase.value}, {verb} {waited} ({limit}, size {work.size.value}){name}" + (
        evicted if work.evictions else ""
    )


def _evictors(work: Work) -> str:
    told = sorted(work.evictions_by.items(), key=lambda item: (-item[1], item[0]))
    unknown = work.evictions - sum(count for _, count in told)
    return ", ".join(
        [f"{count} by {tenant}" for tenant, count in told] + ([f"{unknown} by an unknown"] if unknown > 0 else [])
    )


def _history(rows: tuple[Transition, ...]) -> Table:
    shown = table(left("AT"), left("STATE"), right("GPUS"), right("WAITED"), left("WORK"), left(""))
    for row in rows[-_MOST_ROWS:]:
        at, state, gpus, waited, _, title, remark = transition_cells(row)
        shown.add_row(at, state, gpus, waited, title, remark)
    return shown


def _ahead(works: tuple[Work, ...]) -> Iterator[RenderableType]:
    if not works:
        return
    shown = table(right("PRIORITY"), right("WAITED"), right("GPUS"), left("TENANT"), left("WORK"))
    for work in works[:_MOST]:
        waited = format_duration(work.waited_seconds)
        shown.add_row(str(work.priority), waited, str(work.gpus), work.tenant, work.title)
    if len(works) > _MOST:
        shown.add_row("", "", "", "", f"and {len(works) - _MOST} more")
    yield shown


def _holders(facts: WorkFacts, view: View) -> Table:
    shown = table(left("TENANT"), *(right(title) for title in ("OWN", "USED", "BORROWED")), left("WITH (GPUS)"))
    for holder in facts.holders:
        works = shortened([f"{work.title} ({work.gpus})" for work in holder.works])
        state = holder.state
        shown.add_row(state.tenant, _own(state), str(state.reserved), borrowed(state, view), works or "–")
    return shown


def _no_states(view: View) -> str:
    return "What it may use is not known." if view.use_hidden else "No entitlement in any pool."


def _use(facts: TenantFacts) -> str:
    held = counted(facts.unread, "GPU")
    if not facts.idle:
        return f"Whether the {held} that it holds {'computes' if facts.unread == 1 else 'compute'} is not known."
    told = f"{facts.idle} of the GPUs it holds {'computes' if facts.idle == 1 else 'compute'} nothing"
    return told + (f"; of {facts.unread} more it is not known." if facts.unread else ".")


def _states(states: tuple[TenantPool, ...], view: View) -> CountTable:
    titles = ("GUARANTEE", "FLOAT", "BURST", "CEILING", "USED", "BORROWED", "WAITING", "SHORT")
    shown = CountTable(("POOL",), titles)
    for state in states:
        agreed = state.entitlement
        floating = "?" if isinstance(state.floating_now, Unknown) else str(state.floating_now.value)
        ceiling = "–" if agreed.ceiling is None else str(agreed.ceiling)
        guarantee, burst = str(agreed.guarantee), str(agreed.burst_gpus)
        shown.add_row(state.pool, guarantee, floating, burst, ceiling, *use_cells(state, view))
    return shown


def _own(state: TenantPool) -> str:
    known = state.entitled_now
    return f"{state.entitlement.guarantee}+?" if isinstance(known, Unknown) else str(known.value)


def _lies(lies: tuple[Lie, ...]) -> Iterator[RenderableType]:
    if lies:
        lines = [Text.assemble((lie.where, "bold"), f"  {lie.sentence}") for lie in lies]
        yield section("Settings that can not be true", *lines)


def _steps(change: Change) -> Iterator[str]:
    amount = counted(change.amount, "GPU")
    yield f"1. take {change.taken} of {amount} from {change.source} (written: {change.taken_written})"
    yield f"2. give {change.given} of {amount} to {change.destination} (written: {change.given_written})"
    applied = f"applied {format_time(change.applied_at)}, " if change.applied_at else ""
    yield f"intended {format_time(change.created_at)}, {applied}ends by itself {format_time(change.expires_at)}"


def _forecast(change: Change) -> Iterator[str]:
    forecast = change.forecast
    yield f"Ready by {format_time(forecast.ready_by)}: {_named(forecast.ready, set(change.seen_ready))}"
    lost = f" ({forecast.lost_gpu_hours:.1f} GPU-hours lost)" if forecast.lost_gpu_hours else ""
    yield f"May be evicted for it: {_named(forecast.evicted, set())}{lost}"


def _named(works: tuple[WorkRef, ...], seen: set[str]) -> str:
    marks = [
        f"{work.title} ({counted(work.gpus, 'GPU')}{', seen Ready' if work.key in seen else ''})" for work in works
    ]
    return ", ".join(marks) or "nobody"
