"""Small traces for tests: rows as people think of them, turned into columns; and a run that leaves no tick out."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from controller.evaluate.steered_trace import SteeredTrace
from controller.simulate.job_table import JobTable


class Row(NamedTuple):
    """A job; times are seconds."""

    submitted: float
    run: float
    gpus: int
    tenant: str = "a"
    priority: int = 0
    deadline: float = inf


def table(rows: Sequence[Row], tenants: Sequence[str] = ("a", "b", "c")) -> JobTable:
    """Columns, as they stand."""
    return JobTable(
        tuple(tenants),
        [row.submitted for row in rows],
        [row.run for row in rows],
        [row.gpus for row in rows],
        [tenants.index(row.tenant) for row in rows],
        [row.priority for row in rows],
        [row.deadline for row in rows],
    )


class Restless(SteeredTrace):
    """Looks at every tick, and at all there is to see."""

    _at_rest = property(lambda self: False, lambda self, value: None)

    def _tick_after(self, moment: float) -> float:
        return self._next_tick + self._policy.cadence.tick_seconds

    def _only_lends(self, evictions: int) -> bool:
        return False
