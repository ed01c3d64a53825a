"""`trimtab status`: what the controller said last, from the cluster, without a port to reach."""

from __future__ import annotations

from typing import Any, Final

import typer
from rich.table import Column
from rich.text import Text

from collector.model.quantities import counted
from collector.sources.kubernetes_api import connect
from controller.cli.advice_text import print_advice
from controller.cli.home import NAMESPACE, Namespace
from controller.cli.options import Context, Format, Kubeconfig
from controller.cli.output import FINDINGS, UNREACHABLE, Failed, Output, console, print_json, section, table
from controller.runtime.status_store import read_status

_TEXTS: Final = ("mode", "paused", "at", "sentence", "problems", "blind", "latched")
_AMOUNTS: Final = (
    "guarantee_gpus",
    "floating_gpus",
    "reserved_gpus",
    "borrowed_gpus",
    "waiting_gpus",
    "shortfall_gpus",
)
_ROWS: Final = {
    "tenants": {"tenant", "tier", "pool", *_AMOUNTS},
    "findings": {"finding", "decision", "refusal"},
    "active_changes": {"id", "stage", "verdict", "given", "amount", "reason", "return_reason"},
    "recent_changes": {"id", "verdict", "verdict_reason", "return_reason"},
}
"""List → what each of its rows is read for."""
_OF_STORAGE = {"tenant", "pattern", "advice"}
"""A controller of before wrote none."""


def status(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    namespace: Namespace = NAMESPACE,
    output: Format = Output.TEXT,
) -> None:
    """Show the mode, the last sentence, findings, changes in force and their verdicts.

    In mode Recommend also each move that it would make: every field, and the command with which a person applies it.

    Exit code 1 when something is wrong: a finding, a blind or latched controller, or none at all.

    Example: trimtab status -o json
    """
    document = read_status(connect(kubeconfig, context), namespace)
    if document is None:
        raise Failed(f"No controller has written a status in namespace {namespace}: trimtab run controller.", FINDINGS)
    if lacking := _lacking(document):
        words = f"The status in namespace {namespace} lacks {', '.join(lacking)}: another version or a person wrote it."
        raise Failed(f"{words} A running controller writes it anew within a minute.", UNREACHABLE)
    if output is Output.JSON:
        print_json(document)
    else:
        _print(document)
    wrong = document["findings"] or document["blind"] or document["latched"] or document["problems"]
    raise typer.Exit(FINDINGS if wrong else 0)


def _lacking(document: dict[str, Any]) -> tuple[str, ...]:
    """What is read below and is not there. People may have written into the object."""
    lacking = [key for key in _TEXTS if key not in document]
    for key, fields in _ROWS.items():
        rows = document.get(key)
        whole = isinstance(rows, list) and all(isinstance(row, dict) and fields <= row.keys() for row in rows)
        lacking += [] if whole else [key]
    return tuple(lacking)


def _print(document: dict[str, Any]) -> None:
    out = console()
    paused = f", paused: {document['paused']}" if document["paused"] else ""
    out.print(Text(f"Mode {document['mode']}{paused}, last tick {document['at']}", style="dim"))
    out.print(Text(document["sentence"], style="bold"))
    for problem in document["problems"]:
        out.print(Text(problem, style="red"))
    out.print()
    out.print(section("Tenants", _tenants(document["tenants"])))
    if document["findings"]:
        out.print(section("Findings", *(Text(f"- {_finding(item)}") for item in document["findings"])))
    print_advice(out, "To apply by hand:", document.get("advice", ()))
    if storage := [row for row in document.get("storage", ()) if row.keys() >= _OF_STORAGE]:
        out.print(section("Storage", *(Text(f"- {row['tenant']}: {_used(row)}") for row in storage)))
    changes = document["active_changes"]
    if changes:
        out.print(section("Changes in force", *(Text(f"- {_change(item)}") for item in changes)))
    if document["recent_changes"]:
        out.print(section("Ended lately", *(Text(f"- {_ended(item)}") for item in document["recent_changes"])))


def _tenants(rows: list[dict[str, Any]]) -> Any:
    numbers = ("guarantee", "floating", "in use", "borrowed", "waiting", "short by")
    shown = table("tenant", "tier", "pool", *(Column(name, justify="right") for name in numbers))  # type: ignore[arg-type]
    for row in rows:
        cells = ["unknown" if row[key] is None else str(row[key]) for key in _AMOUNTS]
        shown.add_row(row["tenant"], row["tier"], row["pool"], *cells)
    return shown


def _used(row: dict[str, Any]) -> str:
    return " ".join((row["pattern"], *row["advice"]))


def _finding(item: dict[str, Any]) -> str:
    refusal = f" [{item['refusal']}]" if item["refusal"] else ""
    return f"{item['finding']} → {item['decision']}{refusal}"


def _change(item: dict[str, Any]) -> str:
    verdict = f", {item['verdict']}" if item["verdict"] else ""
    back = f" Going back: {item['return_reason']}." if item["return_reason"] else ""
    moved = f"{item['given']} of {counted(item['amount'], 'GPU')}"
    return f"{item['id']} ({item['stage']}{verdict}; {moved}): {item['reason']}{back}"


def _ended(item: dict[str, Any]) -> str:
    judged = item["verdict"] or "not judged"
    detail = f" ({item['verdict_reason']})" if item["verdict_reason"] else ""
    return f"{item['id']}: {judged}{detail}; {item['return_reason']}"
