"""Options that several verbs share, with the same names, help and defaults everywhere. Declares only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from controller.cli.output import Output

_CLUSTER = "Where to look"

Kubeconfig: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        help="File to connect with; else $KUBECONFIG, ~/.kube/config, or the service account inside a pod.",
        rich_help_panel=_CLUSTER,
        show_default=False,
    ),
]
Context: TypeAlias = Annotated[
    str | None,
    typer.Option("--context", help="Context of the kubeconfig.", rich_help_panel=_CLUSTER, show_default=False),
]
PrometheusUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--prometheus-url",
        help="Prometheus that scrapes dcgm-exporter, such as http://localhost:9090. Without it nobody can tell which "
        "held GPUs are idle or sick.",
        rich_help_panel=_CLUSTER,
        show_default=False,
    ),
]
Config: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        help="File or folder with Tenant and Policy documents (may be repeated). Without it tenants are inferred.",
        rich_help_panel=_CLUSTER,
        show_default=False,
    ),
]
Format: TypeAlias = Annotated[Output, typer.Option("--output", "-o", help="Tables for people, or JSON for scripts.")]

NOT_NEEDED = "Taken so that one set of options fits every `trimtab run`; this program does not need it."

MaxModeNotNeeded: TypeAlias = Annotated[str | None, typer.Option("--max-mode", hidden=True, help=NOT_NEEDED)]
ListenNotNeeded: TypeAlias = Annotated[str | None, typer.Option("--listen", hidden=True, help=NOT_NEEDED)]
PrometheusNotNeeded: TypeAlias = Annotated[str | None, typer.Option("--prometheus-url", hidden=True, help=NOT_NEEDED)]
