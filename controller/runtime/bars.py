"""Bars of GPUs for the status page: what a tenant holds and waits for, as pieces of one scale. Pure.

Waiting work may be many times what a pool has: it is drawn up to the longest quota or use of any tenant, and the piece
that is cut says so. What is not known is no piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a bar. `kind`: own, spare, lent, late, waits. `cut`: it stands for more than its width."""

    kind: str
    gpus: int
    percent: float
    cut: bool = False


def bars(tenants: Sequence[Mapping[str, Any]]) -> list[tuple[Piece, ...]]:
    """One bar for each row of the status document's tenants; the longest fills its place."""
    most_held = max((_held(row) for row in tenants), default=0)
    drawn = [tuple(_pieces(row, max(1, most_held))) for row in tenants]
    longest = max((sum(shown for _, _, shown in bar) for bar in drawn), default=0) or 1
    return [
        tuple(Piece(kind, gpus, round(100 * shown / longest, 3), cut=shown < gpus) for kind, gpus, shown in bar)
        for bar in drawn
    ]


def _held(row: Mapping[str, Any]) -> int:
    """What is used or could be, whichever is more."""
    return max(int(row["reserved_gpus"] or 0), int(row["guarantee_gpus"]) + int(row["floating_gpus"] or 0))


def _pieces(row: Mapping[str, Any], most_waiting: int) -> Iterator[tuple[str, int, int]]:
    """(kind, GPUs, GPUs that are drawn) of each piece that is not empty."""
    used, floating = row["reserved_gpus"], row["floating_gpus"]
    if used is not None and floating is not None:
        own = row["guarantee_gpus"] + floating
        for kind, gpus in (("own", min(used, own)), ("spare", own - used), ("lent", used - own)):
            if gpus > 0:
                yield kind, gpus, gpus
    waiting, late = row["waiting_gpus"] or 0, row["shortfall_gpus"] or 0
    room = most_waiting
    for kind, gpus in (("late", late), ("waits", waiting - late)):
        if gpus > 0 and room > 0:
            yield kind, gpus, min(gpus, room)
            room -= min(gpus, room)
