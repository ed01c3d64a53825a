"""The verb `doctor sources`: asks each source once and says what is missing and how to fix it. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer
from rich.text import Text

from collector.sources.errors import CredentialsProblem
from collector.sources.kubernetes_api import connect
from collector.sources.kubernetes_kinds import KINDS, VOLUMES
from collector.sources.prometheus import Prometheus
from collector.sources.scrape import Scraper
from controller.cli.addresses import http_address
from controller.cli.options import Context, Format, Kubeconfig
from controller.cli.output import FINDINGS, OK, UNREACHABLE, NotedRows, Output, console, left, print_json, section
from controller.cli.run_cluster_role import read_probe_plan
from controller.cli.run_collector import CephAdminFile, CephUrls, CephUser, GpuExporters, RdmaProbes
from controller.cli.values import address_for, path_for
from controller.runtime.doctor import (
    Check,
    SourceReport,
    State,
    check_ceph,
    check_ceph_admin,
    check_gpu_exporter,
    check_kubernetes,
    check_probes,
    check_webhook_token,
)
from controller.runtime.doctor_prometheus import check_prometheus

PrometheusAsked: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--prometheus-url",
        parser=address_for("--prometheus-url"),
        help="The Prometheus that the controller asks.",
        show_default=False,
    ),
]
TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--webhook-token-file",
        parser=path_for("--webhook-token-file"),
        help="File with the token that Alertmanager sends to the controller.",
    ),
]
_COLUMNS: Final = ("", "state", "found")


def sources(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    prometheus_url: PrometheusAsked = None,
    gpu_exporter: GpuExporters = None,
    ceph_url: CephUrls = None,
    ceph_admin: CephAdminFile = None,
    ceph_user: CephUser = "client.admin",
    rdma_probes: RdmaProbes = None,
    webhook_token_file: TokenFile = None,
    output: Format = Output.TEXT,
) -> None:
    """Ask each source once: is it reached, what is missing, and how to fix it.

    Give it the options of `run collector` and `run controller`, and run it where they run: rights and networks are
    those of whoever asks. The Kubernetes API is always asked. Nothing is written, and no probe is sent.

    Example: [bold]trimtab doctor sources --prometheus-url http://localhost:9090[/bold]

    Exit code 0: nothing is missing; 1: something is; 2: bad input; 3: no source at all can be reached.
    """
    asked = _Asked(
        kubeconfig,
        context,
        prometheus_url,
        tuple(http_address("--gpu-exporter", url) for url in gpu_exporter or ()),
        tuple(http_address("--ceph-url", url) for url in ceph_url or ()),
        ceph_admin,
        ceph_user,
        rdma_probes,
        webhook_token_file,
    )
    reports = list(_reports(asked))
    if output is Output.JSON:
        print_json({"sources": [source_record(one) for one in reports]})
    else:
        _print(reports)
    raise typer.Exit(exit_code(reports))


def exit_code(reports: Sequence[SourceReport]) -> int:
    """0, 1 or 3, as the verb's help says."""
    if not any(one.reached for one in reports):
        return UNREACHABLE
    fine = all(one.state in (State.FINE, State.ABSENT) for one in reports)
    return OK if fine else FINDINGS


def source_record(report: SourceReport) -> dict[str, Any]:
    """One source for scripts."""
    return {
        "source": report.source,
        "target": report.target,
        "reached": report.reached,
        "state": report.state.value,
        "checks": [
            {"what": check.what, "state": check.state.value, "found": check.found, "fix": check.fix}
            for check in report.checks
        ],
    }


@dataclass(frozen=True, slots=True)
class _Asked:
    kubeconfig: Path | None
    context: str | None
    prometheus_url: str | None
    gpu_exporters: tuple[str, ...]
    ceph_urls: tuple[str, ...]
    ceph_admin: Path | None
    ceph_user: str
    rdma_probes: Path | None
    webhook_token_file: Path | None


def _reports(asked: _Asked) -> Iterator[SourceReport]:
    yield _kubernetes(asked)
    if asked.prometheus_url is not None:
        yield check_prometheus(Prometheus(asked.prometheus_url))
    scraper = Scraper()
    try:
        yield from (check_gpu_exporter(scraper, url) for url in asked.gpu_exporters)
        yield from (check_ceph(scraper, url) for url in asked.ceph_urls)
    finally:
        scraper.close()
    if asked.ceph_admin is not None:
        yield check_ceph_admin(asked.ceph_admin, asked.ceph_user)
    if asked.rdma_probes is not None:
        yield check_probes(read_probe_plan(asked.rdma_probes))
    if asked.webhook_token_file is not None:
        yield check_webhook_token(asked.webhook_token_file)


def _kubernetes(asked: _Asked) -> SourceReport:
    kinds = (*KINDS, VOLUMES) if asked.ceph_urls else KINDS
    try:
        return check_kubernetes(connect(asked.kubeconfig, asked.context), kinds)
    except CredentialsProblem as problem:
        fix = "give --kubeconfig, or run it inside a pod with a service account"
        check = Check("credentials", State.UNREACHABLE, f"{problem.place} gives no usable address and identity", fix)
        return SourceReport("Kubernetes API", "no address", (check,))


def _print(reports: Sequence[SourceReport]) -> None:
    for report in reports:
        columns = [left(title) for title in _COLUMNS]
        rows = (((check.what, _word(check.state), check.found), check.fix) for check in report.checks)
        console().print(section(f"{report.source}: {report.target}", NotedRows(columns, rows)))


def _word(state: State) -> Text:
    styles = {State.FINE: "green", State.ABSENT: "dim", State.MISSING: "yellow", State.UNREACHABLE: "red"}
    return Text(state.value, style=styles[state])
