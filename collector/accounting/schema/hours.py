"""GPU-hours of a window out of the history: who held what, what stood free, and of what nobody knows. Pure.

Per pool: running + starting + unknown + free + not seen = capacity + beyond. A gap in the looks makes what is left over
not seen, never free; what work held across a gap is known wherever its own object told it afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from collector.accounting.schema.rows import HOLDS, Capacity, Look, State, Transition

_HOUR = 3600.0
_RUNNING, _STARTING, _UNKNOWN, _CAPACITY, _LOOKED = "running", "starting", "unknown", "capacity", "looked"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a window, in epoch seconds."""

    begin: float
    end: float

    @property
    def hours(self) -> float:
        """Its length."""
        return (self.end - self.begin) / _HOUR


@dataclass(frozen=True, slots=True)
class TenantHours:
    """GPU-hours that one tenant held in one pool."""

    running: float = 0.0
    starting: float = 0.0
    """Admitted, not all pods Ready; also what never was seen Ready before it ended."""
    unknown: float = 0.0
    """Between two looks that lie apart: nobody can tell whether it held them."""


@dataclass(frozen=True, slots=True)
class PoolHours:
    """Where the GPU-hours of one pool went."""

    pool: str
    capacity: float
    free: float
    not_seen: float
    """Left over while nobody looked."""
    beyond: float
    """Given to work beyond what the pool had: quota larger than its nodes, or nodes that went."""
    tenants: Mapping[str, TenantHours] = field(default_factory=dict)

    @property
    def held(self) -> float:
        """By all tenants, for sure."""
        return sum(one.running + one.starting for one in self.tenants.values())

    @property
    def unknown(self) -> float:
        """Of all tenants."""
        return sum(one.unknown for one in self.tenants.values())

    @property
    def difference(self) -> float:
        """Zero, but for the dust of floats: the parts close against the capacity."""
        return self.capacity + self.beyond - self.held - self.unknown - self.free - self.not_seen


def gaps(looks: Iterable[Look], window: Span) -> tuple[Span, ...]:
    """The parts of the window in which nobody looked."""
    found: list[Span] = []
    at = window.begin
    for look in sorted(looks, key=lambda look: look.begin):
        if min(look.begin, window.end) > at:
            found.append(Span(at, min(look.begin, window.end)))
        at = max(at, look.until)
    if at < window.end:
        found.append(Span(at, window.end))
    return tuple(found)


def pool_hours(
    rows: Iterable[Transition], capacities: Iterable[Capacity], looks: Iterable[Look], window: Span
) -> tuple[PoolHours, ...]:
    """Every pool of which there is a capacity or work.

    `rows`: of each workload those in the window and the last before it. `capacities` likewise of each pool.
    """
    seen = tuple(looks)
    until = max((look.until for look in seen), default=window.begin)
    edges: dict[str, list[tuple[float, str, str, float]]] = defaultdict(list)
    for row, begin, end, what in _holdings(rows, until):
        span = _clipped(begin, end, window)
        if span is not None:
            edges[row.pool] += [(span.begin, what, row.tenant, row.gpus), (span.end, what, row.tenant, -row.gpus)]
    for pool, span, gpus in _capacity_spans(capacities, window):
        edges[pool] += [(span.begin, _CAPACITY, "", gpus), (span.end, _CAPACITY, "", -gpus)]
    blind = gaps(seen, window)
    return tuple(_swept(pool, edges[pool], blind, window) for pool in sorted(edges))


def _holdings(rows: Iterable[Transition], until: float) -> Iterator[tuple[Transition, float, float, str]]:
    """(row, begin, end, what): the times in which a workload held GPUs, or may have."""
    by_uid: dict[str, list[Transition]] = defaultdict(list)
    for row in rows:
        by_uid[row.uid].append(row)
    for own in by_uid.values():
        own.sort(key=lambda row: row.step)
        for row, after in pairwise(own):
            sure_until = after.at if after.seen_before is None else max(row.at, after.seen_before)
            if row.state in HOLDS:
                yield row, row.at, sure_until, _what(row)
            # It may have held what it holds before, after, or in between.
            if sure_until < after.at and (row.state in HOLDS or after.state in HOLDS or after.unseen):
                yield after, sure_until, after.at, _UNKNOWN
        if own[-1].state in HOLDS and until > own[-1].at:
            yield own[-1], own[-1].at, until, _what(own[-1])


def _what(row: Transition) -> str:
    return _RUNNING if row.state is State.RUNNING else _STARTING


def _capacity_spans(capacities: Iterable[Capacity], window: Span) -> Iterator[tuple[str, Span, int]]:
    by_pool: dict[str, list[Capacity]] = defaultdict(list)
    for one in capacities:
        by_pool[one.pool].append(one)
    for pool, own in by_pool.items():
        own.sort(key=lambda one: one.at)
        # Before it was seen first it is taken as it was then: nodes come and go seldom.
        begins = [window.begin, *(one.at for one in own[1:])]
        ends = [*(one.at for one in own[1:]), window.end]
        for one, begin, end in zip(own, begins, ends, strict=True):
            span = _clipped(begin, end, window)
            if span is not None:
                yield pool, span, one.gpus


def _clipped(begin: float, end: float, window: Span) -> Span | None:
    span = Span(max(begin, window.begin), min(end, window.end))
    return span if span.end > span.begin else None


def _swept(pool: str, edges: list[tuple[float, str, str, float]], blind: tuple[Span, ...], window: Span) -> PoolHours:
    """One pass over all moments at which anything changed."""
    edges += [(moment, _LOOKED, "", sign) for gap in blind for moment, sign in ((gap.begin, -1), (gap.end, 1))]
    level: dict[tuple[str, str], float] = defaultdict(float, {(_LOOKED, ""): 1})
    sums: dict[tuple[str, str], float] = defaultdict(float)
    at = window.begin
    for moment, what, tenant, amount in sorted(edges):
        if moment > at:
            _count(level, sums, (moment - at) / _HOUR)
            at = moment
        level[what, tenant] += amount
    _count(level, sums, (window.end - at) / _HOUR)
    names = {tenant for what, tenant in sums if what in (_RUNNING, _STARTING, _UNKNOWN)}
    tenants = {
        name: TenantHours(sums[_RUNNING, name], sums[_STARTING, name], sums[_UNKNOWN, name]) for name in sorted(names)
    }
    capacity, free, not_seen, beyond = (sums[what, ""] for what in (_CAPACITY, "free", "not seen", "beyond"))
    return PoolHours(pool, capacity, free, not_seen, beyond, tenants)


def _count(level: Mapping[tuple[str, str], float], sums: dict[tuple[str, str], float], hours: float) -> None:
    """Add a stretch in which nothing changed."""
    used = 0.0
    for (what, tenant), amount in level.items():
        if what != _LOOKED and amount:
            sums[what, tenant] += amount * hours
            used += amount if what != _CAPACITY else 0.0
    rest = level.get((_CAPACITY, ""), 0.0) - used
    if rest < 0:
        sums["beyond", ""] -= rest * hours
    else:
        sums["free" if level[_LOOKED, ""] > 0 else "not seen", ""] += rest * hours
