"""The part of a report that comes from the history of workloads: who held what by its own states, and the gaps. Pure.

It is counted apart from the samples: what both say alike is sure, and where they differ a person can see it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from collector.accounting.schema.hours import Span, gaps, pool_hours
from collector.accounting.schema.rows import Capacity, Look, State, Transition
from controller.reports.model import EvictionEdge, HistoryPart, Window


@dataclass(frozen=True, slots=True)
class Told:
    """What the history holds of a window: rows in it and the last before it, and likewise looks and sizes."""

    rows: tuple[Transition, ...]
    capacities: tuple[Capacity, ...]
    looks: tuple[Look, ...]


def history_part(told: Told, window: Window) -> HistoryPart:
    """GPU-hours per pool and tenant, gaps, and how work ended."""
    span = Span(window.start, window.end)
    pools = pool_hours(told.rows, told.capacities, told.looks, span)
    inside = [row for row in told.rows if window.start <= row.at < window.end]
    return HistoryPart(
        pools=tuple(pool for pool in pools if pool.pool),
        gaps=gaps(told.looks, span),
        evictions=_edges(told.rows, window),
        finished=_count(inside, State.FINISHED),
        failed=_count(inside, State.FAILED),
        gone=_count(inside, State.GONE),
    )


def _edges(rows: Iterable[Transition], window: Window) -> tuple[EvictionEdge, ...]:
    """Evictions within the window, by victim and preemptor. What was Ready before it counts from the window's start."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    hours: dict[tuple[str, str], float] = defaultdict(float)
    before: dict[str, Transition] = {}
    for row in sorted(rows, key=lambda row: (row.uid, row.step)):
        last = before.get(row.uid)
        before[row.uid] = row
        if row.state is State.EVICTED and window.start <= row.at < window.end:
            edge = row.tenant, row.evicted_by
            counts[edge] += 1
            if last is not None and last.state is State.RUNNING:
                until = row.at if row.seen_before is None else row.seen_before
                hours[edge] += max(0.0, until - max(last.at, window.start)) * row.gpus / 3600
    edges = (EvictionEdge(*edge, count, hours[edge]) for edge, count in counts.items())
    return tuple(sorted(edges, key=lambda one: (-one.gpu_hours, one.victim, one.by)))


def _count(rows: Iterable[Transition], state: State) -> int:
    return sum(1 for row in rows if row.state is state)
