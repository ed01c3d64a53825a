"""The part of a report that comes from the history of workloads: who held what by its own states, and the gaps. Pure.

It is counted apart from the samples: what both say alike is sure, and where they differ a person can see it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from collector.accounting.schema.hours import Span, gaps, pool_hours
from collector.accounting.schema.rows import Capacity, Look, State, Transition
from controller.reports.model import HistoryPart, Window


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
        evictions=_count(inside, State.EVICTED),
        finished=_count(inside, State.FINISHED),
        failed=_count(inside, State.FAILED),
        gone=_count(inside, State.GONE),
    )


def _count(rows: Iterable[Transition], state: State) -> int:
    return sum(1 for row in rows if row.state is state)
