"""What the counters of an RDMA port mean together: congestion, loss, a slow receiver, a cable, a flap. Pure.

Rates between two looks of one port. A counter that is unknown, began anew or stands at its end says nothing; a trouble
of which no counter says anything is Unknown, never none. Judges no rate: what is much depends on the load beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.catalogue.metric import TROUBLES
from collector.catalogue.rdma import PORT_PREFIX
from collector.model.collected import NormalReading
from collector.model.reading import Known, Reading, Unknown

PortKey = tuple[str, str, str]
"""(device, port, link layer)"""

_MEANS: Final[Mapping[str, tuple[str, ...]]] = {
    "congestion": (
        "congestion_marked_packets_total",
        "congestion_notices_sent_packets_total",
        "congestion_notices_handled_packets_total",
    ),
    "waiting": ("transmit_wait_ticks_total",),
    "loss": (
        "sequence_errors_total",
        "implied_sequence_errors_total",
        "acknowledge_timeout_errors_total",
        "retries_exceeded_errors_total",
        "duplicate_request_packets_total",
        "adaptive_retransmit_packets_total",
        "adaptive_retransmit_timeout_events_total",
        "transmit_discarded_packets_total",
    ),
    "slow-receiver": ("receiver_not_ready_errors_total", "out_of_buffer_packets_total"),
    "cable": (
        "symbol_errors_total",
        "link_integrity_errors_total",
        "corrupt_packets_total",
        "received_errors_total",
    ),
    "flap": ("link_down_events_total", "link_recovery_events_total"),
    "misconfigured": ("congestion_notices_ignored_packets_total",),
}
_VOLUME: Final = (
    "received_packets_total",
    "transmitted_packets_total",
    "received_bytes_total",
    "transmitted_bytes_total",
)
_NOT_TOLD: Final = Unknown("the port does not count it")
_KEPT: Final = frozenset(PORT_PREFIX + name for name in _VOLUME)
_TROUBLE_OF: Final = {f"{PORT_PREFIX}{name}": trouble for trouble, names in _MEANS.items() for name in names}
_SHORTEST_SECONDS: Final = 1.0
_BOTH_NEEDED: Final = "a rate takes two readings of a counter"


@dataclass(frozen=True, slots=True)
class PortLoad:
    """How busy a port is: packets in a second both ways, and the share of its speed that the busier way takes."""

    packets_per_second: float
    ratio: float


@dataclass(frozen=True, slots=True)
class _Look:
    at: float
    counters: Mapping[PortKey, Mapping[str, Reading[float]]]


@dataclass(frozen=True, slots=True)
class PortMemory:
    """The looks of the last `window_seconds`, the oldest first. Immutable."""

    window_seconds: float = 60.0
    looks: tuple[_Look, ...] = field(default=())

    def advance(self, readings: Iterable[NormalReading], now: float) -> PortMemory:
        """With one more look. Of those that are older than the window the youngest stays: it is compared with."""
        looks = [one for one in self.looks if one.at <= now]
        begin = max((n for n, one in enumerate(looks) if one.at <= now - self.window_seconds), default=0)
        return PortMemory(self.window_seconds, (*looks[begin:], _Look(now, _counters(readings))))

    def loads(self, speeds: Mapping[PortKey, float]) -> Mapping[PortKey, Reading[PortLoad]]:
        """How busy each port of the last look is; `speeds` in bytes per second."""
        last = self.looks[-1] if self.looks else None
        if last is None:
            return {}
        before = {port: next((one for one in self.looks[:-1] if port in one.counters), None) for port in last.counters}
        return {port: _load(before[port], last, port, speeds.get(port, 0.0)) for port in last.counters}

    def troubles(self) -> Iterator[tuple[PortKey, str, Reading[float]]]:
        """(port, trouble, events in a second) of each port of the last look, each trouble."""
        if not self.looks:
            return
        last = self.looks[-1]
        for port, counters in last.counters.items():
            before = next((one for one in self.looks[:-1] if port in one.counters), None)
            for trouble in TROUBLES:
                yield port, trouble, _rate(trouble, before, last, port, counters)


def _load(before: _Look | None, last: _Look, port: PortKey, speed: float) -> Reading[PortLoad]:
    if before is None or last.at - before.at < _SHORTEST_SECONDS:
        return Unknown(_BOTH_NEEDED)
    seconds, moved = last.at - before.at, dict[str, float]()
    for name in _VOLUME:
        earlier, later = (look.counters[port].get(PORT_PREFIX + name, _NOT_TOLD) for look in (before, last))
        grown = _grown(earlier, later)
        if isinstance(grown, Unknown):
            return grown
        moved[name] = grown.value / seconds
    received, sent, *both_bytes = moved.values()
    return Known(PortLoad(received + sent, max(both_bytes) / speed)) if speed else Unknown("its speed is not known")


def _rate(
    trouble: str, before: _Look | None, last: _Look, port: PortKey, counters: Mapping[str, Reading[float]]
) -> Reading[float]:
    if before is None or last.at - before.at < _SHORTEST_SECONDS:
        return Unknown(_BOTH_NEEDED)
    total, reasons = None, []
    for name in _MEANS[trouble]:
        told = counters.get(f"{PORT_PREFIX}{name}")
        if told is None:
            continue
        grown = _grown(before.counters[port].get(f"{PORT_PREFIX}{name}"), told)
        if isinstance(grown, Known):
            total = (total or 0.0) + grown.value
        else:
            reasons.append(grown.reason)
    if total is None:
        return Unknown(reasons[0] if reasons else "the port has no counter of it")
    return Known(total / (last.at - before.at))


def _grown(earlier: Reading[float] | None, later: Reading[float]) -> Reading[float]:
    if isinstance(later, Unknown):
        return later
    if earlier is None:
        return Unknown(_BOTH_NEEDED)
    if isinstance(earlier, Unknown):
        return earlier
    if later.value < earlier.value:
        return Unknown("the counter began anew")
    return Known(later.value - earlier.value)


def _counters(readings: Iterable[NormalReading]) -> Mapping[PortKey, Mapping[str, Reading[float]]]:
    found: dict[PortKey, dict[str, Reading[float]]] = {}
    for reading in readings:
        labels = reading.labels
        if not reading.name.startswith(PORT_PREFIX):
            continue
        counters = found.setdefault((labels["device"], labels["port"], labels["link_layer"]), {})
        if reading.name in _TROUBLE_OF or reading.name in _KEPT:
            counters[reading.name] = reading.value
    return found
