"""What a person may have meant: names that are near to one that does not exist. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], most: int = 5) -> str:
    """ "; near: a, b" or, when nothing is near, "; there are: a, b" or "" when there is nothing at all."""
    names = sorted(set(known))
    near = get_close_matches(name, names, n=most, cutoff=0.5) or [one for one in names if name in one][:most]
    if near:
        return f"; near: {', '.join(near)}"
    return f"; there are: {', '.join(names[:most])}{', …' if len(names) > most else ''}" if names else ""
