"""The verb `validate`: are these documents good? Reads files only; asks no cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from controller.api.documents import Documents
from controller.api.errors import InputError, Mistake
from controller.api.fields import with_nearest
from controller.api.yaml_text import told
from controller.cli.failure import failure_of
from controller.cli.options import Format
from controller.cli.output import BAD_INPUT, Output, print_json, print_text, talk
from controller.cli.values import path_for
from controller.runtime.configuration import Configuration

_CAPACITY: Final = re.compile(r"(.+)=([0-9]{1,7})")


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            parser=path_for("FILES"),
            help="Files, or folders of *.yaml and *.yml files, with one Policy and its Tenants.",
        ),
    ],
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            "--capacity",
            metavar="POOL=GPUS",
            help="GPUs that a pool has, such as h100=64 (may be repeated): what is promised in all may not be more.",
            show_default=False,
        ),
    ] = None,
    output: Format = Output.TEXT,
) -> None:
    """Check Tenant and Policy documents, and name every mistake with its place.

    Between places it finds names used twice or declared nowhere, claims of two tenants, limits against ranks, and with
    --capacity promises that add up to more than there is, each with all the others.

    Exit code 0 good, 2 bad input.
    """
    documents, mistakes = _checked(files, _capacity(capacity or []))
    if output is Output.JSON:
        print_json(_record(mistakes))
    elif documents is not None:
        print_text(_summary(documents))
    else:
        for mistake in mistakes:
            talk(str(mistake))
    if mistakes:
        raise typer.Exit(BAD_INPUT)


def _checked(files: list[Path], capacity: Mapping[str, int]) -> tuple[Documents | None, tuple[Mistake, ...]]:
    try:
        documents = Configuration(files, capacity=capacity).load()
    except InputError as error:
        return None, error.mistakes
    known = [pool.name for pool in documents.site.pools]
    unknown = [pool for pool in capacity if pool not in known]
    wrong = tuple(
        Mistake("--capacity", told(pool), f"a pool of the Policy: {with_nearest(pool, known)}") for pool in unknown
    )
    return (None if wrong else documents), wrong


def _capacity(words: list[str]) -> Mapping[str, int]:
    """ "h100=64" as pool → GPUs. Raises InputError."""
    found = [_CAPACITY.fullmatch(word) for word in words]
    wrong = [word for word, match in zip(words, found, strict=True) if match is None]
    if wrong:
        raise InputError((Mistake("--capacity", told(wrong[0]), "a pool and its GPUs, such as h100=64"),))
    return {match[1]: int(match[2]) for match in found if match is not None}


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
