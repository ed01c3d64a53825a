"""Writes the text format of Prometheus for pages that are not ours: whole families with their labels. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextFamily:
    """One metric of a page: rows of labels and value."""

    name: str
    kind: str
    meaning: str
    rows: tuple[tuple[Mapping[str, str], float], ...]


def text_of(families: Iterable[TextFamily]) -> str:
    """The page."""
    lines: list[str] = []
    for family in families:
        lines += [f"# HELP {family.name} {family.meaning}", f"# TYPE {family.name} {family.kind}"]
        lines += [f"{family.name}{_labels(labels)} {value:.17g}" for labels, value in family.rows]
    return "\n".join(lines) + "\n" if lines else ""


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}" if labels else ""
