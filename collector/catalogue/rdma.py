"""RDMA ports and probes under one set of names. Entries only; the spellings of drivers stand in `spellings`."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

PORT_PREFIX: Final = "trimtab_rdma_port_"
PORT_LABELS: Final = ("node", "device", "port", "link_layer")
PROBE_LABELS: Final = ("tool", "operation", "path", "device", "bytes", "statistic")

TROUBLE: Final = "trimtab_rdma_port_trouble_events_per_second"
RDMA_HOLDER: Final = "trimtab_rdma_device_holder_info"
RDMA_HELD: Final = "trimtab_rdma_held_devices"
UNUSUAL: Final = "trimtab_rdma_port_trouble_unusual"
WRONG_SETTING: Final = "trimtab_rdma_port_wrong_setting"
PROBE_LATENCY: Final = "trimtab_rdma_probe_latency_seconds"
PROBE_OVERHEAD: Final = "trimtab_rdma_probe_overhead_seconds"
PROBE_BANDWIDTH: Final = "trimtab_rdma_probe_bandwidth_bytes_per_second"
PROBE_RATE: Final = "trimtab_rdma_probe_messages_per_second"

_WORDS: Final = "drivers count words of four bytes: multiplied here, once"


def _port(name: str, unit: Unit, meaning: str, *traps: str) -> Metric:
    kind = Kind.COUNTER if name.endswith("_total") else Kind.GAUGE
    return Metric(PORT_PREFIX + name, kind, unit, PORT_LABELS, Source.NORMALIZED, meaning, traps)


def _probe(name: str, unit: Unit, meaning: str, *traps: str) -> Metric:
    return Metric(name, Kind.GAUGE, unit, PROBE_LABELS, Source.NORMALIZED, meaning, traps)


_STATE: Final = (
    _port("active", Unit.TRUTH, "Whether the port's logical state is active."),
    _port("link_up", Unit.TRUTH, "Whether the port's physical state is up."),
    _port("rate_bytes_per_second", Unit.BYTES_PER_SECOND, "Speed of the link.", "half of the usual is a cable"),
    _port(
        "mtu_bytes",
        Unit.BYTES,
        "Largest packet of the port's network interface.",
        "RDMA takes the next smaller of 256 to 4096: below 4200 it is not 4096",
    ),
    _port(
        "routed_gids",
        Unit.GIDS,
        "GIDs of RoCE v2 among the first sixteen places.",
        "0 on InfiniBand, which has none",
    ),
    _port(
        "traffic_class_code",
        Unit.CODE,
        "Traffic class that the driver gives to all RDMA of the port.",
        "no sample where it is left to the programs",
    ),
    _port("counter_refresh_seconds", Unit.SECONDS, "How often the device refreshes its own counters."),
)
_VOLUME: Final = (
    _port("received_bytes_total", Unit.BYTES, "Bytes received.", _WORDS),
    _port("transmitted_bytes_total", Unit.BYTES, "Bytes sent.", _WORDS),
    _port("received_packets_total", Unit.PACKETS, "Packets received."),
    _port("transmitted_packets_total", Unit.PACKETS, "Packets sent."),
    _port("unicast_received_packets_total", Unit.PACKETS, "Packets to one receiver, received."),
    _port("unicast_transmitted_packets_total", Unit.PACKETS, "Packets to one receiver, sent."),
    _port("multicast_received_packets_total", Unit.PACKETS, "Packets to many receivers, received."),
    _port("multicast_transmitted_packets_total", Unit.PACKETS, "Packets to many receivers, sent."),
    _port("read_requests_total", Unit.REQUESTS, "Read requests received."),
    _port("write_requests_total", Unit.REQUESTS, "Write requests received."),
    _port("atomic_requests_total", Unit.REQUESTS, "Atomic requests received."),
)
_CONGESTION: Final = (
    _port(
        "transmit_wait_ticks_total",
        Unit.TICKS,
        "Ticks with data to send and no leave to: congestion downstream.",
        "old firmware stops at 4294967295: unknown then, not fine",
    ),
    _port("congestion_marked_packets_total", Unit.PACKETS, "Packets that a switch had marked: its queue is long."),
    _port("congestion_notices_sent_packets_total", Unit.PACKETS, "Notices of congestion sent back: incast here."),
    _port("congestion_notices_handled_packets_total", Unit.PACKETS, "Notices that made this sender slower."),
    _port(
        "congestion_notices_ignored_packets_total",
        Unit.PACKETS,
        "Notices that this sender ignored: its congestion control is off.",
    ),
    _port("out_of_buffer_packets_total", Unit.PACKETS, "Packets dropped because the application had posted no buffer."),
    _port("receiver_not_ready_errors_total", Unit.ERRORS, "Refusals by a receiver without a buffer: slow application."),
)
_LOSS: Final = (
    _port(
        "out_of_sequence_packets_total", Unit.PACKETS, "Packets that came out of order: loss, or balancing per packet."
    ),
    _port("sequence_errors_total", Unit.ERRORS, "Refusals for a wrong sequence: the peer saw a loss."),
    _port("implied_sequence_errors_total", Unit.ERRORS, "Gaps in answers to reads and atomics: loss."),
    _port(
        "acknowledge_timeout_errors_total",
        Unit.ERRORS,
        "No acknowledgement in time: a black hole, a dead peer or heavy loss.",
    ),
    _port("retries_exceeded_errors_total", Unit.ERRORS, "Connections that broke since retries did not help."),
    _port("duplicate_request_packets_total", Unit.PACKETS, "Requests seen twice: an acknowledgement was lost."),
    _port("adaptive_retransmit_packets_total", Unit.PACKETS, "Packets sent again by adaptive retransmission."),
    _port("adaptive_retransmit_timeout_events_total", Unit.EVENTS, "Timeouts of adaptive retransmission."),
    _port("slow_restart_events_total", Unit.EVENTS, "Slow restarts after idleness or loss."),
    _port("corrupt_packets_total", Unit.PACKETS, "Packets with a bad checksum: cable or corruption."),
    _port("transmit_discarded_packets_total", Unit.PACKETS, "Packets that could not be sent and were discarded."),
    _port("receive_discarded_packets_total", Unit.PACKETS, "Packets that were received and discarded."),
    _port("vl15_dropped_packets_total", Unit.PACKETS, "Packets of management dropped."),
)
_LINK: Final = (
    _port("link_down_events_total", Unit.EVENTS, "How often the link went down."),
    _port("link_recovery_events_total", Unit.EVENTS, "How often the link recovered from an error."),
    _port("symbol_errors_total", Unit.ERRORS, "Errors of the physical layer: cable, optics."),
    _port("link_integrity_errors_total", Unit.ERRORS, "Errors of the link's integrity."),
    _port("buffer_overrun_errors_total", Unit.ERRORS, "Overruns of the port's buffer."),
    _port("received_errors_total", Unit.ERRORS, "Packets received with an error."),
    _port("remote_physical_errors_total", Unit.ERRORS, "Packets that were bad before they came."),
    _port("switch_relay_errors_total", Unit.ERRORS, "Packets that a switch could not relay."),
    _port("receive_constraint_errors_total", Unit.ERRORS, "Packets refused on reception by a rule of the port."),
    _port("transmit_constraint_errors_total", Unit.ERRORS, "Packets refused on sending by a rule of the port."),
)
_COMPLETION: Final = (
    _port(
        "request_errors_total", Unit.ERRORS, "Requests that completed with an error: an application, or a dead peer."
    ),
    _port("request_flushed_errors_total", Unit.ERRORS, "Requests flushed when their connection broke."),
    _port("response_errors_total", Unit.ERRORS, "Responses that completed with an error."),
    _port("response_flushed_errors_total", Unit.ERRORS, "Responses flushed when their connection broke."),
    _port(
        "remote_access_errors_total", Unit.ERRORS, "Accesses to memory that a peer refused or that were refused here."
    ),
    _port("invalid_request_errors_total", Unit.ERRORS, "Requests that a peer found invalid."),
    _port("local_length_errors_total", Unit.ERRORS, "Messages longer than the buffer posted for them."),
)
_MEANING: Final = (
    Metric(
        TROUBLE,
        Kind.GAUGE,
        Unit.EVENTS_PER_SECOND,
        ("cluster", *PORT_LABELS, "trouble"),
        Source.COLLECTOR,
        "Rate, over the last minute or so, of the counters that mean one kind of trouble.",
        (
            "an all-reduce makes some by itself: trimtab_rdma_port_trouble_unusual compares at similar load",
            "waiting counts ticks of the port's clock: never add it to another trouble",
            "no sample when every counter of the trouble is absent, has begun anew or has stopped",
            "out_of_sequence counts for no trouble: balancing per packet makes it as well",
        ),
    ),
)
_UNUSUAL: Final = (
    Metric(
        UNUSUAL,
        Kind.GAUGE,
        Unit.TRUTH,
        ("cluster", *PORT_LABELS, "trouble"),
        Source.COLLECTOR,
        "1 where a port has more than twice as much trouble by packet as it had at a similar load in nearly all looks.",
        (
            "no sample before forty looks at such a load; begins anew with the collector",
            "what lasts for an hour becomes usual",
        ),
    ),
)
_HOLDERS: Final = (
    Metric(
        RDMA_HOLDER,
        Kind.INFO,
        Unit.TRUTH,
        ("cluster", "node", "device", "namespace", "pod"),
        Source.COLLECTOR,
        "Which pod has an RDMA device to itself, where its plugin hands it out by its PCI address.",
        ("for a while: join it at the moment it is about",),
    ),
    Metric(
        RDMA_HELD,
        Kind.GAUGE,
        Unit.DEVICES,
        ("cluster", "node", "attribution"),
        Source.COLLECTOR,
        "RDMA devices, or shares of them, that pods hold: exclusive: it is known which; none: the plugin does not say.",
        ("no sample where the kubelet is not asked",),
    ),
)
_SETTINGS: Final = (
    Metric(
        WRONG_SETTING,
        Kind.GAUGE,
        Unit.TRUTH,
        ("cluster", *PORT_LABELS, "setting"),
        Source.COLLECTOR,
        "1 where a setting of the port looks wrong: MTU or traffic class unlike that of most ports of its node, no GID "
        "of RoCE v2, notices of congestion ignored, or packets dropped on the priority of its class without one pause.",
        (
            "no sample where it can not be told: with two ports that differ nobody knows which is right",
            "a wrong setting that all ports of a node share is seen only against other nodes: compare by node",
        ),
    ),
)
_PROBES: Final = (
    _probe(
        PROBE_LATENCY,
        Unit.SECONDS,
        "Latency of one message as a probe measured it.",
        "half a round trip for write and send, a whole one for read and atomic: never compare across paths",
        "perftest leaves its two highest samples out of max, and prints a spread below 1 µs as 0",
        "percentiles can not be averaged",
    ),
    _probe(PROBE_OVERHEAD, Unit.SECONDS, "Time per message of a test of bandwidth.", "no latency"),
    _probe(
        PROBE_BANDWIDTH,
        Unit.BYTES_PER_SECOND,
        "Bandwidth as a probe measured it.",
        "perftest's MB and UCX's MB are 2^20 bytes",
    ),
    _probe(PROBE_RATE, Unit.MESSAGES_PER_SECOND, "Messages in a second as a probe measured it."),
)

_OF_PORTS: Final = (*_STATE, *_VOLUME, *_CONGESTION, *_LOSS, *_LINK, *_COMPLETION, *_MEANING, *_UNUSUAL, *_SETTINGS)

RDMA: Final = (*_OF_PORTS, *_HOLDERS, *_PROBES)
