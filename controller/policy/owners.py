"""How much the owners of a native pool use, remembered for a while: what tells how much of the rest stays idle. Pure.

Owners are all work that is not extra. What they will need soon is forecast from how fast their use rises now; what
they may need at once, from how fast it rose lately.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil

from collector.model.snapshot import Snapshot
from collector.model.tenancy import Engine

MEMORY_DAYS = 1 / 48
"""Half an hour: a steady night needs no reserve for what a busy morning brought."""
_TREND_DAYS = 1 / 144
_AHEAD_DAYS = 1 / 36
"""40 minutes: about as long as most jobs run, so that what starts now is through before its GPUs are needed."""
_AT_ONCE_DAYS = 1 / 480
_AT_ONCE_QUANTILE = 0.95
_MOST_RESERVED_RATIO = 0.25


@dataclass(frozen=True, slots=True)
class OwnersMemory:
    """By pool: (when, GPUs that owners used and asked for), oldest first."""

    uses: Mapping[str, tuple[tuple[float, int], ...]] = field(default_factory=dict)

    def advance(self, snapshot: Snapshot, day_seconds: float) -> OwnersMemory:
        """The memory after one more look. Sites without a native pool have none."""
        now = snapshot.taken_at
        since, uses = now - day_seconds * MEMORY_DAYS, {}
        for name, state in snapshot.pools.items():
            if state.pool.engine is Engine.NATIVE:
                kept = [one for one in self.uses.get(name, ()) if since <= one[0] < now]
                uses[name] = (*kept, (now, _asked_by_owners(snapshot, name)))
        return OwnersMemory(uses) if uses or self.uses else self

    def soon(self, pool: str, day_seconds: float) -> int:
        """GPUs by which the owners' use rises within the time that extra work runs, if it goes on as now."""
        seen = self.uses.get(pool, ())
        recent = [one for one in seen if one[0] >= seen[-1][0] - day_seconds * _TREND_DAYS]
        if len(recent) < 2:
            return 0
        (begin, before), (end, after) = recent[0], recent[-1]
        return max(0, ceil((after - before) / (end - begin) * day_seconds * _AHEAD_DAYS))

    def at_once(self, pool: str, pool_gpus: int, day_seconds: float) -> int:
        """GPUs that the owners may want within minutes: all but the fastest rises of late would have found room."""
        rises = sorted(self._rises(self.uses.get(pool, ()), day_seconds * _AT_ONCE_DAYS))
        if not rises:
            return 0
        largest = rises[min(len(rises) - 1, int(_AT_ONCE_QUANTILE * len(rises)))]
        return min(largest, int(pool_gpus * _MOST_RESERVED_RATIO))

    @staticmethod
    def _rises(seen: tuple[tuple[float, int], ...], span: float) -> Iterator[int]:
        """For each look: by how much the use had risen since the span before."""
        first = 0
        for number, (at, gpus) in enumerate(seen):
            while seen[first][0] < at - span:
                first += 1
            yield max(0, gpus - seen[min(first, number)][1])


def _asked_by_owners(snapshot: Snapshot, pool: str) -> int:
    """GPUs that owners hold or whose pods wait for nodes."""
    return held_by_owners(snapshot, pool) + sum(state.pending for state in snapshot.tenants if state.pool == pool)


def held_by_owners(snapshot: Snapshot, pool: str) -> int:
    """GPUs in use, whoever uses them, less those of extra work."""
    state = snapshot.pools[pool]
    extra = sum(one.preemptible_placed for one in snapshot.tenants if one.pool == pool)
    return state.allocatable - state.free - extra
