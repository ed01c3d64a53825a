"""The verb `look`: one screen about a cluster for somebody who has configured nothing. Reads only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from controller.api.errors import InputError, Mistake
from controller.cli.look_report import look_report, report_record
from controller.cli.look_screen import look_screen
from controller.cli.not_known import OF_WAITS, answer_code, unseen
from controller.cli.options import Config, Context, Format, Kubeconfig, PrometheusUrl
from controller.cli.output import FINDINGS, OK, Output, console, print_json, talk
from controller.cli.values import path_for
from controller.cli.view import Where, view_of
from controller.files.writing import write_text


def look(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    prometheus_url: PrometheusUrl = None,
    config: Config = None,
    yaml_out: Annotated[
        Path | None,
        typer.Option(
            "--yaml-out",
            parser=path_for("--yaml-out"),
            help="Write the inferred documents to this file instead of printing them.",
            show_default=False,
        ),
    ] = None,
    output: Format = Output.TEXT,
) -> None:
    """Look at a cluster: where every GPU stands, who waits and why, what can never start, which settings lie.

    Needs rights to read, and no configuration: tenants are inferred from Kueue queues, KubeSphere workspaces, quotas
    and namespaces, and printed as YAML before the screen, to be corrected and kept. Writes nothing to the cluster.

    Example: [bold]trimtab look --context prod --prometheus-url http://localhost:9090[/bold]

    Exit code 0: nothing found; 1: findings, or parts that could not be read; 2: bad input; 3: nothing can be said,
    since the API server can not be reached; 4: since it refuses.
    """
    view = view_of(Where(kubeconfig, context, prometheus_url, config or ()))
    report = look_report(view)
    if yaml_out is not None:
        _write(yaml_out, report.documents)
    if output is Output.JSON:
        print_json(report_record(report))
    else:
        screen = console()
        if yaml_out is None and report.documents:
            # Before the screen, which is what people want to have before their eyes at the end.
            screen.out(report.documents, highlight=False)
        for part in look_screen(report):
            screen.print(part)
    code = answer_code(view.picture, OF_WAITS) if unseen(view.picture, ("nodes",)) else OK
    raise typer.Exit(code or (FINDINGS if report.findings else OK))


def _write(path: Path, documents: str) -> None:
    if not documents:
        raise InputError((Mistake("--yaml-out", str(path), "no --config beside it: nothing is inferred then"),))
    write_text(path, documents, "--yaml-out")
    talk(f"wrote the inferred documents to {path}; check them with: trimtab validate {path}")
