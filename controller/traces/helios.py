"""Reads minute counts of the Helios clusters: per tenant, how many GPUs ran, waited, stood idle. Telemetry, no jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from controller.files.reading import mistaken
from controller.traces.rows import Rows

_COUNTS = ("running_gpu_num", "pending_gpu_num", "idle_gpu_num")


@dataclass(frozen=True, slots=True)
class TenantMinutes:
    """One tenant's minutes in order of time; equal positions belong to one minute. A lost minute is not there."""

    tenant: str
    at_seconds: tuple[float, ...]
    running_gpus: tuple[int, ...]
    pending_gpus: tuple[int, ...]
    idle_gpus: tuple[int, ...]
    """Of its own quota; 0 while the cluster was under maintenance."""
    skipped: Mapping[str, int]
    """Reason → rows that were left out."""


def read_minutes(path: Path) -> TenantMinutes:
    """One file, named after its tenant. Raises InputError when it is no such file or holds no minute."""
    rows = Rows.open(path)
    missing = [name for name in ("time", *_COUNTS) if name not in rows.columns]
    if missing:
        raise mistaken(path, f"no column {', '.join(missing)}", "counts per minute as of Helios")
    skipped: Counter[str] = Counter()
    found: dict[float, tuple[int, int, int]] = {}
    for _, row in rows:
        minute = _minute(row)
        if isinstance(minute, str):
            skipped[minute] += 1
        elif minute[0] in found:
            skipped["this minute was there before"] += 1
        else:
            found[minute[0]] = minute[1]
    if rows.broken:
        skipped[rows.broken] += 1
    if not found:
        raise mistaken(path, "no minute that can be read", "at least one")
    times = tuple(sorted(found))
    running, pending, idle = zip(*(found[at] for at in times), strict=True)
    return TenantMinutes(path.name.partition(".")[0], times, running, pending, idle, dict(skipped))


def _minute(row: Mapping[str, str]) -> tuple[float, tuple[int, int, int]] | str:
    try:
        moment = datetime.fromisoformat(row["time"])
    except ValueError:
        return "time is no ISO time"
    try:
        running, pending, idle = (int(row[name]) for name in _COUNTS)
    except ValueError:
        return "a count is no whole number"
    if min(running, pending, idle) < 0:
        return "a count is below 0"
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), (running, pending, idle)
