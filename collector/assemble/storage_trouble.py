"""Is a tenant's storage in trouble, and which OSD is it: the judgement and its one sentence. Pure.

An OSD is blamed for its own disk only: far slower to commit than its peers. Slow operations blame whoever waits, often
the healthy primary of a slow replica, so they are told and blame nobody.
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
_NAMED_AT_MOST: Final = 3


@dataclass(frozen=True, slots=True)
class OsdFacts:
    """One OSD as it is known now."""

    name: str
    commit_latency_seconds: Reading[float] = Unknown("not exported")
    slow_operations: Reading[float] = Unknown("not exported")
    stalled: Reading[bool] = Unknown("not exported")


@dataclass(frozen=True, slots=True)
class VolumeFacts:
    """The volumes of one tenant as they are known now."""

    tenant: str
    limit_seconds: float | None = None
    """The latency it was promised; None: nothing was."""
    read_latency_seconds: Reading[float] = Unknown("not exported")
    write_latency_seconds: Reading[float] = Unknown("not exported")
    stalled: Reading[bool] = Unknown("not exported")

    @property
    def worst_latency_seconds(self) -> float | None:
        """The slower of reads and writes; None when nothing completed."""
        known = [one.value for one in (self.read_latency_seconds, self.write_latency_seconds) if isinstance(one, Known)]
        return max(known, default=None)


@dataclass(frozen=True, slots=True)
class StorageTrouble:
    """Storage keeps a tenant waiting."""

    tenant: str
    sentence: str


def storage_trouble(volumes: VolumeFacts, osds: Iterable[OsdFacts]) -> StorageTrouble | None:
    """What is wrong with the storage of a tenant, or None.

    In trouble is who does I/O that does not end, whose mean latency is above the promise (what a mean is above, more
    than the promised share of operations almost surely is too), or, without a promise, who uses a cluster with an OSD
    to blame.
    """
    ordered = sorted(osds, key=lambda osd: osd.name)
    to_blame = blamed(ordered)
    worst, limit = volumes.worst_latency_seconds, volumes.limit_seconds
    if isinstance(volumes.stalled, Known) and volumes.stalled.value:
        wait = "complete nothing"
    elif worst is not None and limit is not None and worst > limit:
        wait = f"wait {_milliseconds(worst)} (objective {_milliseconds(limit)})"
    elif worst is not None and limit is None and to_blame:
        wait = f"wait {_milliseconds(worst)}"
    else:
        return None
    return StorageTrouble(
        volumes.tenant, f"Ceph: {_about_osds(ordered, to_blame)}; volumes of tenant {volumes.tenant} {wait}"
    )


def blamed(osds: Sequence[OsdFacts]) -> tuple[OsdFacts, ...]:
    """The OSDs whose own disk is far slower than those of their peers, the slowest first."""
    latencies = _commits(osds)
    found = [osd for osd in osds if osd.name in latencies and _stands_out(osd.name, latencies)]
    return tuple(sorted(found, key=lambda osd: -latencies[osd.name]))


def _commits(osds: Iterable[OsdFacts]) -> Mapping[str, float]:
    """OSD → seconds, where it is known."""
    latencies = ((osd.name, osd.commit_latency_seconds) for osd in osds)
    return {name: latency.value for name, latency in latencies if isinstance(latency, Known)}


def _stands_out(name: str, latencies: Mapping[str, float]) -> bool:
    others = [seconds for other, seconds in latencies.items() if other != name]
    if not others:
        return False
    return latencies[name] >= max(BLAMED_FROM_SECONDS, BLAMED_FACTOR * median_low(others))


def _about_osds(osds: Sequence[OsdFacts], to_blame: Sequence[OsdFacts]) -> str:
    if to_blame:
        commits = _commits(osds)
        names = [osd.name for osd in to_blame]
        slowest = _listed([f"{name} commits in {_milliseconds(commits[name])}" for name in names])
        others = [seconds for name, seconds in commits.items() if name not in names]
        return f"{slowest}, others in {_milliseconds(median_low(others))}" if others else slowest
    stalled = [osd.name for osd in osds if isinstance(osd.stalled, Known) and osd.stalled.value]
    if stalled:
        return f"operations at {_listed(stalled)} do not end"
    slow = {osd.name: osd.slow_operations.value for osd in osds if isinstance(osd.slow_operations, Known)}
    complaining = [name for name, count in slow.items() if count > 0]
    if complaining:
        return f"{sum(slow.values()):.0f} slow operations at {_listed(complaining)}"
    return "no OSD stands out"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.{0 if seconds >= 0.01 else 1}f} ms"


def _listed(words: Sequence[str]) -> str:
    rest = len(words) - _NAMED_AT_MOST
    return ", ".join(words[:_NAMED_AT_MOST]) + (f" and {rest} more" if rest > 0 else "")
