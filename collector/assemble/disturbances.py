"""What goes on in a Ceph cluster that makes storage slow, and how far it reaches: an OSD, a host, the cluster. Pure.

Who waits is told apart from who is waited for: a stall is what OSDs are in, and its scope is that of those that wait; a
slow disk, a silent OSD and one that others wait for are at fault themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from collector.assemble.ceph_memory import CephState
from collector.assemble.osd_blame import OsdFacts, blamed
from collector.model.reading import Known, Reading, Unknown

AWAITED_FROM: Final = 2.0
"""Operations that must wait for an OSD, and for it alone, before it is named."""
SLOW_EVENTS_FROM: Final = 1.0
_NAMED_AT_MOST: Final = 3


class Scope(StrEnum):
    """How far it reaches."""

    NONE = "none"
    """It does not go on."""
    OSD = "osd"
    HOST = "host"
    CLUSTER = "cluster"


class Kind(StrEnum):
    """What goes on, worst first."""

    PAUSED = "paused"
    """A flag keeps clients from reading or writing."""
    FULL = "full"
    """Writes are refused: an OSD or a pool is full."""
    SILENT = "silent"
    """The cluster counts the OSD as up, and it reports nothing."""
    AWAITED = "awaited"
    """Operations of others wait for it; only with admin access."""
    STALL = "stall"
    """Operations are in flight there and do not end; it may be others that they wait for."""
    SLOW_DISK = "slow-disk"
    """It commits far slower than its peers."""
    SLOW_STORE = "slow-store"
    """Its store counted waits of seconds; load alone does that too."""
    DOWN = "down"
    RECOVERY = "recovery"
    SCRUB = "scrub"


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One kind of it. `where`: OSDs or hosts, a few; "" for the cluster as a whole."""

    kind: Kind
    scope: Scope
    where: str = ""


def disturbances(state: CephState) -> Mapping[Kind, Reading[Disturbance]]:
    """Every kind: what goes on, scope `none` where it does not, Unknown where nobody can tell."""
    cluster, hosts = state.cluster, state.cluster.hosts
    every = [osd.name for osd in state.readings.osds]
    facts = [OsdFacts(osd.name, commit_latency_seconds=osd.commit_latency_seconds) for osd in state.readings.osds]
    found: dict[Kind, Reading[Disturbance]] = {
        Kind.PAUSED: _whole(Kind.PAUSED, _paused(state)),
        Kind.FULL: _whole(Kind.FULL, Known(cluster.full)),
        Kind.RECOVERY: _whole(Kind.RECOVERY, _above_zero(cluster.recovering)),
        Kind.SCRUB: _whole(Kind.SCRUB, _above_zero(cluster.scrubbing)),
    }
    osds: Mapping[Kind, Reading[Collection[str]]] = {
        Kind.SILENT: Known(state.silent_osds),
        Kind.AWAITED: _awaited(state.awaited),
        Kind.STALL: _stalled(state),
        Kind.SLOW_DISK: Known([osd.name for osd in blamed(facts)]),
        Kind.SLOW_STORE: _slow_store(state),
        Kind.DOWN: Known(cluster.down),
    }
    for kind, reading in osds.items():
        found[kind] = reading if isinstance(reading, Unknown) else Known(reached(kind, reading.value, every, hosts))
    return {kind: found[kind] for kind in Kind}


def reached(kind: Kind, osds: Collection[str], every: Collection[str], hosts: Mapping[str, str]) -> Disturbance:
    """How far it reaches when it is about these OSDs of `every`. `hosts`: OSD → host.

    A host is named when half of its OSDs and two at least are concerned; half of all OSDs, on more than one host or on
    the only one, are the cluster.
    """
    if not osds:
        return Disturbance(kind, Scope.NONE)
    if len(osds) == 1:
        return Disturbance(kind, Scope.OSD, next(iter(osds)))
    on_host: defaultdict[str, set[str]] = defaultdict(set)
    for name in every:
        on_host[hosts.get(name, "")].add(name)
    concerned = {host for host, own in on_host.items() if host and len(own & set(osds)) >= max(2, len(own) / 2)}
    several = len(on_host) > 1
    if len(concerned) == 1 and several:
        (host,) = concerned
        if all(hosts.get(name) == host for name in osds):
            return Disturbance(kind, Scope.HOST, host)
    if 2 * len(osds) >= len(every) or len(concerned) > 1:
        return Disturbance(kind, Scope.CLUSTER, _listed(sorted(concerned)) if several else "")
    return Disturbance(kind, Scope.OSD, _listed(sorted(osds)))


def _whole(kind: Kind, goes_on: Reading[bool]) -> Reading[Disturbance]:
    if isinstance(goes_on, Unknown):
        return goes_on
    return Known(Disturbance(kind, Scope.CLUSTER if goes_on.value else Scope.NONE), goes_on.age_seconds)


def _paused(state: CephState) -> Reading[bool]:
    """By its flag; where that can not be told from others, by the clients that have all stopped."""
    stopped = state.cluster.clients_stopped
    if isinstance(stopped, Known) or not (state.paused and state.waiting_images):
        return stopped
    return Known(value=True)


def _above_zero(reading: Reading[float]) -> Reading[bool]:
    return reading if isinstance(reading, Unknown) else Known(reading.value > 0, reading.age_seconds)


def _awaited(awaited: Reading[Mapping[str, float]]) -> Reading[Collection[str]]:
    if isinstance(awaited, Unknown):
        return awaited
    return Known([name for name, count in sorted(awaited.value.items()) if count >= AWAITED_FROM])


def _stalled(state: CephState) -> Reading[Collection[str]]:
    judged = state.stalled_osds.values()
    if judged and not any(isinstance(one, Known) for one in judged):
        return next(one for one in judged if isinstance(one, Unknown))
    return Known([name for name, one in state.stalled_osds.items() if isinstance(one, Known) and one.value])


def _slow_store(state: CephState) -> Reading[Collection[str]]:
    counts = [osd.slow_events for osd in state.readings.osds]
    if not any(isinstance(one, Known) for one in counts) and not state.slow_events:
        return next((one for one in counts if isinstance(one, Unknown)), Unknown("there is no OSD"))
    return Known([name for name, count in sorted(state.slow_events.items()) if count >= SLOW_EVENTS_FROM])


def going_on(found: Iterable[Reading[Disturbance]]) -> Iterator[Disturbance]:
    """Those that go on."""
    return (one.value for one in found if isinstance(one, Known) and one.value.scope is not Scope.NONE)


def _listed(names: list[str]) -> str:
    rest = len(names) - _NAMED_AT_MOST
    return ", ".join(names[:_NAMED_AT_MOST]) + (f" and {rest} more" if rest > 0 else "")
