"""The verb `waits`: everything whose clock runs, the longest wait first, with limit and reason. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from collector.model.snapshot import Work
from controller.api.errors import InputError, Mistake
from controller.cli.look_screen import WAIT_COLUMNS, nobody_waits, wait_row, waits_title
from controller.cli.names import nearest
from controller.cli.not_known import OF_TENANTS, OF_WAITS, answer_code, gap_section, raise_when_hidden
from controller.cli.options import Config, Context, Format, Kubeconfig
from controller.cli.output import FINDINGS, OK, NotedRows, Output, console, print_json, section
from controller.cli.records import header_record, listed, work_record
from controller.cli.view import View, Where, view_of


def waits(
    tenant: Annotated[
        str | None, typer.Option("--tenant", "-t", help="Only this tenant's work.", show_default=False)
    ] = None,
    overdue: Annotated[bool, typer.Option("--overdue", help="Only what waits beyond its limit.")] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    config: Config = None,
    output: Format = Output.TEXT,
) -> None:
    """List what waits: how long, against which limit, by which name of waiting, and why in one sentence.

    The clock belongs to the work: an eviction does not set it back. "≥" marks a wait of which only the last part is
    known.

    Example: [bold]trimtab waits --tenant vision --overdue[/bold]

    Exit code 0: nothing waits beyond its limit; 1: something does, or a part of the cluster could not be read; 2: bad
    input; 3: nothing can be said, since the API server can not be reached; 4: since it refuses.
    """
    view = view_of(Where(kubeconfig, context, config=config or ()))
    found = waiting_works(view, tenant)
    shown = [work for work in found if work.overdue or not overdue]
    if output is Output.JSON:
        records = listed([work_record(work) for work in shown], hidden=view.waits_hidden)
        print_json({**header_record(view), "waits": records})
    else:
        _print(shown, view, overdue=overdue)
    code = answer_code(view.picture, OF_WAITS | {OF_TENANTS})
    raise typer.Exit(code or (FINDINGS if any(work.overdue for work in found) else OK))


def waiting_works(view: View, tenant: str | None) -> Sequence[Work]:
    """Work whose clock runs, ineligible work included, the longest wait first. Raises InputError for no such tenant."""
    works = view.snapshot.works
    known = {item.name for item in view.site.tenants} | {work.tenant for work in works}
    if tenant is not None and tenant not in known:
        raise_when_hidden(view.picture, f"tenant {tenant}")
        raise InputError((Mistake("--tenant", tenant, f"the name of a tenant{nearest(tenant, known)}"),))
    mine = (work for work in works if work.waits and tenant in (None, work.tenant))
    return sorted(mine, key=lambda work: (-work.waited_seconds, work.key, work.uid))


def _print(works: Sequence[Work], view: View, *, overdue: bool) -> None:
    screen = console()
    title = waits_title(len(works), sum(1 for work in works if work.overdue), view)
    rows = NotedRows(WAIT_COLUMNS, (wait_row(work) for work in works))
    none = Text("Nothing waits beyond its limit.") if overdue and not view.waits_hidden else nobody_waits(view)
    screen.print(section(title, rows) if works else none)
    for part in gap_section(view.gaps):
        screen.print(part)
