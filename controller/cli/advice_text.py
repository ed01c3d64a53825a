"""Advice as a person reads and applies it: one line per field, and the command for a shell. Prints only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

_CLASSES = 20
"""So many are shown: a queue may hold thousands, and the next look would tell others."""


def print_classes(out: Console, classes: Sequence[Mapping[str, Any]]) -> None:
    """Waiting work that should stand in another priority class, each with its reason and its command."""
    if not classes:
        return
    out.print(Text(f"To set by hand, {len(classes)} priority classes:", style="bold"))
    for item in classes[:_CLASSES]:
        out.print(Text(f"  {item['reason']}"), soft_wrap=True)
    out.print()
    for item in classes[:_CLASSES]:
        if item["command"] is not None:
            out.out(item["command"], highlight=False)


def print_advice(out: Console, title: str, advice: Sequence[Mapping[str, Any]]) -> None:
    """Each change with its fields and its command; commands stand whole and without indent, to be copied."""
    for item in advice:
        out.print(Text(f"{title} {item['change']}", style="bold"))
        for one in item["fields"]:
            place = f"{one['namespace']}/{one['name']}" if one["namespace"] else one["name"]
            out.print(Text(f"  {one['kind']} {place}: {one['path']}: {one['before']} → {one['after']}"), soft_wrap=True)
        out.print()
        out.out(item["command"], highlight=False)
