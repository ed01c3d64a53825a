"""What a Ceph cluster did over the last minute, remembered from scrape to scrape. Pure.

Means are taken over a window. A stall is judged over a shorter one: operations were in flight at each look and none
completed, or slow ones were there at each look and no write completed (reads go on while a replica hangs). An image is
known to wait only if it did I/O when the stall began; an idle one shows nothing either way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from collector.model.quantities import format_duration
from collector.model.reading import Known, Reading, Unknown
from collector.parse.ceph import (
    CephReadings,
    CephScrape,
    OsdReading,
    RbdImage,
    ceph_readings,
    commit_latencies_seconds,
    osds_in_flight,
    osds_with_slow_operations,
)


@dataclass(frozen=True, slots=True)
class CephState:
    """The cluster as it is now."""

    readings: CephReadings
    """Over the window."""
    stalled_osds: Mapping[str, Reading[bool]]
    """OSD → whether it had operations in flight all the time and did not get on with them."""
    waiting_images: frozenset[RbdImage]
    """Images whose I/O went on until the stall and has not since."""
    age_seconds: float


@dataclass(frozen=True, slots=True)
class CephMemory:
    """The scrapes of one cluster that were taken lately."""

    window_seconds: float = 60.0
    stall_seconds: float = 15.0
    scrapes: tuple[CephScrape, ...] = ()
    completed_at: Mapping[RbdImage, float] = field(default_factory=dict)
    """When an image was last seen to have completed something."""
    stall_began_at: float | None = None

    def advance(self, scrape: CephScrape) -> CephMemory:
        """The memory after one more scrape. A page that the manager only served again says nothing new."""
        latest = self.scrapes[-1] if self.scrapes else None
        if latest is not None and scrape.collected is not None and scrape.collected == latest.collected:
            return self
        scrapes = (*(one for one in self.scrapes if scrape.at - one.at <= self.window_seconds), scrape)
        completed_at: dict[RbdImage, float] = {}
        for reading in ceph_readings(scrapes[-2] if len(scrapes) > 1 else None, scrape).images:
            if isinstance(reading.completed, Known) and reading.completed.value > 0:
                completed_at[reading.image] = scrape.at
            elif reading.image in self.completed_at:
                completed_at[reading.image] = self.completed_at[reading.image]
        advanced = replace(self, scrapes=scrapes, completed_at=completed_at)
        return replace(advanced, stall_began_at=advanced._beginning())

    def state(self, now: float) -> Reading[CephState]:
        """The cluster at `now`; Unknown before the first scrape, and when the last one is older than the window."""
        if not self.scrapes:
            return Unknown("Ceph was not read yet")
        latest = self.scrapes[-1]
        age_seconds = max(0.0, now - latest.at)
        if age_seconds > self.window_seconds:
            return Unknown(f"Ceph was last read {format_duration(age_seconds)} ago")
        readings = ceph_readings(self.scrapes[0] if len(self.scrapes) > 1 else None, latest, age_seconds)
        means = self._commit_latencies()
        osds = tuple(
            replace(osd, commit_latency_seconds=Known(means[osd.name], age_seconds)) if osd.name in means else osd
            for osd in readings.osds
        )
        state = CephState(replace(readings, osds=osds), self._stalled_osds(), self._waiting_images(), age_seconds)
        return Known(state, age_seconds)

    def _commit_latencies(self) -> Mapping[str, float]:
        """The mean of the looks at which something had been committed: in between the gauge falls to 0."""
        seen: defaultdict[str, list[float]] = defaultdict(list)
        for scrape in self.scrapes:
            for name, seconds in commit_latencies_seconds(scrape).items():
                seen[name].append(seconds)
        return {name: sum(values) / len(values) for name, values in seen.items()}

    def _span(self) -> tuple[CephScrape, ...]:
        """The last scrapes that reach back as far as a stall is long; empty when none does."""
        latest = self.scrapes[-1]
        start = max((n for n, one in enumerate(self.scrapes) if latest.at - one.at >= self.stall_seconds), default=None)
        return self.scrapes[start:] if start is not None else ()

    def _stalled_osds(self) -> Mapping[str, Reading[bool]]:
        span = self._span()
        if not span:
            short = Unknown(f"watched for less than {format_duration(self.stall_seconds)}")
            return {osd.name: short for osd in ceph_readings(None, self.scrapes[-1]).osds}
        in_flight = frozenset.intersection(*map(osds_in_flight, span))
        slow = frozenset.intersection(*map(osds_with_slow_operations, span))
        return {
            osd.name: _stalled(osd, osd.name in in_flight, osd.name in slow)
            for osd in ceph_readings(span[0], span[-1]).osds
        }

    def _beginning(self) -> float | None:
        """Since when nothing goes on; None while it does."""
        if not self._is_stalled():
            return None
        return self._span()[0].at if self.stall_began_at is None else self.stall_began_at

    def _is_stalled(self) -> bool:
        span, judged = self._span(), self._stalled_osds().values()
        if any(isinstance(one, Known) for one in judged):
            return any(isinstance(one, Known) and one.value for one in judged)
        # Managers since Reef count no operations of OSDs: then slow ones beside images that all rest must do.
        last = max(self.completed_at.values(), default=0.0)
        return bool(span) and all(map(osds_in_flight, span)) and last <= span[0].at

    def _waiting_images(self) -> frozenset[RbdImage]:
        began = self.stall_began_at
        if began is None:
            return frozenset()
        since = began - self.window_seconds
        return frozenset(image for image, at in self.completed_at.items() if since <= at <= self._span()[0].at)


def _stalled(osd: OsdReading, in_flight: bool, slow: bool) -> Reading[bool]:
    """`in_flight`, `slow`: whether it had such operations at each look of the span that the reading is about."""
    if isinstance(osd.completed, Unknown):
        return osd.completed
    if isinstance(osd.write, Unknown):
        return osd.write
    nothing, no_write = osd.completed.value == 0, osd.write.value.operations == 0
    return Known((in_flight and nothing) or (slow and no_write), osd.completed.age_seconds)
