"""Pages of Ceph's manager (and of ceph-exporter) → counters, and two of them → what happened in between. Pure: no I/O.

The traps: image latencies are nanoseconds whatever the help text says, OSD latencies are seconds and those of commits
milliseconds; a stalled OSD completes nothing, so it has no latency at all; a commit latency of 0 means that nothing was
committed; the manager serves the same page again until it has collected anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Self

from collector.catalogue.spellings.ceph import factor
from collector.model.reading import Known, Reading, Unknown
from collector.parse.ceph_names import (
    ALL_SLOW,
    CHECK,
    COMMIT,
    DAEMON_HEALTH,
    HEALTH,
    IN_PROGRESS,
    OF_IMAGES,
    OF_OSDS,
    OSD_READ,
    OSD_WRITE,
    OTHER_OPERATIONS,
    RBD_READ,
    RBD_WRITE,
    ROUND,
    SLOW_EVENTS,
    UP,
    Key,
    Names,
    RbdImage,
    key_of,
)
from collector.parse.exposition import Exposition

_NOTHING: Final[Mapping[tuple[str, ...], float]] = MappingProxyType({})
OSD: Final = "osd."
"""How names of OSDs begin."""


@dataclass(frozen=True, slots=True)
class CephScrape:
    """What the pages of one cluster said at one moment, by metric and key. Counters as they stand."""

    at: float
    """Epoch seconds."""
    values: Mapping[str, Mapping[Key, float]]

    @property
    def collected(self) -> float | None:
        """Grows each time the manager collects anew; None when it does not say."""
        rounds = self.values.get(ROUND)
        return sum(rounds.values()) if rounds else None

    @property
    def has_cluster(self) -> bool:
        """Whether the active manager spoke: a standby answers with an empty page."""
        return HEALTH in self.values

    @property
    def lacks_osd_counters(self) -> bool:
        """Whether OSDs are up and none is counted: an upgrade to Reef moved the counters to other pages."""
        return any(up > 0 for up in self.values.get(UP, {}).values()) and OSD_WRITE.operations not in self.values

    def value(self, name: str, key: Key = ()) -> Reading[float]:
        """One value, or that it is not exported."""
        found = self.values.get(name, {}).get(key)
        return Unknown(f"{name} is not exported") if found is None else Known(found)

    def keys(self, names: Iterable[str]) -> Sequence[Key]:
        """Everything that any of these metrics is about, in order."""
        return sorted({key for name in names for key in self.values.get(name, {})})


@dataclass(frozen=True, slots=True)
class Transfer:
    """I/O that completed between two scrapes."""

    operations: float
    latency_total_seconds: float
    bytes: float
    interval_seconds: float

    def __add__(self, other: Self) -> Transfer:
        return Transfer(
            self.operations + other.operations,
            self.latency_total_seconds + other.latency_total_seconds,
            self.bytes + other.bytes,
            max(self.interval_seconds, other.interval_seconds),
        )

    @property
    def mean_latency_seconds(self) -> Reading[float]:
        """Unknown when nothing completed: an idle and a stalled device both have none."""
        if self.operations <= 0:
            return Unknown("nothing completed")
        return Known(self.latency_total_seconds / self.operations)


@dataclass(frozen=True, slots=True)
class OsdReading:
    """One OSD between two scrapes. It answers for its replicas too: a slow one makes its primaries slow."""

    name: str
    read: Reading[Transfer]
    write: Reading[Transfer]
    completed: Reading[float]
    """Operations of any kind that completed."""
    in_progress: Reading[float]
    slow_operations: Reading[float]
    """In flight for longer than the cluster complains after (30 s by default)."""
    commit_latency_seconds: Reading[float]
    """Of its own disk alone: what tells a slow replica from the primary that waits for it."""
    up: Reading[bool]
    slow_events: Reading[float] = Unknown("its store does not count them: Squid 19.2 and later do")
    """Waits of seconds in its store, by the store's own four counters: symptoms, which load alone raises as well."""


@dataclass(frozen=True, slots=True)
class ImageReading:
    """One image between two scrapes."""

    image: RbdImage
    read: Reading[Transfer]
    write: Reading[Transfer]

    @property
    def completed(self) -> Reading[float]:
        """Operations that completed."""
        if isinstance(self.read, Unknown) or isinstance(self.write, Unknown):
            return self.read if isinstance(self.read, Unknown) else Unknown("writes are not exported")
        return Known(self.read.value.operations + self.write.value.operations, self.read.age_seconds)


@dataclass(frozen=True, slots=True)
class CephReadings:
    """One cluster between two scrapes."""

    health_status: Reading[int]
    """0 OK, 1 warning, 2 error."""
    checks: Mapping[str, str]
    """Health checks that are raised → severity."""
    slow_operations: Reading[float]
    """Of the whole cluster, as its health check counts them."""
    osds: tuple[OsdReading, ...]
    images: tuple[ImageReading, ...]


def ceph_scrape(pages: Iterable[Exposition], at: float) -> CephScrape:
    """All pages of one cluster, read at `at`. Where two repeat a series the higher value counts: a counter's later one.

    A value that is no finite number is left out.
    """
    values: dict[str, dict[Key, float]] = {}
    for page in pages:
        for sample in page.samples:
            key = key_of(sample)
            if key is not None and abs(sample.value) < float("inf"):  # NaN is not below it either
                series = values.setdefault(sample.name, {})
                before = series.get(key)
                if before is None or before < sample.value:
                    series[key] = sample.value
    return CephScrape(at, values)


