"""The --namespace option: where Trimtab keeps its own objects. Light, since verbs that only read have it too."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from controller.cli.values import namespace_for
from controller.runtime.ledger_store import DEFAULT_NAMESPACE

NAMESPACE = DEFAULT_NAMESPACE
Namespace: TypeAlias = Annotated[
    str,
    typer.Option(
        "--namespace", "-n", parser=namespace_for("--namespace"), help="Namespace where Trimtab keeps its own objects."
    ),
]
