"""The verb `explain`: everything known about one workload, tenant or change. Reads only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from collector.accounting.schema.rows import Transition
from collector.model.snapshot import Work
from controller.api.errors import InputError
from controller.cli.accounting_store import History
from controller.cli.accounting_text import row_record
from controller.cli.explain_facts import tenant_facts, work_facts
from controller.cli.explain_screen import change_screen, past_screen, tenant_screen, work_screen
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.not_known import gap_section
from controller.cli.options import Accounting, Config, Context, Format, Kubeconfig, PrometheusUrl
from controller.cli.output import FINDINGS, OK, Output, console, print_json
from controller.cli.records import header_record, tenant_facts_record, work_facts_record
from controller.cli.subjects import Subject, subject
from controller.cli.values import cluster_for, words_for
from controller.cli.view import View, Where, view_of
from controller.policy.change import Change
from controller.policy.ledger_text import change_document
from controller.runtime.ledger_store import LedgerStore


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
    namespace: Namespace = NAMESPACE,
    accounting: Accounting = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            parser=cluster_for("--cluster"),
            help="Cluster, as the history has it; needed when it has several.",
        ),
    ] = None,
    output: Format = Output.TEXT,
) -> None:
    """Explain a workload (why it waits, who is ahead, who holds the quota, what would help), a tenant, or a change.

    With --accounting a workload's wait is exact over evictions and restarts, and what happened to it is told, also
    when it is there no more.

    Example: [bold]trimtab explain vision-train/resnet-7[/bold], [bold]trimtab explain vision[/bold]

    Exit code 0: told; 1: told in part, since not all could be read; 2: no such name, or several, with what is near;
    3: the API server can not be reached, or the history not read; 4: it refuses.
    """
    history = None if accounting is None else History.opened(accounting, cluster)
    where = Where(kubeconfig, context, prometheus_url, config or ())
    if history is not None:
        where = replace(where, clocks=history.clocks())
    api = where.connection()
    view = view_of(where, api)
    found = _found(name, view, LedgerStore(api, namespace), history)
    record, screen = _told(found, view, history)
    if output is Output.JSON:
        print_json({**header_record(view), **record})
    else:
        shown = console()
        for part in (*screen, *gap_section(view.gaps)):
            shown.print(part)
    raise typer.Exit(FINDINGS if view.gaps and not isinstance(found, Change) else OK)


def _found(name: str, view: View, ledger: LedgerStore, history: History | None) -> Subject | tuple[Transition, ...]:
    """What is meant; where nothing that exists has the name, what the history knows of work that had it."""
    try:
        return subject(name, view, ledger)
    except InputError:
        past = history.named(name) if history is not None else ()
        if not past:
            raise
        return past


def _told(
    found: Subject | tuple[Transition, ...], view: View, history: History | None
) -> tuple[dict[str, Any], Iterable[RenderableType]]:
    """For scripts, and for people."""
    if isinstance(found, tuple):
        past = [row_record(row) for row in found]
        return {"past_workload": {"name": found[-1].title, "history": past}}, past_screen(found)
    if isinstance(found, Change):
        return {"change": change_document(found)}, change_screen(found)
    if isinstance(found, Work):
        facts = work_facts(view, found)
        if history is not None:
            facts = replace(facts, history=history.of(found))
        return {"workload": work_facts_record(facts, view)}, work_screen(facts, view)
    about = tenant_facts(view, found)
    return {"tenant": tenant_facts_record(about, view)}, tenant_screen(about, view)
