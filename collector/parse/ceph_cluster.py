"""What Ceph's pages say of the cluster around its OSDs: hosts, what is down, recovery, scrub, flags, pools, MDS. Pure.

A cluster that recovers or scrubs is slow and healthy; one whose clients are stopped by a flag has no slow operation at
all, since requests wait in the clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from collector.model.reading import Known, Reading, Unknown
from collector.parse.ceph import OSD, Between, CephScrape
from collector.parse.ceph_names import (
    CHECK,
    FLAGS,
    IN,
    MDS_REPLY,
    OSD_ABOUT,
    PG_RECOVERY,
    PG_SCRUB,
    POOL_ABOUT,
    POOL_READ,
    POOL_RECOVERY,
    POOL_WRITE,
    REACHED,
    UP,
)

_FLAG_CHECK: Final = "OSDMAP_FLAGS"
_FULL_CHECKS: Final = frozenset({"OSD_FULL", "POOL_FULL"})
_OWN_POOLS: Final = frozenset({"device_health_metrics", ".mgr"})
"""The manager's own, which no tenant uses."""


@dataclass(frozen=True, slots=True)
class Amount:
    """I/O without its time: Ceph counts no latency of pools."""

    operations: float
    bytes: float
    interval_seconds: float


@dataclass(frozen=True, slots=True)
class PoolReading:
    """One pool between two scrapes."""

    name: str
    read: Reading[Amount]
    write: Reading[Amount]


@dataclass(frozen=True, slots=True)
class MdsReading:
    """One metadata server of CephFS between two scrapes, over all who use it."""

    name: str
    reply_latency_seconds: Reading[float]
    """Mean time to answer a request about metadata."""


@dataclass(frozen=True, slots=True)
class ClusterReadings:
    """What is around the OSDs."""

    hosts: Mapping[str, str]
    """OSD → host."""
    down: tuple[str, ...]
    """OSDs that hold data and that the cluster counts as down."""
    unreached: tuple[str, ...]
    """OSDs whose socket ceph-exporter does not reach."""
    flags: tuple[str, ...]
    clients_stopped: Reading[bool]
    """Whether a flag keeps clients from reading or writing (`ceph osd pause`)."""
    full: bool
    """Whether writes are refused since an OSD or a pool is full."""
    recovering: Reading[float]
    """Placement groups that recover or wait for it."""
    recovery_bytes_per_second: Reading[float]
    scrubbing: Reading[float]
    """Placement groups that are scrubbed."""
    pools: tuple[PoolReading, ...]
    metadata_servers: tuple[MdsReading, ...]


def cluster_readings(earlier: CephScrape | None, later: CephScrape, age_seconds: float = 0.0) -> ClusterReadings:
    """The cluster between two scrapes; of the first scrape alone only what needs no difference."""
    between = Between(earlier, later, age_seconds)
    checks = {key[0] for key, raised in later.values.get(CHECK, {}).items() if raised > 0}
    flags = tuple(name.removeprefix("ceph_osd_flag_") for name in FLAGS if later.values.get(name, {}).get((), 0.0) > 0)
    return ClusterReadings(
        hosts={osd: host for osd, host in sorted(later.values.get(OSD_ABOUT, {})) if host and osd.startswith(OSD)},
        down=tuple(osd for osd in _osds_at(later, UP, 0.0) if later.values.get(IN, {}).get((osd,), 1.0) > 0),
        unreached=_osds_at(later, REACHED, 0.0),
        flags=flags,
        clients_stopped=_clients_stopped(checks, flags, age_seconds),
        full=not _FULL_CHECKS.isdisjoint(checks),
        recovering=_placement_groups(later, PG_RECOVERY, age_seconds),
        recovery_bytes_per_second=_summed(later, (POOL_RECOVERY,), age_seconds),
        scrubbing=_placement_groups(later, PG_SCRUB[:1], age_seconds),
        pools=tuple(_pools(between)),
        metadata_servers=tuple(
            MdsReading(key[0], _mean(between, key)) for key in later.keys(MDS_REPLY) if key[0].startswith("mds.")
        ),
    )


def _osds_at(scrape: CephScrape, metric: str, value: float) -> tuple[str, ...]:
    series = scrape.values.get(metric, {})
    return tuple(sorted(key[0] for key, found in series.items() if found == value and key[0].startswith(OSD)))


def _clients_stopped(checks: Iterable[str], flags: tuple[str, ...], age_seconds: float) -> Reading[bool]:
    """The manager says that flags are set, and names all but those that stop clients."""
    if _FLAG_CHECK not in checks:
        return Known(False, age_seconds)
    if flags:
        return Unknown(f"{', '.join(flags)} is set too, and the manager does not tell what else")
    return Known(True, age_seconds)


def _placement_groups(scrape: CephScrape, states: Iterable[str], age_seconds: float) -> Reading[float]:
    return _summed(scrape, states, age_seconds)


def _summed(scrape: CephScrape, metrics: Iterable[str], age_seconds: float) -> Reading[float]:
    there = [scrape.values[name] for name in metrics if name in scrape.values]
    if not there:
        return Unknown("the manager does not export it")
    return Known(sum(sum(series.values()) for series in there), age_seconds)


def _pools(between: Between) -> Iterable[PoolReading]:
    for number, name in sorted(between.later.values.get(POOL_ABOUT, {}), key=lambda key: key[1]):
        if name not in _OWN_POOLS:
            yield PoolReading(name, _amount(between, POOL_READ, number), _amount(between, POOL_WRITE, number))


def _amount(between: Between, names: Iterable[str], number: str) -> Reading[Amount]:
    added = between.added(names, (number,))
    if isinstance(added, Unknown) or between.earlier is None:
        return added if isinstance(added, Unknown) else Unknown("only one scrape so far")
    return Known(Amount(added[0], added[1], between.later.at - between.earlier.at), between.age_seconds)


def _mean(between: Between, key: tuple[str, ...]) -> Reading[float]:
    added = between.added(MDS_REPLY, key)
    if isinstance(added, Unknown):
        return added
    count, seconds = added
    return Known(seconds / count, between.age_seconds) if count > 0 else Unknown("nothing completed")
