"""The verb `validate`: are these documents good? Reads files only; asks no cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from controller.api.documents import Documents
from controller.api.errors import InputError, Mistake
from controller.cli.failure import failure_of
from controller.cli.options import Format
from controller.cli.output import BAD_INPUT, Output, print_json, print_text, talk
from controller.cli.values import path_for
from controller.runtime.configuration import Configuration


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            parser=path_for("FILES"),
            help="Files, or folders of *.yaml and *.yml files, with one Policy and its Tenants.",
        ),
    ],
    output: Format = Output.TEXT,
) -> None:
    """Check Tenant and Policy documents, and name every mistake with its place. Exit code 0 good, 2 bad input."""
    documents, mistakes = _checked(files)
    if output is Output.JSON:
        print_json(_record(mistakes))
    elif documents is not None:
        print_text(_summary(documents))
    else:
        for mistake in mistakes:
            talk(str(mistake))
    if mistakes:
        raise typer.Exit(BAD_INPUT)


def _checked(files: list[Path]) -> tuple[Documents | None, tuple[Mistake, ...]]:
    try:
        return Configuration(files).load(), ()
    except InputError as error:
        return None, error.mistakes


def _record(mistakes: tuple[Mistake, ...]) -> dict[str, Any]:
    if not mistakes:
        return {"valid": True, "mistakes": []}
    return {"valid": False, **failure_of(InputError(mistakes)).document()}


def _summary(documents: Documents) -> str:
    site, policy = documents.site, documents.policy
    return (
        f"valid: policy {policy.name} (mode {policy.mode.word}), pools {len(site.pools)}, tiers {len(site.tiers)}, "
        f"tenants {len(site.tenants)}\n"
    )
