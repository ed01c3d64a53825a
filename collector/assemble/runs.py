"""How long each tenant's work runs, as far as the objects tell: from what runs, and what ended lately. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from collector.assemble.gangs import Seen
from collector.model.snapshot import RunRecord, WorkPhase


def run_records(seen: Iterable[Seen], now: float) -> Mapping[tuple[str, str], RunRecord]:
    """(tenant, pool) → its record. Work that failed or never got Ready tells nothing."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    ended: dict[tuple[str, str], int] = defaultdict(int)
    for item in seen:
        work, sighting = item.work, item.sighting
        key = (work.tenant, work.pool or "")
        if sighting.ready_at is None or sighting.failed:
            continue
        if work.phase is WorkPhase.RUNNING:
            seconds[key] += max(0.0, now - sighting.ready_at)
        elif work.phase is WorkPhase.FINISHED and sighting.ended_at is not None:
            seconds[key] += max(0.0, sighting.ended_at - sighting.ready_at)
            ended[key] += 1
    return {key: RunRecord(total, ended[key]) for key, total in seconds.items()}
