"""Interfaces of RDMA devices that are Ethernet, priority by priority. Entries only; see `spellings.network`."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

NETWORK_PREFIX: Final = "trimtab_network_"
NETWORK_LABELS: Final = ("node", "device", "interface", "priority")

_ABSENT: Final = "no sample where the driver has no such counter"


def _entry(name: str, unit: Unit, meaning: str, *traps: str) -> Metric:
    traps = (*traps, _ABSENT)
    return Metric(NETWORK_PREFIX + name, Kind.COUNTER, unit, NETWORK_LABELS, Source.NORMALIZED, meaning, traps)


NETWORK: Final = (
    _entry("received_pause_packets_total", Unit.PACKETS, "Pauses asked of this sender: the switch's queue is full."),
    _entry("transmitted_pause_packets_total", Unit.PACKETS, "Pauses asked of the switch: this receiver is slow."),
    _entry("received_pause_seconds_total", Unit.SECONDS, "Time in which sending was paused."),
    _entry("transmitted_pause_seconds_total", Unit.SECONDS, "Time for which the switch was asked to pause."),
    _entry(
        "received_discarded_packets_total",
        Unit.PACKETS,
        "Packets dropped on reception for want of a buffer.",
        "on a priority that should lose nothing it means that its flow control is not set up",
    ),
    _entry("transmit_discarded_packets_total", Unit.PACKETS, "Packets dropped before they were sent."),
    _entry("congestion_discarded_packets_total", Unit.PACKETS, "Packets dropped by the device's own marking rule."),
    _entry("congestion_marked_packets_total", Unit.PACKETS, "Packets that the device marked as congested."),
    _entry("pause_storm_events_total", Unit.EVENTS, "Pauses so long that the device says so: a host that hangs."),
    _entry("received_bytes_total", Unit.BYTES, "Bytes received."),
    _entry("transmitted_bytes_total", Unit.BYTES, "Bytes sent."),
    _entry("received_packets_total", Unit.PACKETS, "Packets received."),
    _entry("transmitted_packets_total", Unit.PACKETS, "Packets sent."),
    _entry("corrupt_packets_total", Unit.PACKETS, "Packets with a bad checksum: cable, optics."),
    _entry("symbol_errors_total", Unit.ERRORS, "Errors of the physical layer: cable, optics."),
    _entry("link_down_events_total", Unit.EVENTS, "How often the link went down."),
)
