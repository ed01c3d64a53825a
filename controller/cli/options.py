"""Options that several verbs share, with the same names, help and defaults everywhere. Declares only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from controller.cli.output import Output
from controller.cli.values import (
    HIGHEST_TIME_SCALE,
    address_for,
    cluster_for,
    path_for,
    time_scale_for,
    words_for,
)

_CLUSTER = "Where to look"

Kubeconfig: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        parser=path_for("--kubeconfig"),
        help="File to connect with; else the service account inside a pod, else $KUBECONFIG, else ~/.kube/config.",
        rich_help_panel=_CLUSTER,
        show_default=False,
    ),
]
Context: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--context",
        parser=words_for("--context", "the name of a context"),
        help="Context of the kubeconfig.",
        rich_help_panel=_CLUSTER,
        show_default=False,
    ),
]
PrometheusUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--prometheus-url",
        parser=address_for("--prometheus-url"),
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
        parser=path_for("--config"),
        help="File or folder with Tenant and Policy documents (may be repeated). Without it tenants are inferred.",
        rich_help_panel=_CLUSTER,
        show_default=False,
    ),
]
Documents: TypeAlias = Annotated[
    list[Path],
    typer.Option(
        "--config",
        parser=path_for("--config"),
        help="File or folder with Tenant and Policy documents (may be repeated).",
    ),
]
Cluster: TypeAlias = Annotated[
    str,
    typer.Option("--cluster", parser=cluster_for("--cluster"), help="Name of this cluster, as in its metrics."),
]
TimeScale: TypeAlias = Annotated[
    float,
    typer.Option(
        "--time-scale",
        parser=time_scale_for("--time-scale"),
        help=f"Divide all durations by this, for tests and replays; from 1 to {HIGHEST_TIME_SCALE:g}.",
    ),
]
Format: TypeAlias = Annotated[Output, typer.Option("--output", "-o", help="Tables for people, or JSON for scripts.")]

Accounting: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--accounting",
        parser=words_for("--accounting", "where the history is kept"),
        help="History of workloads: a file (SQLite), or postgresql://user:password@host/database. Better given as "
        "$TRIMTAB_ACCOUNTING where it has a password.",
        envvar="TRIMTAB_ACCOUNTING",
        metavar="URL",
        show_default=False,
        show_envvar=False,
    ),
]

AccountingKeep: TypeAlias = Annotated[
    str, typer.Option("--accounting-keep", help="How long the history is kept.", metavar="DURATION")
]

NOT_NEEDED = "Taken so that one set of options fits every `trimtab run`; this program does not need it."

MaxModeNotNeeded: TypeAlias = Annotated[str | None, typer.Option("--max-mode", hidden=True, help=NOT_NEEDED)]
ListenNotNeeded: TypeAlias = Annotated[str | None, typer.Option("--listen", hidden=True, help=NOT_NEEDED)]
PrometheusNotNeeded: TypeAlias = Annotated[str | None, typer.Option("--prometheus-url", hidden=True, help=NOT_NEEDED)]
