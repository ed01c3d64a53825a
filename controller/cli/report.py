"""`trimtab report weekly`: one file about a closed week, made from Prometheus and the ledger. Reads only."""

from __future__ import annotations

import time
from enum import StrEnum
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from collector.model.reading import Known, Reading, Unknown
from collector.sources.errors import CredentialsProblem, Forbidden, SourceError
from collector.sources.kubernetes_api import connect
from controller.api.errors import InputError, Mistake
from controller.cli.accounting_store import open_store
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.options import Accounting, Context, Kubeconfig
from controller.cli.output import FINDINGS, OK, REFUSED, UNREACHABLE, print_text, talk
from controller.cli.values import address_for, cluster_for, path_for
from controller.files.writing import write_text
from controller.policy.ledger import Ledger
from controller.runtime.configuration import Configuration
from controller.runtime.ledger_store import LedgerStore
from controller.runtime.status_store import read_status

if TYPE_CHECKING:
    from collector.accounting.store import Store
    from controller.reports.history import Told
    from controller.reports.model import ReportModel, Window

_TIMEOUT_SECONDS = 60.0
_ANSWER_BYTES = 128 * 1024 * 1024


class ReportForm(StrEnum):
    """For people or for programs."""

    HTML = "html"
    JSON = "json"


Promises: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        parser=path_for("--config"),
        help="File or folder with Tenant and Policy documents (may be repeated). Without it nothing is held against "
        "what was promised.",
        show_default=False,
    ),
]


def weekly(
    prometheus_url: Annotated[
        str,
        typer.Option(
            "--prometheus-url",
            parser=address_for("--prometheus-url"),
            help="Prometheus that scrapes Trimtab's collector and keeps the week.",
        ),
    ],
    week: Annotated[
        str | None, typer.Option("--week", help="ISO week such as 2026-W48; without it the last one that has ended.")
    ] = None,
    begin: Annotated[str | None, typer.Option("--from", help="A span instead: its first date or time.")] = None,
    finish: Annotated[str | None, typer.Option("--to", help="The date or time before which the span ends.")] = None,
    time_zone: Annotated[str, typer.Option("--time-zone", help="Where weeks and dates begin at midnight.")] = "UTC",
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            parser=cluster_for("--cluster"),
            help="Cluster, as in its metrics; needed when there are several.",
        ),
    ] = None,
    config: Promises = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    namespace: Namespace = NAMESPACE,
    accounting: Accounting = None,
    form: Annotated[ReportForm, typer.Option("--output", "-o", help="A page, or JSON.")] = ReportForm.HTML,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=path_for("--out"), help="File to write to; without it standard output."),
    ] = None,
) -> None:
    """Report a week: where every GPU-hour went, who waited, what Trimtab changed and what came of it.

    With --accounting it also counts GPU-hours by the history of workloads, and says its gaps.

    Needs pandas, which comes with the extra "reports" (see docs/guide/report.md).

    Example: trimtab report weekly --prometheus-url http://localhost:9090 --week 2026-W48 --out w48.html

    Exit code 0: written; 1: written, but its data light is red; 2: bad input; 3: Prometheus or the history can not be
    read, or (written without changes) the API server; 4: one of them refuses.
    """
    _need_pandas()
    window = _window(week, begin, finish, time_zone)
    ledger, asked = _ledger(kubeconfig, context, namespace)
    store = None if accounting is None else open_store(accounting)
    report = _report(prometheus_url, cluster, config or [], ledger, window, store)
    _write(_rendered(report, form), out)
    for reason in report.light_reasons:
        talk(f"data {report.light.value}: {reason}")
    raise typer.Exit(asked or (FINDINGS if report.light.value == "red" else OK))


def _need_pandas() -> None:
    if find_spec("pandas") is None:
        raise InputError(
            (Mistake("report", "no pandas installed", "the extra: pipx install --force '.[reports]' in the checkout"),)
        )


def _window(week: str | None, begin: str | None, finish: str | None, time_zone: str) -> Window:
    from controller.reports.window import span_window, week_window

    now = time.time()
    if begin is None and finish is None:
        return week_window(week, time_zone, now)
    if week is not None:
        raise InputError((Mistake("--week", week, "either a week, or --from and --to"),))
    if begin is None or finish is None:
        given = "--to" if begin is None else "--from"
        raise InputError((Mistake(given, "alone", "--from and --to together"),))
    return span_window(begin, finish, time_zone, now)


def _ledger(kubeconfig: Path | None, context: str | None, namespace: str) -> tuple[Reading[Ledger], int]:
    """The changes, and the exit code for how the API server (if there is one to ask) took it."""
    try:
        api = connect(kubeconfig, context)
    except CredentialsProblem as problem:
        if kubeconfig is not None or context is not None:
            raise
        return Unknown(f"no cluster to ask: {problem}"), OK
    store = LedgerStore(api, namespace)
    try:
        ledger = store.load()
        if not ledger.changes and read_status(api, namespace) is None:
            return Unknown(f"no controller has left a ledger or a status in namespace {namespace}"), OK
    except SourceError as error:
        code = REFUSED if isinstance(error, Forbidden) else UNREACHABLE
        return Unknown(f"the ledger can not be read: {error}"), code
    for key, problem_there in store.unreadable.items():
        talk(f"{key} in the ledger is left out: {problem_there}")
    return Known(ledger), OK


def _report(
    url: str, cluster: str | None, config: list[Path], ledger: Reading[Ledger], window: Window, store: Store | None
) -> ReportModel:
    # Only now: help and mistakes need no pandas.
    from collector.sources.prometheus import Prometheus
    from collector.sources.prometheus_session import PrometheusLimits
    from controller.reports.compute import Sources, report_of
    from controller.reports.read import read_samples, the_cluster

    site = Configuration(config, cluster or "default").load().site if config else None
    history = Prometheus(url, PrometheusLimits(total_seconds=_TIMEOUT_SECONDS, body_bytes=_ANSWER_BYTES))
    try:
        named = the_cluster(history, window, cluster)
        told = None if store is None else _told(store, named, window)
        sources = Sources(named, read_samples(history, named, window), ledger, site, told)
    finally:
        history.close()
    return report_of(sources, window, time.time(), version("trimtab"))


def _told(store: Store, cluster: str, window: Window) -> Told:
    from collector.accounting.store import Wanted
    from controller.reports.history import Told

    inside = store.transitions(Wanted(cluster, begin=window.start, end=window.end))
    rows = (*store.standing_at(cluster, window.start), *inside)
    looks = store.looks(cluster, window.start, window.end)
    if not looks:
        talk(f"the history of cluster {cluster} holds nothing of this span")
    return Told(rows, store.capacities(cluster, window.end), looks)


def _rendered(report: ReportModel, form: ReportForm) -> str:
    from controller.reports.render_html import report_html
    from controller.reports.render_json import report_json

    return report_html(report) if form is ReportForm.HTML else report_json(report)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        print_text(text)
        return
    write_text(out, text, "--out")
    talk(f"wrote {out}")
