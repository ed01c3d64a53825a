"""Who in a Ceph cluster gets on from look to look, and since when who does not. Pure.

Only what completes has a latency: an OSD that hangs has none, so it is watched for what it does not do. Counters of
images come by way of the manager, which collects now and then: they are compared from one of its rounds to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from collector.assemble.storage_bursts import Bursts
from collector.model.reading import Known, Reading, Unknown
from collector.parse.ceph import (
    Between,
    CephScrape,
    ImageReading,
    OsdReading,
    Transfer,
    commit_latencies_seconds,
    osds_in_flight,
    osds_with_slow_operations,
)
from collector.parse.ceph_cluster import cluster_readings
from collector.parse.ceph_names import OSD_WRITE, RbdImage

_Name = TypeVar("_Name")


@dataclass(frozen=True, slots=True)
class Worst:
    """The greatest mean latency between two looks next to each other, in seconds; None where nothing completed."""

    read: float | None = None
    write: float | None = None

    def or_worse(self, other: Worst) -> Worst:
        """The greater of each."""
        read, write = _greater(self.read, other.read), _greater(self.write, other.write)
        return self if (read, write) == (self.read, self.write) else Worst(read, write)


def _greater(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


@dataclass(frozen=True, slots=True)
class Look:
    """What one look added."""

    at: float
    osds: Mapping[str, Worst]
    images: Mapping[RbdImage, Worst]
    commits: Mapping[str, float]
    """OSD → seconds that its disk took for the last commits, of those that committed something."""
    slow_events: Mapping[str, float]
    """OSD → waits of seconds in its store, of those that count them."""
    stalls: Mapping[str, float]
    """OSD → for how many seconds it has not got on."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Everything that is known of who gets on. `advanced` makes the next one."""

    watched_since: float | None = None
    looks: tuple[Look, ...] = ()
    stuck_since: Mapping[str, float] = field(default_factory=dict)
    """OSD → since when it has operations in flight and completes none, or slow ones and no write."""
    unjudged: Mapping[str, Unknown] = field(default_factory=dict)
    """OSDs whose counters are not exported."""
    completed_at: Mapping[RbdImage, float] = field(default_factory=dict)
    """When an image was last seen to have completed something."""
    rests_since: float | None = None
    """Since when slow operations are there and no image completes: for clusters that count no operations of OSDs."""
    paused_since: float | None = None
    """Since when clients may be stopped by a flag and no image completes."""
    counted: frozenset[str] = frozenset()
    """OSDs that are up and whose own counters were there once."""
    silent: frozenset[str] = frozenset()
    """Of these, those whose counters have vanished while those of others have not."""
    round_scrape: CephScrape | None = None
    """The first look at the manager's last round."""
    bursts: Bursts = field(default_factory=Bursts)

    def advanced(self, earlier: CephScrape | None, later: CephScrape, window_seconds: float) -> Progress:
        """After one more look."""
        osds = Between(earlier, later, 0.0).osds()
        stuck = {} if earlier is None else _stuck(self.stuck_since, earlier, later, osds)
        stepped = replace(
            self,
            watched_since=later.at if self.watched_since is None else self.watched_since,
            stuck_since=stuck,
            unjudged={osd.name: osd.completed for osd in osds if isinstance(osd.completed, Unknown)},
            counted=_counted(self.counted, later, osds),
            silent=_silent(self.counted, later, osds),
        )
        images: tuple[ImageReading, ...] = ()
        if self._is_new_round(later):
            images = Between(self.round_scrape, later, 0.0).images()
            stepped = stepped._rounded(later, images, osds)
        look = Look(
            at=later.at,
            osds=_worsts((osd.name, osd.read, osd.write) for osd in osds),
            images=_worsts((image.image, image.read, image.write) for image in images),
            commits=commit_latencies_seconds(later),
            slow_events={osd.name: osd.slow_events.value for osd in osds if isinstance(osd.slow_events, Known)},
            stalls={name: later.at - since for name, since in stuck.items()},
        )
        kept = tuple(one for one in self.looks if later.at - one.at < window_seconds)
        return replace(stepped, looks=(*kept, look))

    def stalled(self, stall_seconds: float, at: float) -> Mapping[str, float]:
        """OSD → since when, of those that have not got on for so long."""
        return {name: since for name, since in self.stuck_since.items() if at - since >= stall_seconds}

    def stall_began_at(self, stall_seconds: float, at: float) -> float | None:
        """Since when something keeps images waiting; None while nothing does."""
        runs = [*self.stalled(stall_seconds, at).values()]
        runs += [run for run in (self.rests_since, self.paused_since) if run is not None and at - run >= stall_seconds]
        return min(runs, default=None)

    def waiting_images(self, stall_seconds: float, window_seconds: float, at: float) -> frozenset[RbdImage]:
        """Images that did I/O until the stall began, and have done none since, though the manager has looked."""
        began = self.stall_began_at(stall_seconds, at)
        looked = self.round_scrape.at if self.round_scrape is not None else at
        if began is None or looked <= began:
            return frozenset()
        since, until = began - window_seconds, min(looked, at - stall_seconds)
        return frozenset(image for image, done in self.completed_at.items() if since <= done <= until and done < looked)

    def _is_new_round(self, later: CephScrape) -> bool:
        last = self.round_scrape
        return last is None or later.collected is None or later.collected != last.collected

    def _rounded(self, later: CephScrape, images: Iterable[ImageReading], osds: Iterable[OsdReading]) -> Progress:
        """After a new round of the manager. `images`: between the last one and this one."""
        completed_at: dict[RbdImage, float] = {}
        moved = False
        for one in images:
            if isinstance(one.completed, Known) and one.completed.value > 0:
                completed_at[one.image], moved = later.at, True
            elif one.image in self.completed_at:
                completed_at[one.image] = self.completed_at[one.image]
        last = self.round_scrape
        known = any(isinstance(osd.completed, Known) for osd in osds)
        slow = last is not None and bool(osds_in_flight(last)) and bool(osds_in_flight(later))
        stopped = last is not None and _may_be_stopped(last) and _may_be_stopped(later)
        return replace(
            self,
            completed_at=completed_at,
            rests_since=_run(self.rests_since, last, slow and not moved and not known),
            paused_since=_run(self.paused_since, last, stopped and not moved),
            round_scrape=later,
            bursts=self.bursts.advanced(images, later.at),
        )


