"""What evictions cost, from look to look: who evicted whom, GPU-hours lost, how long until the GPUs were free. Pure.

Totals grow from the first look on. What a victim had run since it was last Ready counts as lost, checkpoints or not.
The GPUs of a victim are free when no pod of it holds one any more: a latency is as exact as the looks are close.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from collector.assemble.clocks import Clock, WaitClocks
from collector.assemble.gangs import Seen
from collector.model.snapshot import WorkPhase

FREED_BOUNDS_SECONDS: Final = (1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
"""Upper bounds of the buckets; one more is for all that took longer."""

TenantPoolKey = tuple[str, str]
"""(tenant, pool) of the victim"""


@dataclass(frozen=True, slots=True)
class Freed:
    """How long GPUs of evicted work stayed held, as a histogram."""

    counts: tuple[int, ...] = (0,) * (len(FREED_BOUNDS_SECONDS) + 1)
    seconds_sum: float = 0.0

    def plus(self, seconds: float) -> Freed:
        """With one more eviction."""
        place = bisect_left(FREED_BOUNDS_SECONDS, seconds)
        counts = tuple(count + (number == place) for number, count in enumerate(self.counts))
        return Freed(counts, self.seconds_sum + seconds)


@dataclass(frozen=True, slots=True)
class _Victim:
    """A piece of work as it was last seen."""

    key: TenantPoolKey
    evictions: int
    by: Mapping[str, int]
    ran_since: float | None = None
    gpus: int = 0
    draining_since: float | None = None
    """It was evicted then, and still holds GPUs."""


@dataclass(frozen=True, slots=True)
class EvictionCosts:
    """Totals, and the work that was seen last. Immutable."""

    edges: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(victim's tenant, evicting tenant or "" where nobody can tell) → evictions."""
    lost_gpu_seconds: Mapping[TenantPoolKey, float] = field(default_factory=dict)
    freed: Mapping[TenantPoolKey, Freed] = field(default_factory=dict)
    _seen: Mapping[str, _Victim] = field(default_factory=dict)

    def advance(self, works: Iterable[Seen], clocks: WaitClocks, now: float) -> EvictionCosts:
        """With one more whole look at all work."""
        edges, lost, freed = dict(self.edges), dict(self.lost_gpu_seconds), dict(self.freed)
        present: dict[str, _Victim] = {}
        for seen in works:
            clock = clocks.of(seen.sighting)
            if clock is None or seen.work.sent_from is not None:
                continue
            before = self._seen.get(seen.sighting.uid)
            after = _after(before, seen, clock, now)
            if before is not None and after.evictions > before.evictions:
                _count(edges, before, after)
                ran = 0.0 if before.ran_since is None else max(0.0, _evicted_at(seen, now) - before.ran_since)
                lost[after.key] = lost.get(after.key, 0.0) + ran * before.gpus
            if after.draining_since is not None and not seen.work.nodes:
                freed[after.key] = freed.get(after.key, Freed()).plus(max(0.0, now - after.draining_since))
                after = replace(after, draining_since=None)
            present[seen.sighting.uid] = after
        for uid, gone in self._seen.items():
            if uid not in present and gone.draining_since is not None:
                freed[gone.key] = freed.get(gone.key, Freed()).plus(max(0.0, now - gone.draining_since))
        kept = (MappingProxyType(edges), MappingProxyType(lost), MappingProxyType(freed))
        return EvictionCosts(*kept, MappingProxyType(present))


def _after(before: _Victim | None, seen: Seen, clock: Clock, now: float) -> _Victim:
    work, sighting = seen.work, seen.sighting
    draining = before.draining_since if before is not None else None
    if before is not None and clock.evictions > before.evictions and before.gpus:
        draining = _evicted_at(seen, now)
    elif draining is not None and sighting.evicted_since is None and work.phase is WorkPhase.RUNNING:
        draining = None  # it runs again: which of its pods are the old ones nobody tells
    runs = work.phase is WorkPhase.RUNNING
    return _Victim(
        key=(work.tenant, work.pool or ""),
        evictions=clock.evictions,
        by=clock.evictions_by,
        ran_since=(work.ready_at if work.ready_at is not None else now) if runs else None,
        gpus=sum(work.nodes.values()),
        draining_since=draining,
    )


def _evicted_at(seen: Seen, now: float) -> float:
    """When it lost its place: as its object says, else now."""
    told = seen.sighting.evicted_since
    return now if told is None else min(told, now)


def _count(edges: dict[tuple[str, str], int], before: _Victim, after: _Victim) -> None:
    victim, told = after.key[0], 0
    for tenant, count in after.by.items():
        more = max(0, count - before.by.get(tenant, 0))
        told += more
        if more:
            edges[victim, tenant] = edges.get((victim, tenant), 0) + more
    unknown = after.evictions - before.evictions - told
    if unknown > 0:
        edges[victim, ""] = edges.get((victim, ""), 0) + unknown
