"""The wait clock of each piece of work: it belongs to the tenant's work, not to the UID of an object. Pure.

Eviction resumes the clock, a resubmission of the same owner and template within `resubmission_seconds` continues it,
and it stops when all pods that must run are Ready. What was not seen is not counted, and the clock then says that it is
a lower bound.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

QueueKey = tuple[str, str, str]
"""(tenant, tier, queue)"""

_LAG_SECONDS = 1.0
"""A look may lag behind the objects by so much."""


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
    """When it last lost its place; once it is admitted again, when that was."""
    eviction_count: int = 0
    evicted_by: str | None = None
    finished: bool = False
    generated: bool = False
    """Its name is generated anew for each submission, so that `key` is shared by all of them."""
    ended_at: float | None = None
    failed: bool = False
    evicted_since: float | None = None
    """Since when it is out of its place, or on its way out; None while it has one."""
    evicted_why: str = ""
    """The engine's own word for it."""
    readmitted: bool = False
    """`evicted_at` is when it got its place back; when it lost it nobody tells."""


@dataclass(frozen=True, slots=True)
class Clock:
    """One clock: seconds of past stints, and since when the present one runs."""

    key: str
    uid: str
    queue: QueueKey
    created_at: float
    last_seen_at: float
    waited_before_seconds: float = 0.0
    waiting_since: float | None = None
    evictions: int = 0
    eviction_count_seen: int = 0
    evicted_by: str | None = None
    evictions_by: Mapping[str, int] = field(default_factory=dict)
    """Tenant → evictions that its work caused, as far as it was seen."""
    lower_bound: bool = False
    counted_seconds: float = 0.0
    """Part of the wait that the totals already hold."""
    left_waiting: bool = False
    """It went away while it waited, and was not submitted again yet."""

    def waited_seconds(self, now: float) -> float:
        """Cumulative wait at `now`."""
        running = 0.0 if self.waiting_since is None else max(0.0, now - self.waiting_since)
        return self.waited_before_seconds + running


@dataclass(frozen=True, slots=True)
class WaitClocks:
    """All clocks, and totals per queue that only grow.

    The totals count from the first look on: what had been waited by then was counted by whoever looked before.
    """

    clocks: Mapping[str, Clock] = field(default_factory=dict)
    """By the uid of the object that was last seen."""
    wait_seconds_total: Mapping[QueueKey, float] = field(default_factory=dict)
    evictions_total: Mapping[QueueKey, int] = field(default_factory=dict)
    resubmission_seconds: float = 1800.0
    looked: bool = False

    def advance(self, sightings: Iterable[Sighting], now: float) -> WaitClocks:
        """The clocks after one more look at `now`."""
        looks = sorted(sightings, key=lambda item: (item.created_at, item.uid))
        absent = self._absent(looks)
        waits, evictions = dict(self.wait_seconds_total), dict(self.evictions_total)
        clocks: dict[str, Clock] = {}
        for sighting in looks:
            before = self.clocks.get(sighting.uid) or self._resubmitted(absent, sighting)
            if before is None and sighting.finished:
                continue
            clock = _first_look(sighting, now) if before is None else _next_look(before, sighting, now)
            waited = clock.waited_seconds(now)
            if before is not None or self.looked:
                gained, evicted = waited - clock.counted_seconds, clock.evictions - (before.evictions if before else 0)
                waits[clock.queue] = waits.get(clock.queue, 0.0) + max(0.0, gained)
                evictions[clock.queue] = evictions.get(clock.queue, 0) + evicted
            if not sighting.finished:
                clocks[clock.uid] = replace(clock, counted_seconds=max(waited, clock.counted_seconds))
        for clock in (clock for stopped in absent.values() for clock in stopped):
            if now - clock.last_seen_at <= self.resubmission_seconds:
                clocks[clock.uid] = _paused(clock)
        return replace(
            self,
            clocks=MappingProxyType(clocks),
            wait_seconds_total=MappingProxyType(waits),
            evictions_total=MappingProxyType(evictions),
            looked=True,
        )

    def of(self, sighting: Sighting) -> Clock | None:
        """The clock of a piece of work that was sighted in the last look."""
        return self.clocks.get(sighting.uid)

    def _absent(self, looks: Iterable[Sighting]) -> dict[str, list[Clock]]:
        """Key → clocks of work that is not to be seen now, the one seen last at the end."""
        seen = {sighting.uid for sighting in looks}
        absent: dict[str, list[Clock]] = defaultdict(list)
        for clock in sorted(self.clocks.values(), key=lambda clock: (clock.last_seen_at, clock.created_at, clock.uid)):
            if clock.uid not in seen:
                absent[clock.key].append(clock)
        return absent

    def _resubmitted(self, absent: Mapping[str, list[Clock]], sighting: Sighting) -> Clock | None:
        """Take the clock of the work that this one submits again, if there is one."""
        stopped = absent.get(sighting.key, [])
        # Of a sweep, what was Ready when it vanished has ended: the next one is other work.
        waited = [clock for clock in stopped if clock.waiting_since is not None or clock.left_waiting]
        candidates = waited if sighting.generated else stopped
        if not candidates:
            return None
        latest = candidates[-1]
        if sighting.created_at - latest.last_seen_at > self.resubmission_seconds:
            return None
        if sighting.created_at < latest.created_at:
            return None
        stopped.remove(latest)
        return latest


