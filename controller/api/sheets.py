"""Documents as plain data for checks between places, and how places in them are named. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from controller.api.yaml_text import ValuePath


@dataclass(frozen=True, slots=True)
class Sheet:
    """One document for checking: its kind, how a message names it, its plain data."""

    kind: str
    label: str
    value: Any


Found: TypeAlias = tuple[int, ValuePath, str]
"""Position of the document, place in it, what was expected there."""


def select(value: Any, pattern: str) -> Iterator[tuple[ValuePath, Any]]:
    """Every place that `pattern` names ("spec.pools.*.name"), with its value; silent where the shape differs."""
    found: list[tuple[ValuePath, Any]] = [((), value)]
    for step in pattern.split("."):
        if step == "*":
            found = [((*p, i), v) for p, parent in found if isinstance(parent, list) for i, v in enumerate(parent)]
        else:
            found = [((*p, step), v[step]) for p, v in found if isinstance(v, dict) and step in v]
    yield from found