def _run(since: float | None, last: CephScrape | None, goes_on: bool) -> float | None:
    """Since when a state lasts that began at the look before at the latest."""
    if not goes_on or last is None:
        return None
    return last.at if since is None else since


def _may_be_stopped(scrape: CephScrape) -> bool:
    cluster = cluster_readings(None, scrape)
    return cluster.full or cluster.clients_stopped != Known(False)


def _stuck(
    before: Mapping[str, float], earlier: CephScrape, later: CephScrape, osds: Iterable[OsdReading]
) -> Mapping[str, float]:
    """Who got on with nothing between two looks at both of which it had something to do."""
    in_flight = osds_in_flight(earlier) & osds_in_flight(later)
    slow = osds_with_slow_operations(earlier) & osds_with_slow_operations(later)
    found: dict[str, float] = {}
    for osd in osds:
        if isinstance(osd.completed, Unknown):
            continue
        hangs = osd.name in in_flight and osd.completed.value == 0
        # Reads go on while a replica hangs.
        writes_hang = osd.name in slow and _is_zero(osd.write)
        if hangs or writes_hang:
            found[osd.name] = before.get(osd.name, earlier.at)
    return found


def _is_zero(transfer: Reading[Transfer]) -> bool:
    return isinstance(transfer, Known) and transfer.value.operations == 0


def _with_counters(scrape: CephScrape) -> frozenset[str]:
    return frozenset(key[0] for key in scrape.values.get(OSD_WRITE.operations, {}))


def _up(osds: Iterable[OsdReading]) -> frozenset[str]:
    return frozenset(osd.name for osd in osds if isinstance(osd.up, Known) and osd.up.value)


def _counted(before: frozenset[str], later: CephScrape, osds: Iterable[OsdReading]) -> frozenset[str]:
    return (before | _with_counters(later)) & _up(osds)


def _silent(before: frozenset[str], later: CephScrape, osds: Iterable[OsdReading]) -> frozenset[str]:
    """Where all counters are gone it is the page that is missing, and no OSD."""
    counted = _with_counters(later)
    gone = (before - counted) & _up(osds) if counted else frozenset()
    return gone | frozenset(cluster_readings(None, later).unreached) & _up(osds)


def _worsts(rows: Iterable[tuple[_Name, Reading[Transfer], Reading[Transfer]]]) -> Mapping[_Name, Worst]:
    found = ((name, Worst(_mean(read), _mean(write))) for name, read, write in rows)
    return {name: worst for name, worst in found if worst != Worst()}


def _mean(transfer: Reading[Transfer]) -> float | None:
    mean = transfer if isinstance(transfer, Unknown) else transfer.value.mean_latency_seconds
    return mean.value if isinstance(mean, Known) else None
