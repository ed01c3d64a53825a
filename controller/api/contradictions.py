"""What single places allow and several together do not: promises above the capacity, limits against ranks. Pure.

Works on plain data as `crosscheck` does, and as that leaves alone what is wrong in shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector.model.quantities import counted, parse_duration
from controller.api.fields import duration_text
from controller.api.sheets import Found, Sheet, select
from controller.api.yaml_text import ValuePath, place_in_words

_MOST_NAMED = 5


def contradictions(sheets: Sequence[Sheet], capacity: Mapping[str, int]) -> Iterator[Found]:
    """All of them. `capacity`: pool → GPUs, for the pools of which that is known."""
    yield from _above_capacity(sheets, capacity)
    yield from _limits_against_ranks(sheets)


def _above_capacity(sheets: Sequence[Sheet], capacity: Mapping[str, int]) -> Iterator[Found]:
    """Every promise in a pool that has not so many GPUs, each with all the others."""
    promised: dict[str, list[tuple[int, ValuePath, int]]] = defaultdict(list)
    for position, sheet in enumerate(sheets):
        for path, entry in select(sheet.value, "spec.pools.*") if sheet.kind == "Tenant" else ():
            gpus = _promise(entry)
            if gpus is not None and isinstance(entry.get("pool"), str):
                promised[entry["pool"]].append((position, path, gpus))
    for pool, entries in promised.items():
        total = sum(gpus for _, _, gpus in entries)
        if total <= capacity.get(pool, total):
            continue
        parts = [f"{sheets[position].label} {gpus}" for position, _, gpus in entries if gpus]
        more = f" and {len(parts) - _MOST_NAMED} more" if parts[_MOST_NAMED:] else ""
        shown = ", ".join(parts[:_MOST_NAMED]) + more
        for position, path, gpus in entries:
            if gpus:
                has = f"guarantees and floats of at most {counted(capacity[pool], 'GPU')} in all in pool {pool}"
                yield position, (*path, "guarantee"), f"{has}, not {total}: {shown}"


def _promise(entry: Any) -> int | None:
    if not isinstance(entry, dict):
        return None
    parts = [entry.get("guarantee", 0), entry.get("floating", 0)]
    return sum(parts) if all(isinstance(part, int) and not isinstance(part, bool) for part in parts) else None


def _limits_against_ranks(sheets: Sequence[Sheet]) -> Iterator[Found]:
    """Who is served later can not be promised an earlier start for work of the same size."""
    for position, sheet in enumerate(sheets):
        tiers = [(path, tier) for path, tier in select(sheet.value, "spec.tiers.*") if isinstance(tier, dict)]
        if sheet.kind != "Policy":
            continue
        ranked = [(path, tier) for path, tier in tiers if isinstance(tier.get("rank"), int)]
        ranked.sort(key=lambda pair: -pair[1]["rank"])
        strictest: dict[str, tuple[float, ValuePath]] = {}
        for path, tier in ranked:
            for size, seconds in _limits(tier):
                known = strictest.get(size)
                if known is not None and seconds < known[0]:
                    place = place_in_words((*known[1], "startWithin", size))
                    words = f"at least {duration_text(known[0])}, as {place}: a tier of higher rank is served first"
                    yield position, (*path, "startWithin", size), words
                if known is None or seconds > known[0]:
                    strictest[size] = (seconds, path)


def _limits(tier: dict[str, Any]) -> Iterator[tuple[str, float]]:
    limits = tier.get("startWithin")
    for size, written in limits.items() if isinstance(limits, dict) else ():
        try:
            yield str(size), parse_duration(written)
        except ValueError:
            continue
