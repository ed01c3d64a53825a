"""The verb `explain`: everything known about one workload, tenant or change. Reads only."""

from __future__ import annotations

from typing import Annotated

import typer

from collector.model.snapshot import Work
from controller.cli.explain_facts import tenant_facts, work_facts
from controller.cli.explain_screen import change_screen, tenant_screen, work_screen
from controller.cli.not_known import gap_section
from controller.cli.options import Config, Context, Format, Kubeconfig, PrometheusUrl
from controller.cli.output import FINDINGS, OK, Output, console, print_json
from controller.cli.records import header_record, tenant_facts_record, work_facts_record
from controller.cli.subjects import subject
from controller.cli.values import words_for
from controller.cli.view import Where, view_of
from controller.policy.change import Change
from controller.policy.ledger_text import change_document


def explain(
    name: Annotated[
        str,
        typer.Argument(
            parser=words_for("NAME", "the name of a workload, tenant or change"),
            help="A workload (name or namespace/name), a tenant, or the beginning of a change's id. "
            "workload/…, tenant/… and change/… say which is meant.",
        ),
    ],
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    prometheus_url: PrometheusUrl = None,
    config: Config = None,
    output: Format = Output.TEXT,
) -> None:
    """Explain a workload (why it waits, who is ahead, who holds the quota, what would help), a tenant, or a change.

    Example: [bold]trimtab explain vision-train/resnet-7[/bold], [bold]trimtab explain vision[/bold]

    Exit code 0: told; 1: told in part, since not all could be read; 2: no such name, or several, with what is near;
    3: the API server can not be reached; 4: it refuses.
    """
    where = Where(kubeconfig, context, prometheus_url, config or ())
    api = where.connection()
    view = view_of(where, api)
    found = subject(name, view, api)
    header = header_record(view)
    if isinstance(found, Change):
        record, screen = {"change": change_document(found)}, change_screen(found)
    elif isinstance(found, Work):
        facts = work_facts(view, found)
        record, screen = {"workload": work_facts_record(facts, view)}, work_screen(facts, view)
    else:
        about = tenant_facts(view, found)
        record, screen = {"tenant": tenant_facts_record(about, view)}, tenant_screen(about, view)
    if output is Output.JSON:
        print_json({**header, **record})
    else:
        shown = console()
        for part in (*screen, *gap_section(view.gaps)):
            shown.print(part)
    raise typer.Exit(FINDINGS if view.gaps and not isinstance(found, Change) else OK)
