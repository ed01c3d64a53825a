"""What a Ceph cluster did over the last minute, remembered from scrape to scrape. Pure.

Means are taken over a window, the worst from look to look within it. A stall is judged over a shorter time: operations
were in flight at each look and none completed, or slow ones were there at each look and no write completed (reads go on
while a replica hangs). An image is known to wait only if it did I/O when the stall began; an idle one shows nothing
either way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from collector.assemble.ceph_progress import Progress, Worst
from collector.assemble.storage_bursts import Bursts
from collector.model.quantities import format_duration
from collector.model.reading import Known, Reading, Unknown
from collector.parse.ceph import (
    CephReadings,
    CephScrape,
    OsdReading,
    ceph_readings,
)
from collector.parse.ceph_cluster import ClusterReadings, cluster_readings
from collector.parse.ceph_names import OSD_COUNTERS, RbdImage

_SCRAPES_PER_WINDOW: Final = 6
_Name = TypeVar("_Name")
EMPTY_CLUSTER: Final = cluster_readings(None, CephScrape(0.0, {}))
"""Of which nothing was said."""


@dataclass(frozen=True, slots=True)
class CephState:
    """The cluster as it is now."""

    readings: CephReadings
    """Over the window."""
    stalled_osds: Mapping[str, Reading[bool]]
    """OSD → whether it has had operations in flight for a while and does not get on with them."""
    waiting_images: frozenset[RbdImage]
    """Images whose I/O went on until the stall and has not since."""
    age_seconds: float
    cluster: ClusterReadings = EMPTY_CLUSTER
    longest_stalls: Mapping[str, float] = field(default_factory=dict)
    """OSD → the longest stall that it was in within the window, in seconds; without those that were in none."""
    slow_events: Mapping[str, float] = field(default_factory=dict)
    """OSD → waits of seconds in its store within the window, of those that count them."""
    silent_osds: frozenset[str] = frozenset()
    """OSDs that the cluster counts as up and that report nothing any more."""
    worst_osds: Mapping[str, Worst] = field(default_factory=dict)
    worst_images: Mapping[RbdImage, Worst] = field(default_factory=dict)
    bursts: Bursts = field(default_factory=Bursts)
    paused: bool = False
    """Whether a flag may stop clients, and they have stopped."""
    awaited: Reading[Mapping[str, float]] = Unknown("needs admin access: --ceph-admin")
    """OSD → operations of others that wait for it."""
    limits: Reading[Mapping[RbdImage, float]] = Unknown("needs admin access: --ceph-admin")
    """Image → operations a second that librbd lets through, of those that have such a limit."""


@dataclass(frozen=True, slots=True)
class CephMemory:
    """The scrapes of one cluster that were taken lately."""

    window_seconds: float = 60.0
    stall_seconds: float = 15.0
    scrapes: tuple[CephScrape, ...] = ()
    progress: Progress = field(default_factory=Progress)

    def advance(self, scrape: CephScrape) -> CephMemory:
        """The memory after one more scrape. A page that was only served again says nothing new."""
        latest = self.scrapes[-1] if self.scrapes else None
        if latest is not None and _is_served_again(latest, scrape):
            return self
        kept = tuple(one for one in self.scrapes if scrape.at - one.at <= self.window_seconds)
        progress = self.progress.advanced(latest, scrape, self.window_seconds)
        return replace(self, scrapes=(*self._thinned(kept), scrape), progress=progress)

    def state(self, now: float) -> Reading[CephState]:
        """The cluster at `now`; Unknown before the first scrape, and when the last one is older than the window."""
        if not self.scrapes:
            return Unknown("Ceph was not read yet")
        latest = self.scrapes[-1]
        age_seconds = max(0.0, now - latest.at)
        if age_seconds > self.window_seconds:
            return Unknown(f"Ceph was last read {format_duration(age_seconds)} ago")
        earlier = self.scrapes[0] if len(self.scrapes) > 1 else None
        readings = ceph_readings(earlier, latest, age_seconds)
        means = self._commit_latencies()
        osds = tuple(
            replace(osd, commit_latency_seconds=Known(means[osd.name], age_seconds)) if osd.name in means else osd
            for osd in readings.osds
        )
        progress = self.progress
        state = CephState(
            readings=replace(readings, osds=osds),
            stalled_osds=self._stalled_osds(osds, latest.at),
            waiting_images=progress.waiting_images(self.stall_seconds, self.window_seconds, latest.at),
            age_seconds=age_seconds,
            cluster=cluster_readings(earlier, latest, age_seconds),
            longest_stalls=self._longest_stalls(),
            slow_events=_added(look.slow_events for look in progress.looks),
            silent_osds=progress.silent,
            worst_osds=_worst((look.osds for look in progress.looks), {osd.name for osd in osds}),
            worst_images=_worst((look.images for look in progress.looks), {one.image for one in readings.images}),
            bursts=progress.bursts,
            paused=progress.paused_since is not None,
        )
        return Known(state, age_seconds)

    def _thinned(self, scrapes: tuple[CephScrape, ...]) -> tuple[CephScrape, ...]:
        """Few are enough for means: of a large cluster each weighs megabytes."""
        apart = self.window_seconds / _SCRAPES_PER_WINDOW
        kept = scrapes[:1]
        for one in scrapes[1:]:
            if one.at - kept[-1].at >= apart:
                kept = (*kept, one)
        return kept

    def _commit_latencies(self) -> Mapping[str, float]:
        """The mean of the looks at which something had been committed: in between the gauge falls to 0."""
        seen: defaultdict[str, list[float]] = defaultdict(list)
        for look in self.progress.looks:
            for name, seconds in look.commits.items():
                seen[name].append(seconds)
        return {name: sum(values) / len(values) for name, values in seen.items()}

    def _stalled_osds(self, osds: Iterable[OsdReading], at: float) -> Mapping[str, Reading[bool]]:
        progress = self.progress
        stalled = progress.stalled(self.stall_seconds, at)
        if progress.watched_since is None or at - progress.watched_since < self.stall_seconds:
            short = Unknown(f"watched for less than {format_duration(self.stall_seconds)}")
            return {osd.name: short for osd in osds}
        age_of = {osd.name: progress.unjudged.get(osd.name) for osd in osds}
        return {name: reason or Known(name in stalled) for name, reason in age_of.items()}

    def _longest_stalls(self) -> Mapping[str, float]:
        longest: dict[str, float] = {}
        for look in self.progress.looks:
            for name, seconds in look.stalls.items():
                if seconds < self.stall_seconds:  # one report that came late looks the same
                    continue
                longest[name] = max(seconds, longest.get(name, 0.0))
        return longest


def _is_served_again(latest: CephScrape, scrape: CephScrape) -> bool:
    """Whether the manager has not collected anew and no exporter has anything new about its OSDs."""
    if scrape.collected is None or scrape.collected != latest.collected:
        return False
    return all(scrape.values.get(name) == latest.values.get(name) for name in OSD_COUNTERS)


def _added(looks: Iterable[Mapping[str, float]]) -> Mapping[str, float]:
    total: defaultdict[str, float] = defaultdict(float)
    for look in looks:
        for name, count in look.items():
            total[name] += count
    return total


def _worst(looks: Iterable[Mapping[_Name, Worst]], there: Collection[_Name]) -> Mapping[_Name, Worst]:
    """Of what is still there: a deleted image leaves nothing behind."""
    found: dict[_Name, Worst] = {}
    for look in looks:
        for name, worst in look.items():
            found[name] = found[name].or_worse(worst) if name in found else worst
    return {name: worst for name, worst in found.items() if name in there}