def ceph_readings(earlier: CephScrape | None, later: CephScrape, age_seconds: float = 0.0) -> CephReadings:
    """What happened between two scrapes of one cluster; of the first scrape alone only what needs no difference."""
    between = Between(earlier, later, age_seconds)
    health = later.value(HEALTH)
    return CephReadings(
        health_status=Known(int(health.value), age_seconds) if isinstance(health, Known) else health,
        checks={key[0]: key[1] for key, raised in sorted(later.values.get(CHECK, {}).items()) if raised > 0},
        slow_operations=between.gauge(ALL_SLOW, ()),
        osds=between.osds(),
        images=between.images(),
    )


def osds_in_flight(scrape: CephScrape) -> frozenset[str]:
    """OSDs that had an operation in progress, or complained of a slow one, at that moment."""
    return _osds_above_zero(scrape, IN_PROGRESS) | osds_with_slow_operations(scrape)


def osds_with_slow_operations(scrape: CephScrape) -> frozenset[str]:
    """OSDs that complained of slow operations at that moment."""
    return _osds_above_zero(scrape, DAEMON_HEALTH)


def _osds_above_zero(scrape: CephScrape, metric: str) -> frozenset[str]:
    counts = scrape.values.get(metric, {})
    return frozenset(key[0] for key, count in counts.items() if count > 0 and key[0].startswith(OSD))


def commit_latencies_seconds(scrape: CephScrape) -> Mapping[str, float]:
    """OSD → how long its own disk took for the last commits; those that committed nothing lately are left out."""
    latencies = scrape.values.get(COMMIT, {})
    return {key[0]: value * factor(COMMIT) for key, value in latencies.items() if value > 0}


@dataclass(frozen=True, slots=True)
class Between:
    """Two scrapes, and the age of the later one."""

    earlier: CephScrape | None
    later: CephScrape
    age_seconds: float

    def osds(self) -> tuple[OsdReading, ...]:
        """Every OSD that the later one speaks of, in order."""
        return tuple(self._osd(key) for key in self.later.keys(OF_OSDS) if key[0].startswith(OSD))

    def images(self) -> tuple[ImageReading, ...]:
        """Every image that the later one speaks of, in order."""
        return tuple(self._image(RbdImage(*key)) for key in self.later.keys(OF_IMAGES))

    def _osd(self, key: Key) -> OsdReading:
        up = self.gauge(UP, key)
        return OsdReading(
            name=key[0],
            read=self.transfer(OSD_READ, key),
            write=self.transfer(OSD_WRITE, key),
            completed=self._completed(key),
            in_progress=self.gauge(IN_PROGRESS, key),
            slow_operations=self.gauge(DAEMON_HEALTH, key),
            commit_latency_seconds=self._commit_latency(key[0]),
            up=Known(up.value > 0, self.age_seconds) if isinstance(up, Known) else up,
            slow_events=self._slow_events(key),
        )

    def _image(self, image: RbdImage) -> ImageReading:
        return ImageReading(image, self.transfer(RBD_READ, image), self.transfer(RBD_WRITE, image))

    def gauge(self, name: str, key: Key) -> Reading[float]:
        """A value that needs no difference, with its age."""
        found = self.later.value(name, key)
        return Known(found.value, self.age_seconds) if isinstance(found, Known) else found

    def transfer(self, names: Names, key: Key) -> Reading[Transfer]:
        """What was added to all counters of one direction."""
        if self.earlier is None:
            return Unknown("only one scrape so far")
        added = self.added(names, key)
        if isinstance(added, Unknown):
            return added
        operations, latency, size = added
        interval = self.later.at - self.earlier.at
        return Known(Transfer(operations, latency * names.unit_seconds, size, interval), self.age_seconds)

    def _commit_latency(self, name: str) -> Reading[float]:
        latency = self.later.values.get(COMMIT, {}).get((name,), 0.0)
        if latency <= 0:
            return Unknown("nothing was committed lately")
        return Known(latency * factor(COMMIT), self.age_seconds)

    def _slow_events(self, key: Key) -> Reading[float]:
        """All four together: a name by pattern would count one of them twice, or none."""
        there = [name for name in SLOW_EVENTS if key in self.later.values.get(name, {})]
        if not there:
            return Unknown("its store does not count them: Squid 19.2 and later do")
        added = self.added(there, key)
        return added if isinstance(added, Unknown) else Known(sum(added), self.age_seconds)

    def _completed(self, key: Key) -> Reading[float]:
        names = (OSD_READ.operations, OSD_WRITE.operations, OTHER_OPERATIONS)
        added = self.added(names, key)
        return added if isinstance(added, Unknown) else Known(sum(added), self.age_seconds)

    def added(self, names: Iterable[str], key: Key) -> Sequence[float] | Unknown:
        """The differences of counters that were started together: when one fell, all have begun again from 0."""
        if self.earlier is None:
            return Unknown("only one scrape so far")
        later, earlier = self.later.values, self.earlier.values
        began_again, differences, values = False, list[float](), list[float]()
        for name in names:
            now = later.get(name, _NOTHING).get(key)
            if now is None:
                return Unknown(f"{name} is not exported")
            before = earlier.get(name, _NOTHING).get(key)
            if before is None:
                return Unknown("it was not there at the scrape before")
            began_again = began_again or now < before
            differences.append(now - before)
            values.append(now)
        return values if began_again else differences
