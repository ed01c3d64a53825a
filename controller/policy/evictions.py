"""Who evicts whom, remembered from tick to tick: what tells a preemption cycle from a busy cluster. Pure values.

Objects count evictions over their whole life; a cycle is many of them in a short time. So each tick notes what was
added since the last one. After a restart the memory begins anew: what was counted before is not held against anybody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from collector.model.snapshot import Snapshot, Work

AGAIN = 2
"""Evictions of the same work by the same tenant that make an edge of a cycle: once is preemption, twice a pattern."""
OFTEN = 6
"""Evictions of one work within the memory, whoever caused them, that are too many. On a crowded cluster the youngest
borrower loses its place three to five times an hour, and that is no cycle."""
HIT = 2
"""Work that lost its place so often of late is spared where something else would do."""


@dataclass(frozen=True, slots=True)
class Eviction:
    """The work of one tenant lost its place to the work of another (or of the same), `count` times since the last look.

    `at` is when it was seen, in epoch seconds.
    """

    at: float
    pool: str
    by: str
    victim: str
    key: str
    count: int


@dataclass(frozen=True, slots=True)
class EvictionMemory:
    """Evictions of live work within the last while."""

    recent: tuple[Eviction, ...] = ()
    counted: Mapping[str, Mapping[str, int]] | None = field(default=None)
    """Work → tenant → evictions as they stood at the last look; None: nobody has looked yet."""

    def advance(self, snapshot: Snapshot, window_seconds: float) -> EvictionMemory:
        """The memory after one more look: what was added, without what is older than the window or gone."""
        now, evicted = snapshot.taken_at, [work for group in snapshot.groups for work in group.evicted]
        counted = {work.key: work.evictions_by for work in evicted}
        kept = [one for one in self.recent if now - one.at < window_seconds and one.key in counted]
        if counted == self.counted:
            return self if len(kept) == len(self.recent) else EvictionMemory(tuple(kept), self.counted)
        if self.counted is not None:
            kept += [new for work in evicted for new in _added(work, self.counted.get(work.key, {}), now)]
        return EvictionMemory(tuple(sorted(kept, key=_order)), {key: dict(by) for key, by in counted.items()})

    def without(self, pool: str, tenants: Collection[str]) -> EvictionMemory:
        """Begin anew with these tenants: something was done about it, and only what happens from now on tells more."""
        kept = [one for one in self.recent if one.pool != pool or one.by not in tenants or one.victim not in tenants]
        return replace(self, recent=tuple(kept))

    def hits(self, key: str) -> int:
        """Evictions of one work within the memory."""
        return sum(one.count for one in self.recent if one.key == key)


def _added(work: Work, before: Mapping[str, int], now: float) -> Iterable[Eviction]:
    for by, count in work.evictions_by.items():
        if count > before.get(by, 0) and work.pool is not None:
            yield Eviction(now, work.pool, by, work.tenant, work.key, count - before.get(by, 0))


def _order(one: Eviction) -> tuple[float, str, str, str, str]:
    return one.at, one.pool, one.by, one.victim, one.key


@dataclass(frozen=True, slots=True)
class Cycle:
    """Tenants whose work loses its place again and again to each other's."""

    pool: str
    parties: tuple[str, ...]
    """Everybody in it, in order of names."""
    victims: Mapping[str, tuple[str, ...]]
    """Tenant → its work (keys) that is hit again and again."""
    edges: Mapping[tuple[str, str], int]
    """(who evicts, who is evicted) → evictions within the memory."""


def cycles(memory: EvictionMemory) -> tuple[Cycle, ...]:
    """Every preemption cycle within the memory, in order of pools and names.

    It is one when tenants evict each other's same work again, in a ring of any length; or when one work is hit too
    often, whoever does it: there the ring closes through the queue, by work that takes the room instead.
    """
    found: list[Cycle] = []
    for pool in sorted({one.pool for one in memory.recent}):
        inside = [one for one in memory.recent if one.pool == pool]
        found += (_cycle(pool, parties, inside) for parties in _parties(inside))
    return tuple(found)


def _counts(evictions: Iterable[Eviction]) -> Mapping[tuple[str, str, str], int]:
    """(by, victim, work) → evictions."""
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for one in evictions:
        counts[one.by, one.victim, one.key] += one.count
    return counts


def _often(counts: Mapping[tuple[str, str, str], int]) -> frozenset[str]:
    hits: dict[str, int] = defaultdict(int)
    for (_, _, key), count in counts.items():
        hits[key] += count
    return frozenset(key for key, count in hits.items() if count >= OFTEN)


def _parties(evictions: Sequence[Eviction]) -> Sequence[tuple[str, ...]]:
    """Groups of tenants: those who reach each other over repeated edges, and those of work that is hit too often."""
    counts = _counts(evictions)
    often = _often(counts)
    again = {(by, victim) for (by, victim, _), count in counts.items() if count >= AGAIN}
    rings = {edge for edge in again if edge[0] != edge[1] and edge[0] in _reached(again, edge[1])}
    tied = rings | {(by, victim) for by, victim, key in counts if key in often}
    both_ways = tied | {(victim, by) for by, victim in tied}
    groups = {frozenset(_reached(both_ways, name)) for edge in tied for name in edge}
    return sorted(tuple(sorted(group)) for group in groups)


def _reached(edges: Collection[tuple[str, str]], start: str) -> set[str]:
    """Everybody on a path from `start`, itself included."""
    reached, new = {start}, {start}
    while new:
        new = {to for begin, to in edges if begin in new} - reached
        reached |= new
    return reached


def _cycle(pool: str, parties: tuple[str, ...], evictions: Sequence[Eviction]) -> Cycle:
    inside = [one for one in evictions if one.by in parties and one.victim in parties]
    counts, edges = _counts(inside), defaultdict[tuple[str, str], int](int)
    often, victims = _often(counts), defaultdict[str, set[str]](set)
    for (by, victim, key), count in counts.items():
        edges[by, victim] += count
        if count >= AGAIN or key in often:
            victims[victim].add(key)
    return Cycle(pool, parties, {name: tuple(sorted(keys)) for name, keys in sorted(victims.items())}, dict(edges))
