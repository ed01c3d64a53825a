"""What a reader of traces gives: jobs in order of time, and an account of every row. Plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One job. Seconds count from 1970 in the trace's own time zone, or from the trace's own begin."""

    submitted_seconds: float
    run_seconds: float
    gpus: int
    tenant: str
    priority: int = 0
    """Higher is served first."""
    deadline_seconds: float | None = None
    """When it should have ended, on the same clock; None: nobody said so."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The jobs in order of time, and how many rows were left out, by reason."""

    jobs: tuple[TraceJob, ...]
    skipped: Mapping[str, int]
    """Reason → rows that gave no job. Rows read = jobs + the sum of these."""
    format: str = "philly"
    notes: Mapping[str, int] = field(default_factory=dict)
    """What was done to rows that were used, such as put into order of time → how many rows."""
