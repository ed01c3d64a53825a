"""Which OSDs are to blame for their own disk: far slower to commit than their peers. Pure.

Slow operations blame whoever waits, often the healthy primary of a slow replica, so they blame nobody here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Final

from collector.model.reading import Known, Reading, Unknown

BLAMED_FROM_SECONDS: Final = 0.1
"""Below this a disk is not slow, however quick the others are."""
BLAMED_FACTOR: Final = 3.0
"""So many times as slow as the median of its peers."""


@dataclass(frozen=True, slots=True)
class OsdFacts:
    """One OSD as it is known now."""

    name: str
    commit_latency_seconds: Reading[float] = Unknown("not exported")
    slow_operations: Reading[float] = Unknown("not exported")
    stalled: Reading[bool] = Unknown("not exported")


def blamed(osds: Sequence[OsdFacts]) -> tuple[OsdFacts, ...]:
    """The OSDs whose own disk is far slower than those of their peers, the slowest first."""
    latencies = commits(osds)
    found = [osd for osd in osds if osd.name in latencies and _stands_out(osd.name, latencies)]
    return tuple(sorted(found, key=lambda osd: -latencies[osd.name]))


def commits(osds: Iterable[OsdFacts]) -> Mapping[str, float]:
    """OSD → seconds that its disk takes to commit, where it is known."""
    latencies = ((osd.name, osd.commit_latency_seconds) for osd in osds)
    return {name: latency.value for name, latency in latencies if isinstance(latency, Known)}


def _stands_out(name: str, latencies: Mapping[str, float]) -> bool:
    others = [seconds for other, seconds in latencies.items() if other != name]
    if not others:
        return False
    return latencies[name] >= max(BLAMED_FROM_SECONDS, BLAMED_FACTOR * median_low(others))
