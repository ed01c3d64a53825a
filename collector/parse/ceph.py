"""Pages of Ceph's manager (and of ceph-exporter) → counters, and two of them → what happened in between. Pure: no I/O.

The traps: image latencies are nanoseconds whatever the help text says, OSD latencies are seconds and those of commits
milliseconds; a stalled OSD completes nothing, so it has no latency at all; a commit latency of 0 means that nothing was
committed; the manager serves the same page again until it has collected anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from collector.catalogue.spellings.ceph import factor
from collector.model.reading import Known, Reading, Unknown
from collector.parse.exposition import Exposition, Sample

_ROUND: Final = "ceph_prometheus_collect_duration_seconds_count"
_HEALTH: Final = "ceph_health_status"
_CHECK: Final = "ceph_health_detail"
_ALL_SLOW: Final = "ceph_healthcheck_slow_ops"
_DAEMON_HEALTH: Final = "ceph_daemon_health_metrics"
_COMMIT: Final = "ceph_osd_commit_latency_ms"
_IN_PROGRESS: Final = "ceph_osd_op_wip"
_UP: Final = "ceph_osd_up"
_OTHER_OPERATIONS: Final = "ceph_osd_op_rw_latency_count"
"""Operations that read and write at once stand in neither of the two."""


class _Names(NamedTuple):
    """What counts one direction of I/O."""

    operations: str
    latency: str
    size: str

    @property
    def unit_seconds(self) -> float:
        """What its latency counts in."""
        return factor(self.latency)


_OSD_READ: Final = _Names("ceph_osd_op_r_latency_count", "ceph_osd_op_r_latency_sum", "ceph_osd_op_r_out_bytes")
_OSD_WRITE: Final = _Names("ceph_osd_op_w_latency_count", "ceph_osd_op_w_latency_sum", "ceph_osd_op_w_in_bytes")
_RBD_READ: Final = _Names("ceph_rbd_read_latency_count", "ceph_rbd_read_latency_sum", "ceph_rbd_read_bytes")
_RBD_WRITE: Final = _Names("ceph_rbd_write_latency_count", "ceph_rbd_write_latency_sum", "ceph_rbd_write_bytes")

_OF_IMAGES: Final = frozenset((*_RBD_READ, *_RBD_WRITE))
_OF_DAEMONS: Final = frozenset((*_OSD_READ, *_OSD_WRITE, _COMMIT, _IN_PROGRESS, _UP, _OTHER_OPERATIONS))
CEPH_NAMES: Final = _OF_IMAGES | _OF_DAEMONS | {_ROUND, _HEALTH, _CHECK, _ALL_SLOW, _DAEMON_HEALTH}
"""The names that are read here, for `parse_exposition(text, CEPH_NAMES)`."""

_SLOW: Final = "SLOW_OPS"
_OSD: Final = "osd."

Key = tuple[str, ...]
"""The labels that matter: of an image (pool, namespace, name), of a daemon its name."""


class RbdImage(NamedTuple):
    """An image of RBD. `namespace` is the one inside the pool, mostly "", and none of Kubernetes."""

    pool: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class CephScrape:
    """What the pages of one cluster said at one moment, by metric and key. Counters as they stand."""

    at: float
    """Epoch seconds."""
    values: Mapping[str, Mapping[Key, float]]

    @property
    def collected(self) -> float | None:
        """Grows each time the manager collects anew; None when it does not say."""
        rounds = self.values.get(_ROUND)
        return sum(rounds.values()) if rounds else None

    @property
    def has_cluster(self) -> bool:
        """Whether the active manager spoke: a standby answers with an empty page."""
        return _HEALTH in self.values

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
            key = _key(sample)
            if key is not None and abs(sample.value) < float("inf"):  # NaN is not below it either
                series = values.setdefault(sample.name, {})
                series[key] = max(sample.value, series.get(key, sample.value))
    return CephScrape(at, values)


def ceph_readings(earlier: CephScrape | None, later: CephScrape, age_seconds: float = 0.0) -> CephReadings:
    """What happened between two scrapes of one cluster; of the first scrape alone only what needs no difference."""
    between = _Between(earlier, later, age_seconds)
    daemons = [key for key in later.keys(_OF_DAEMONS) if key[0].startswith(_OSD)]
    health = later.value(_HEALTH)
    return CephReadings(
        health_status=Known(int(health.value), age_seconds) if isinstance(health, Known) else health,
        checks={key[0]: key[1] for key, raised in sorted(later.values.get(_CHECK, {}).items()) if raised > 0},
        slow_operations=between.gauge(_ALL_SLOW, ()),
        osds=tuple(between.osd(key) for key in daemons),
        images=tuple(between.image(RbdImage(*key)) for key in later.keys(_OF_IMAGES)),
    )


def osds_in_flight(scrape: CephScrape) -> frozenset[str]:
    """OSDs that had an operation in progress, or complained of a slow one, at that moment."""
    return _osds_above_zero(scrape, _IN_PROGRESS) | osds_with_slow_operations(scrape)


def osds_with_slow_operations(scrape: CephScrape) -> frozenset[str]:
    """OSDs that complained of slow operations at that moment."""
    return _osds_above_zero(scrape, _DAEMON_HEALTH)


def _osds_above_zero(scrape: CephScrape, metric: str) -> frozenset[str]:
    counts = scrape.values.get(metric, {})
    return frozenset(key[0] for key, count in counts.items() if count > 0 and key[0].startswith(_OSD))


def commit_latencies_seconds(scrape: CephScrape) -> Mapping[str, float]:
    """OSD → how long its own disk took for the last commits; those that committed nothing lately are left out."""
    latencies = scrape.values.get(_COMMIT, {})
    return {key[0]: value * factor(_COMMIT) for key, value in latencies.items() if value > 0}


@dataclass(frozen=True, slots=True)
class _Between:
    """Two scrapes, and the age of the later one."""

    earlier: CephScrape | None
    later: CephScrape
    age_seconds: float

    def osd(self, key: Key) -> OsdReading:
        up = self.gauge(_UP, key)
        return OsdReading(
            name=key[0],
            read=self.transfer(_OSD_READ, key),
            write=self.transfer(_OSD_WRITE, key),
            completed=self._completed(key),
            in_progress=self.gauge(_IN_PROGRESS, key),
            slow_operations=self.gauge(_DAEMON_HEALTH, key),
            commit_latency_seconds=self._commit_latency(key[0]),
            up=Known(up.value > 0, self.age_seconds) if isinstance(up, Known) else up,
        )

    def image(self, image: RbdImage) -> ImageReading:
        return ImageReading(image, self.transfer(_RBD_READ, image), self.transfer(_RBD_WRITE, image))

    def gauge(self, name: str, key: Key) -> Reading[float]:
        found = self.later.value(name, key)
        return Known(found.value, self.age_seconds) if isinstance(found, Known) else found

    def transfer(self, names: _Names, key: Key) -> Reading[Transfer]:
        """What was added to all counters of one direction."""
        if self.earlier is None:
            return Unknown("only one scrape so far")
        added = self._added(names, key)
        if isinstance(added, Unknown):
            return added
        operations, latency, size = added
        interval = self.later.at - self.earlier.at
        return Known(Transfer(operations, latency * names.unit_seconds, size, interval), self.age_seconds)

    def _commit_latency(self, name: str) -> Reading[float]:
        latency_seconds = commit_latencies_seconds(self.later).get(name)
        if latency_seconds is None:
            return Unknown("nothing was committed lately")
        return Known(latency_seconds, self.age_seconds)

    def _completed(self, key: Key) -> Reading[float]:
        if self.earlier is None:
            return Unknown("only one scrape so far")
        names = (_OSD_READ.operations, _OSD_WRITE.operations, _OTHER_OPERATIONS)
        added = self._added(names, key)
        return added if isinstance(added, Unknown) else Known(sum(added), self.age_seconds)

    def _added(self, names: Iterable[str], key: Key) -> Sequence[float] | Unknown:
        """The differences of counters that were started together: when one fell, all have begun again from 0."""
        pairs: list[tuple[float, float]] = []
        for name in names:
            now = self.later.value(name, key)
            if isinstance(now, Unknown):
                return now
            before = self.earlier.value(name, key) if self.earlier is not None else now
            if isinstance(before, Unknown):
                return Unknown("it was not there at the scrape before")
            pairs.append((before.value, now.value))
        again = any(now < before for before, now in pairs)
        return [now if again else now - before for before, now in pairs]


def _key(sample: Sample) -> Key | None:
    """The labels that matter of a sample; None for one that does not."""
    labels = sample.labels
    if sample.name in _OF_IMAGES:
        image = labels.get("image", "")
        return RbdImage(labels.get("pool", ""), labels.get("namespace", ""), image) if image else None
    if sample.name in _OF_DAEMONS:
        return (labels["ceph_daemon"],) if labels.get("ceph_daemon") else None
    if sample.name == _DAEMON_HEALTH:
        return (labels["ceph_daemon"],) if labels.get("type") == _SLOW and labels.get("ceph_daemon") else None
    if sample.name == _CHECK:
        return (labels.get("name", ""), labels.get("severity", ""))
    if sample.name == _ROUND:
        return (labels.get("method", ""),)
    return () if sample.name in CEPH_NAMES else None
