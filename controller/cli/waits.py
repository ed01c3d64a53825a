"""The verb `waits`: everything whose clock runs, the longest wait first, with limit and reason. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from collector.model.snapshot import Work
from controller.api.errors import InputError, Mistake
from controller.cli.look_screen import WAIT_COLUMNS, wait_row
from controller.cli.names import nearest
from controller.cli.options import Config, Context, Format, Kubeconfig
from controller.cli.output import FINDINGS, OK, NotedRows, Output, console, print_json, section
from controller.cli.records import header_record, work_record
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

    Exit code 0: nothing waits beyond its limit; 1: something does; 2: bad input; 3: the API server can not be reached.
    """
    view = view_of(Where(kubeconfig, context, config=config or ()))
    found = waiting_works(view, tenant)
    shown = [work for work in found if work.overdue or not overdue]
    if output is Output.JSON:
        print_json({**header_record(view), "waits": [work_record(work) for work in shown]})
    else:
        _print(shown)
    raise typer.Exit(FINDINGS if any(work.overdue for work in found) else OK)


def waiting_works(view: View, tenant: str | None) -> Sequence[Work]:
    """Work whose clock runs, ineligible work included, the longest wait first. Raises InputError for no such tenant."""
    works = view.snapshot.works
    known = {item.name for item in view.site.tenants} | {work.tenant for work in works}
    if tenant is not None and tenant not in known:
        raise InputError((Mistake("--tenant", tenant, f"the name of a tenant{nearest(tenant, known)}"),))
    mine = (work for work in works if work.waits and tenant in (None, work.tenant))
    return sorted(mine, key=lambda work: (-work.waited_seconds, work.key, work.uid))


def _print(works: Sequence[Work]) -> None:
    late = sum(1 for work in works if work.overdue)
    title = f"Waiting: {len(works)}, of them {late} beyond their limit"
    rows = NotedRows(WAIT_COLUMNS, (wait_row(work) for work in works))
    console().print(section(title, rows) if works else Text("Nobody waits."))
