"""The counters of an RDMA device's network interface (`ethtool -S`) → readings by priority. Pure: no I/O.

What a driver does not count has no reading. An interface whose driver shows nothing is one Unknown, with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.catalogue.network import NETWORK_PREFIX
from collector.catalogue.spelling import Spelling
from collector.catalogue.spellings.network import ETHTOOL
from collector.model.collected import Collected, NormalReading, SampleCounts
from collector.model.reading import Known, Unknown
from collector.parse.plain_series import judged, unit_of
from collector.parse.rdma_files import UNREADABLE

SOURCE: Final = ETHTOOL.source
_SPELLINGS: Final[Mapping[str, Spelling]] = {one.theirs: one for one in ETHTOOL.spellings}
_FIRST: Final = f"{NETWORK_PREFIX}received_pause_packets_total"
"""Stands for all counters of an interface that shows none."""


@dataclass(frozen=True, slots=True)
class InterfaceCounters:
    """What the driver of one interface counts; `problem`: why nothing could be read, else ""."""

    device: str
    """The RDMA device that it belongs to."""
    interface: str
    counters: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""


def interface_readings(interfaces: Iterable[InterfaceCounters], node: str = "", time: float | None = None) -> Collected:
    """Readings of every interface. A counter that a driver tells twice counts once, by its higher value."""
    used = passed = 0
    dropped = Counter[str]()
    readings: list[NormalReading] = []
    for one in interfaces:
        if one.problem:
            dropped[UNREADABLE] += 1
            readings.append(_unreadable(one, node, time))
            continue
        found: dict[tuple[str, str], NormalReading] = {}
        for reading, reason in _of_interface(one, node, time):
            used, dropped[reason] = (used, dropped[reason] + 1) if reason else (used + 1, dropped[reason])
            key = (reading.name, reading.labels["priority"])
            if _is_higher(reading, found.get(key)):
                found[key] = reading
        passed += sum(name not in _SPELLINGS for name in one.counters)
        readings.extend(found.values())
    return Collected(tuple(readings), SampleCounts(used, passed, +dropped), (SOURCE,))


def _of_interface(one: InterfaceCounters, node: str, time: float | None) -> Iterator[tuple[NormalReading, str]]:
    for name, count in one.counters.items():
        spelling = _SPELLINGS.get(name)
        if spelling is not None:
            value, reason = judged(spelling, float(count))
            labels = {"node": node, "device": one.device, "interface": one.interface, **dict(spelling.labels)}
            yield NormalReading(spelling.ours, value, unit_of(spelling.ours), labels, time, SOURCE), reason


def _unreadable(one: InterfaceCounters, node: str, time: float | None) -> NormalReading:
    why = Unknown(f"{one.device}: counters of {one.interface} could not be read: {one.problem}")
    labels = {"node": node, "device": one.device, "interface": one.interface, "priority": ""}
    return NormalReading(_FIRST, why, unit_of(_FIRST), labels, time, SOURCE)


def _is_higher(reading: NormalReading, than: NormalReading | None) -> bool:
    if than is None or not isinstance(than.value, Known):
        return True
    return isinstance(reading.value, Known) and reading.value.value > than.value.value
