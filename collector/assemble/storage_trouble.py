"""Is a tenant's storage in trouble, and which OSD is it: the judgement and its one sentence. Pure.

An OSD is blamed for its own disk only, or because others are known to wait for it. Slow operations blame whoever waits,
often the healthy primary of a slow replica, so they are told and blame nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Final

from collector.assemble.disturbances import Disturbance, Kind, Scope
from collector.assemble.osd_blame import OsdFacts, blamed, commits
from collector.model.reading import Known, Reading, Unknown

_NAMED_AT_MOST: Final = 3
_FIRST: Final = {
    Kind.PAUSED: "a flag stops all clients (ceph osd unpause)",
    Kind.FULL: "an OSD or a pool is full, so that writes are refused",
    Kind.SILENT: "{where} counts as up and reports nothing",
    Kind.AWAITED: "operations of other OSDs wait for {where}",
}
_BESIDES: Final = {
    Kind.DOWN: "OSDs are down",
    Kind.RECOVERY: "recovery runs",
    Kind.SCRUB: "a scrub runs",
}
_AT_FAULT: Final = frozenset(_FIRST)


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


def storage_trouble(
    volumes: VolumeFacts, osds: Iterable[OsdFacts], going_on: Iterable[Disturbance] = ()
) -> StorageTrouble | None:
    """What is wrong with the storage of a tenant, or None.

    In trouble is who does I/O that does not end, whose mean latency is above the promise (what a mean is above, more
    than the promised share of operations almost surely is too), or, without a promise, who uses a cluster with an OSD
    to blame. `going_on`: what else disturbs the cluster, which is told as its cause where no disk is.
    """
    ordered = sorted(osds, key=lambda osd: osd.name)
    to_blame, disturbed = blamed(ordered), {one.kind: one for one in going_on}
    worst, limit = volumes.worst_latency_seconds, volumes.limit_seconds
    if isinstance(volumes.stalled, Known) and volumes.stalled.value:
        wait = "complete nothing"
    elif worst is not None and limit is not None and worst > limit:
        wait = f"wait {_milliseconds(worst)} (objective {_milliseconds(limit)})"
    elif worst is not None and limit is None and (to_blame or not _AT_FAULT.isdisjoint(disturbed)):
        wait = f"wait {_milliseconds(worst)}"
    else:
        return None
    about = _about_cluster(disturbed) or _about_osds(ordered, to_blame, disturbed)
    return StorageTrouble(volumes.tenant, f"Ceph: {about}; volumes of tenant {volumes.tenant} {wait}")


def _about_cluster(disturbed: Mapping[Kind, Disturbance]) -> str:
    """What explains it whatever the disks do; "" for nothing."""
    for kind, words in _FIRST.items():
        if kind in disturbed:
            return words.format(where=disturbed[kind].where or "several OSDs")
    return ""


def _and_besides(disturbed: Mapping[Kind, Disturbance]) -> str:
    """What takes disks and network from clients meanwhile."""
    words = [told for kind, told in _BESIDES.items() if kind in disturbed]
    return f", while {' and '.join(words)}" if words else ""


def _on_host(disturbed: Mapping[Kind, Disturbance], kind: Kind) -> str:
    one = disturbed.get(kind)
    return f" (host {one.where})" if one is not None and one.scope is Scope.HOST else ""


def _about_osds(osds: Sequence[OsdFacts], to_blame: Sequence[OsdFacts], disturbed: Mapping[Kind, Disturbance]) -> str:
    besides = _and_besides(disturbed)
    if to_blame:
        seconds_of = commits(osds)
        names = [osd.name for osd in to_blame]
        slowest = _listed([f"{name} commits in {_milliseconds(seconds_of[name])}" for name in names])
        others = [seconds for name, seconds in seconds_of.items() if name not in names]
        told = f"{slowest}, others in {_milliseconds(median_low(others))}" if others else slowest
        return f"{told}{_on_host(disturbed, Kind.SLOW_DISK)}{besides}"
    stalled = [osd.name for osd in osds if isinstance(osd.stalled, Known) and osd.stalled.value]
    if stalled:
        return f"operations at {_listed(stalled)} do not end{_on_host(disturbed, Kind.STALL)}{besides}"
    slow = {osd.name: osd.slow_operations.value for osd in osds if isinstance(osd.slow_operations, Known)}
    complaining = [name for name, count in slow.items() if count > 0]
    if complaining:
        return f"{sum(slow.values()):.0f} slow operations at {_listed(complaining)}{besides}"
    return f"no OSD stands out{besides}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.{0 if seconds >= 0.01 else 1}f} ms"


def _listed(words: Sequence[str]) -> str:
    rest = len(words) - _NAMED_AT_MOST
    return ", ".join(words[:_NAMED_AT_MOST]) + (f" and {rest} more" if rest > 0 else "")
