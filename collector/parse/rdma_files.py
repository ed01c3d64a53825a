"""The texts of files below /sys/class/infiniband → readings of each port, whichever driver wrote them. Pure: no I/O.

Each file is a sample of its own: one that can not be read, says "N/A" or stands at its end makes one reading Unknown
and hides no other, of this port or the next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from collector.catalogue.rdma import PORT_PREFIX
from collector.catalogue.spelling import Spelling
from collector.catalogue.spellings.rdma import SYSFS
from collector.model.collected import Collected, NormalReading, SampleCounts
from collector.model.reading import Known, Reading, Unknown
from collector.parse.plain_series import IMPLAUSIBLE, judged, unit_of, watched

SOURCE: Final = SYSFS.source
UNREADABLE: Final = "unreadable"
NOT_AVAILABLE: Final = "not available"
NOT_A_NUMBER: Final = "not a number"

_SPELLINGS: Final[Mapping[str, Spelling]] = {one.theirs: one for one in SYSFS.spellings}
_FULL_64_BITS: Final = float(2**64 - 1)
_WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,20}|0x[0-9a-fA-F]{1,16}")
_STATE: Final = re.compile(r"([0-9]+):\s*\S+")
_RATE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*Gb/sec")
_BYTES_PER_GIGABIT: Final = 1e9 / 8
_CLASS: Final = re.compile(r"(?:Global tclass=)?([0-9]{1,3})")
_HIGHEST_CLASS: Final = 255
_MTU: Final = re.compile(r"[0-9]{2,6}")
_ROUTED: Final = "RoCE v2"
_ACTIVE: Final = "4"
_LINK_UP: Final = "5"
_ABSENT: Final = re.compile(r"n/?a\b.*|not (?:available|supported).*|", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RdmaFile:
    """One file of one port; `problem`: why it could not be read, else ""."""

    device: str
    port: str
    """Empty for a file of the device."""
    name: str
    text: str = ""
    problem: str = ""
    is_counter: bool = False
    """Stands in counters/ or hw_counters/."""


def rdma_readings(files: Iterable[RdmaFile], node: str = "", time: float | None = None) -> Collected:
    """Readings of every port, in the order of the files."""
    kept = list(files)
    layers = {(one.device, one.port): one.text.strip() for one in kept if one.name == "link_layer" and not one.problem}
    used = passed = 0
    dropped = Counter[str]()
    readings: list[NormalReading] = []
    for one in kept:
        if one.name == "link_layer":
            continue  # a label of the samples, and none itself
        found = _read(one)
        if found is None and not one.problem:
            passed += 1
            continue
        if found is None:
            dropped[UNREADABLE] += 1
            continue
        ours, value, reason = found
        if reason:
            dropped[reason] += 1
        else:
            used += 1
        labels = {
            "node": node,
            "device": one.device,
            "port": one.port,
            "link_layer": layers.get((one.device, one.port), ""),
        }
        readings.append(NormalReading(ours, value, unit_of(ours), labels, time, SOURCE))
    said, changed = watched(readings, SYSFS.canaries)
    if changed:
        used, dropped[IMPLAUSIBLE] = used - changed, dropped[IMPLAUSIBLE] + changed
    return Collected(said, SampleCounts(used, passed, dict(dropped)), (SOURCE,))


def _read(one: RdmaFile) -> tuple[str, Reading[float], str] | None:
    """(our name, value, "" or the reason to drop it); None for a file that no metric is made of."""
    spelling = _SPELLINGS.get(one.name) if one.is_counter else None
    text_reader = None if one.is_counter else _TEXTS.get(one.name)
    if spelling is None and text_reader is None:
        return None
    ours = spelling.ours if spelling is not None else PORT_PREFIX + _NAMES[one.name]
    what = f"{one.device} port {one.port}: {one.name}" if one.port else f"{one.device}: {one.name}"
    if one.problem:
        return ours, Unknown(f"{what} could not be read: {one.problem}"), UNREADABLE
    text = one.text.strip()
    if _ABSENT.fullmatch(text):
        return ours, Unknown(f"{what} is not available on this port"), NOT_AVAILABLE
    if spelling is not None:
        return (ours, *_counter(spelling, text, what))
    value = text_reader(text) if text_reader is not None else None
    if value is None:
        return ours, Unknown(f"{what} is not understood: {text[:40]}"), NOT_A_NUMBER
    return ours, Known(value), ""


def _counter(spelling: Spelling, text: str, what: str) -> tuple[Reading[float], str]:
    if not _WHOLE_NUMBER.fullmatch(text):
        return Unknown(f"{what} is no whole number: {text[:40]}"), NOT_A_NUMBER
    value = float(int(text, 0) if text.startswith("0x") else int(text))
    if value >= _FULL_64_BITS:
        return Unknown(f"{what} stands at its end: it counts no more"), "saturated counter"
    return judged(spelling, value)


def _active(text: str) -> float | None:
    match = _STATE.fullmatch(text)
    return None if match is None else float(match[1] == _ACTIVE)


def _link_up(text: str) -> float | None:
    match = _STATE.fullmatch(text)
    return None if match is None else float(match[1] == _LINK_UP)


def _rate(text: str) -> float | None:
    match = _RATE.match(text)
    return None if match is None else float(match[1]) * _BYTES_PER_GIGABIT


def _traffic_class(text: str) -> float | None:
    match = _CLASS.fullmatch(text)
    return None if match is None or int(match[1]) > _HIGHEST_CLASS else float(match[1])


def _routed_gids(text: str) -> float | None:
    return float(sum(line.strip() == _ROUTED for line in text.splitlines()))


def _mtu(text: str) -> float | None:
    return float(text) if _MTU.fullmatch(text) else None


_TEXTS: Final = {
    "state": _active,
    "phys_state": _link_up,
    "rate": _rate,
    "traffic_class": _traffic_class,
    "gids": _routed_gids,
    "mtu": _mtu,
}
_NAMES: Final = {
    "state": "active",
    "phys_state": "link_up",
    "rate": "rate_bytes_per_second",
    "traffic_class": "traffic_class_code",
    "gids": "routed_gids",
    "mtu": "mtu_bytes",
}
