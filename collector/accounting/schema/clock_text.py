"""A wait clock as one line of JSON, and back. Pure. Fields that are missing take their default."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from types import MappingProxyType

from collector.accounting.schema.rows import Memory, State
from collector.assemble.clocks import Clock, WaitClocks

_NAMES = tuple(field.name for field in fields(Clock))


def clock_text(clock: Clock) -> str:
    """The clock as JSON."""
    values = {name: getattr(clock, name) for name in _NAMES}
    return json.dumps({**values, "queue": list(clock.queue), "evictions_by": dict(clock.evictions_by)})


def read_clock(text: str) -> Clock:
    """The clock of such a text. Raises ValueError when it is none."""
    try:
        values = json.loads(text)
        known = {name: values[name] for name in _NAMES if name in values}
        tenant, tier, queue = known["queue"]
        known |= {"queue": (tenant, tier, queue), "evictions_by": MappingProxyType(dict(known["evictions_by"]))}
        return Clock(**known)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"not a wait clock: {text[:80]}") from error


def resumed(clocks: WaitClocks, memory: Memory) -> WaitClocks:
    """The clocks as whoever looked last left them. What they had counted by then is not counted again."""
    found = {uid: standing.clock for uid, standing in memory.standings.items() if standing.clock is not None}
    until = memory.look.until if memory.look is not None else 0.0
    away = {uid for uid, one in memory.standings.items() if one.last is None or one.last.state is State.GONE}
    kept = {uid: clock if uid in away else replace(clock, last_seen_at=until) for uid, clock in found.items()}
    for uid, clock in kept.items():
        live = clocks.clocks.get(uid)
        counted_until = clock.last_seen_at if live is None else max(clock.last_seen_at, live.last_seen_at)
        kept[uid] = replace(clock, counted_seconds=clock.waited_seconds(counted_until))
    return replace(clocks, clocks=MappingProxyType({**clocks.clocks, **kept}))


def clocks_of(memory: Memory) -> WaitClocks:
    """Clocks for somebody who looks for the first time, with the history known."""
    return resumed(WaitClocks(), memory)
