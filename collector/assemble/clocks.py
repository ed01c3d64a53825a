"""The wait clock of each piece of work: it belongs to the tenant's work, not to the UID of an object. Pure.

Eviction resumes the clock, a resubmission of the same owner and template within `resubmission_seconds` continues it, and
it stops when all pods that must run are Ready. What was counted before the first look is only a lower bound, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

QueueKey = tuple[str, str, str]
"""(tenant, tier, queue)"""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one look at the objects says about a piece of work."""

    key: str
    uid: str
    queue: QueueKey
    waits: bool
    created_at: float
    ready_at: float | None = None
    evicted_at: float | None = None
    eviction_count: int = 0
    evicted_by: str | None = None
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """One clock: seconds of past stints, and since when the present one runs."""

    uid: str
    queue: QueueKey
    waited_before_seconds: float
    waiting_since: float | None
    last_seen_at: float
    evictions: int = 0
    eviction_count_seen: int = 0
    evicted_by: str | None = None
    lower_bound: bool = False
    counted_seconds: float = 0.0
    """Part of the wait that the totals already hold."""

    def waited_seconds(self, now: float) -> float:
        """Cumulative wait at `now`."""
        running = 0.0 if self.waiting_since is None else max(0.0, now - self.waiting_since)
        return self.waited_before_seconds + running


@dataclass(frozen=True, slots=True)
class WaitClocks:
    """All clocks, and totals per queue that only grow."""

    clocks: Mapping[str, Clock] = field(default_factory=dict)
    wait_seconds_total: Mapping[QueueKey, float] = field(default_factory=dict)
    evictions_total: Mapping[QueueKey, int] = field(default_factory=dict)
    resubmission_seconds: float = 1800.0

    def advance(self, sightings: Iterable[Sighting], now: float) -> WaitClocks:
        """The clocks after one more look at `now`."""
        clocks: dict[str, Clock] = {}
        waits, evictions = dict(self.wait_seconds_total), dict(self.evictions_total)
        for sighting in sorted(sightings, key=lambda item: (item.created_at, item.uid)):
            key = sighting.key if sighting.key not in clocks else f"{sighting.key}#{sighting.uid}"
            before = self.clocks.get(key)
            clock = _first_look(sighting, now) if before is None else _next_look(before, sighting, now)
            gained = max(0.0, clock.waited_seconds(now) - clock.counted_seconds)
            waits[clock.queue] = waits.get(clock.queue, 0.0) + gained
            evictions[clock.queue] = (
                evictions.get(clock.queue, 0) + clock.evictions - (0 if before is None else before.evictions)
            )
            if not sighting.finished:
                clocks[key] = replace(clock, counted_seconds=clock.waited_seconds(now))
        for key, clock in self.clocks.items():
            recent = now - clock.last_seen_at <= self.resubmission_seconds
            if key not in clocks and recent and not _finished(key, sightings):
                clocks[key] = _paused(clock)
        return replace(
            self,
            clocks=MappingProxyType(clocks),
            wait_seconds_total=MappingProxyType(waits),
            evictions_total=MappingProxyType(evictions),
        )

    def of(self, sighting: Sighting) -> Clock | None:
        """The clock of a piece of work that was sighted in the last look."""
        clock = self.clocks.get(f"{sighting.key}#{sighting.uid}")
        if clock is None:
            clock = self.clocks.get(sighting.key)
        return clock if clock is not None and clock.uid == sighting.uid else None


def _finished(key: str, sightings: Iterable[Sighting]) -> bool:
    return any(item.finished and key in (item.key, f"{item.key}#{item.uid}") for item in sightings)


def _paused(clock: Clock) -> Clock:
    """Gone for now: what it waited until it was last seen is kept, in case it is submitted again."""
    return replace(clock, waited_before_seconds=clock.waited_seconds(clock.last_seen_at), waiting_since=None)


def _first_look(sighting: Sighting, now: float) -> Clock:
    """Start from what the objects still tell; earlier stints of evicted work are lost, so the sum is a lower bound."""
    evicted = sighting.eviction_count > 0 or sighting.evicted_at is not None
    began = sighting.evicted_at if evicted and sighting.evicted_at is not None else sighting.created_at
    if sighting.waits:
        waited, since = 0.0, began
    else:
        ready_at = sighting.ready_at if sighting.ready_at is not None else now
        waited, since = max(0.0, ready_at - began), None
    return Clock(
        sighting.uid,
        sighting.queue,
        waited,
        since,
        now,
        evictions=sighting.eviction_count,
        eviction_count_seen=sighting.eviction_count,
        evicted_by=sighting.evicted_by,
        lower_bound=evicted,
    )


def _next_look(clock: Clock, sighting: Sighting, now: float) -> Clock:
    resubmitted = clock.uid != sighting.uid
    if resubmitted:
        clock = replace(_paused(clock), uid=sighting.uid, eviction_count_seen=0)
    clock = _with_evictions(clock, sighting)
    if sighting.waits and clock.waiting_since is None:
        began = sighting.created_at if resubmitted else sighting.evicted_at
        since = min(now, max(began, clock.last_seen_at)) if began is not None else clock.last_seen_at
        clock = replace(clock, waiting_since=since)
    elif not sighting.waits and clock.waiting_since is not None:
        stopped = sighting.ready_at if sighting.ready_at is not None else now
        gained = max(0.0, stopped - clock.waiting_since)
        clock = replace(clock, waited_before_seconds=clock.waited_before_seconds + gained, waiting_since=None)
    return replace(clock, last_seen_at=now, queue=sighting.queue)


def _with_evictions(clock: Clock, sighting: Sighting) -> Clock:
    counted = max(0, sighting.eviction_count - clock.eviction_count_seen)
    unseen = sighting.waits and clock.waiting_since is None and clock.uid == sighting.uid and counted == 0
    lost_its_place = unseen and sighting.evicted_at is not None and sighting.evicted_at >= clock.last_seen_at - 1
    if not counted and not lost_its_place:
        return clock
    return replace(
        clock,
        evictions=clock.evictions + max(counted, 1),
        eviction_count_seen=max(clock.eviction_count_seen, sighting.eviction_count),
        evicted_by=sighting.evicted_by or clock.evicted_by,
    )