def _paused(clock: Clock) -> Clock:
    """Gone for now: what it waited until it was last seen is kept, in case it is submitted again."""
    waited, waits = clock.waited_seconds(clock.last_seen_at), clock.waiting_since is not None
    return replace(clock, waited_before_seconds=waited, waiting_since=None, left_waiting=clock.left_waiting or waits)


def _first_look(sighting: Sighting, now: float) -> Clock:
    """Start from what the objects still tell; earlier stints of evicted work are lost, so the sum is a lower bound."""
    evicted = sighting.eviction_count > 0 or sighting.evicted_at is not None
    began: float | None = sighting.created_at
    if evicted:
        began = sighting.evicted_at
    waited, since = 0.0, None
    if sighting.waits:
        since = min(now, began) if began is not None else now
    elif sighting.ready_at is not None and began is not None:
        waited = max(0.0, min(now, sighting.ready_at) - began)
    return Clock(
        key=sighting.key,
        uid=sighting.uid,
        queue=sighting.queue,
        created_at=sighting.created_at,
        last_seen_at=now,
        waited_before_seconds=waited,
        waiting_since=since,
        evictions=max(sighting.eviction_count, int(evicted)),
        eviction_count_seen=sighting.eviction_count,
        evicted_by=sighting.evicted_by,
        evictions_by={sighting.evicted_by: 1} if evicted and sighting.evicted_by else {},
        lower_bound=evicted or (not sighting.waits and sighting.ready_at is None),
    )


def _next_look(clock: Clock, sighting: Sighting, now: float) -> Clock:
    resubmitted = clock.uid != sighting.uid
    if resubmitted:
        clock = replace(_paused(clock), uid=sighting.uid, created_at=sighting.created_at, eviction_count_seen=0)
    evictions = clock.evictions
    clock = _with_evictions(clock, sighting)
    if clock.evictions > evictions and clock.waiting_since is not None:
        clock = replace(_paused(clock), lower_bound=True)  # it may have run, unseen, before it lost its place
    unseen_stint = clock.evictions > evictions and clock.waiting_since is None and not sighting.waits
    if clock.waiting_since is None and (sighting.waits or resubmitted or unseen_stint):
        began = _began(clock, sighting, resubmitted)
        clock = replace(
            clock,
            waiting_since=now if began is None else min(now, max(began, clock.last_seen_at)),
            lower_bound=clock.lower_bound
            or unseen_stint
            or began is None
            or _hides_waiting(clock, evictions, sighting),
        )
    if not sighting.waits and clock.waiting_since is not None:
        clock = _stopped(clock, sighting, now)
    return replace(clock, last_seen_at=now, queue=sighting.queue, left_waiting=False)


def _hides_waiting(clock: Clock, evictions_before: int, sighting: Sighting) -> bool:
    """Of several evictions since the last look only the last stint can be told, and that not if it ended since."""
    evicted = clock.evictions - evictions_before
    return evicted > 1 or (evicted == 1 and sighting.readmitted)


def _began(clock: Clock, sighting: Sighting, resubmitted: bool) -> float | None:
    """When this stint of waiting began; None when nothing tells."""
    if _lost_place_since(clock, sighting):
        return sighting.evicted_at
    return sighting.created_at if resubmitted else None


def _lost_place_since(clock: Clock, sighting: Sighting) -> bool:
    """Whether it lost its place after it was last seen."""
    return sighting.evicted_at is not None and sighting.evicted_at >= clock.last_seen_at - _LAG_SECONDS


def _stopped(clock: Clock, sighting: Sighting, now: float) -> Clock:
    """It waits no longer. It did when it was last seen, so the moment of its end lies between then and now."""
    since = clock.waiting_since if clock.waiting_since is not None else now
    earliest = min(now, max(since, clock.last_seen_at))
    ended = earliest if sighting.ready_at is None else min(now, max(earliest, sighting.ready_at))
    return replace(
        clock,
        waited_before_seconds=clock.waited_before_seconds + max(0.0, ended - since),
        waiting_since=None,
        lower_bound=clock.lower_bound or sighting.ready_at is None,
    )


def _with_evictions(clock: Clock, sighting: Sighting) -> Clock:
    """Count what the object counts; where it counts nothing, a place that was lost since the last look."""
    counted = max(0, sighting.eviction_count - clock.eviction_count_seen)
    unseen = sighting.waits and clock.waiting_since is None and clock.uid == sighting.uid and counted == 0
    added = counted or int(unseen and _lost_place_since(clock, sighting))
    if not added:
        return clock
    by = dict(clock.evictions_by)
    if sighting.evicted_by is not None:
        by[sighting.evicted_by] = by.get(sighting.evicted_by, 0) + added
    return replace(
        clock,
        evictions=clock.evictions + added,
        eviction_count_seen=clock.eviction_count_seen + added,
        evicted_by=sighting.evicted_by or clock.evicted_by,
        evictions_by=by,
    )
