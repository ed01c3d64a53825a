"""How drivers (files below /sys/class/infiniband) and node_exporter spell the counters of RDMA ports. Data only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from collector.catalogue.rdma import PORT_PREFIX
from collector.catalogue.spelling import MILLI, Canary, Spelling, Vocabulary

BYTES_PER_WORD: Final = 4.0
"""What port_rcv_data and port_xmit_data count in."""
_FULL_32_BITS: Final = 4294967295.0
_NARROW: Final = frozenset({"port_xmit_wait"})
"""Counters that old firmware keeps in 32 bits and lets stand at their highest."""

_COMMON: Final = (
    ("port_rcv_packets", "received_packets_total"),
    ("port_xmit_packets", "transmitted_packets_total"),
    ("unicast_rcv_packets", "unicast_received_packets_total"),
    ("unicast_xmit_packets", "unicast_transmitted_packets_total"),
    ("multicast_rcv_packets", "multicast_received_packets_total"),
    ("multicast_xmit_packets", "multicast_transmitted_packets_total"),
    ("port_xmit_wait", "transmit_wait_ticks_total"),
    ("port_xmit_discards", "transmit_discarded_packets_total"),
    ("port_rcv_errors", "received_errors_total"),
    ("port_rcv_remote_physical_errors", "remote_physical_errors_total"),
    ("port_rcv_switch_relay_errors", "switch_relay_errors_total"),
    ("port_rcv_constraint_errors", "receive_constraint_errors_total"),
    ("port_xmit_constraint_errors", "transmit_constraint_errors_total"),
    ("symbol_error", "symbol_errors_total"),
    ("link_downed", "link_down_events_total"),
    ("link_error_recovery", "link_recovery_events_total"),
    ("local_link_integrity_errors", "link_integrity_errors_total"),
    ("excessive_buffer_overrun_errors", "buffer_overrun_errors_total"),
    ("VL15_dropped", "vl15_dropped_packets_total"),
)
_MLX: Final = (
    ("np_cnp_sent", "congestion_notices_sent_packets_total"),
    ("np_ecn_marked_roce_packets", "congestion_marked_packets_total"),
    ("rp_cnp_handled", "congestion_notices_handled_packets_total"),
    ("rp_cnp_ignored", "congestion_notices_ignored_packets_total"),
    ("out_of_sequence", "out_of_sequence_packets_total"),
    ("packet_seq_err", "sequence_errors_total"),
    ("implied_nak_seq_err", "implied_sequence_errors_total"),
    ("local_ack_timeout_err", "acknowledge_timeout_errors_total"),
    ("rnr_nak_retry_err", "receiver_not_ready_errors_total"),
    ("out_of_buffer", "out_of_buffer_packets_total"),
    ("duplicate_request", "duplicate_request_packets_total"),
    ("roce_adp_retrans", "adaptive_retransmit_packets_total"),
    ("roce_adp_retrans_to", "adaptive_retransmit_timeout_events_total"),
    ("roce_slow_restart", "slow_restart_events_total"),
    ("rx_icrc_encapsulated", "corrupt_packets_total"),
    ("rx_read_requests", "read_requests_total"),
    ("rx_write_requests", "write_requests_total"),
    ("rx_atomic_requests", "atomic_requests_total"),
    ("req_cqe_error", "request_errors_total"),
    ("req_cqe_flush_error", "request_flushed_errors_total"),
    ("resp_cqe_error", "response_errors_total"),
    ("resp_cqe_flush_error", "response_flushed_errors_total"),
    ("req_remote_access_errors", "remote_access_errors_total"),
    ("req_remote_invalid_request", "invalid_request_errors_total"),
    ("resp_local_length_error", "local_length_errors_total"),
)
_MANA: Final = (
    ("received_cnps", "congestion_notices_handled_packets_total"),
    ("rx_cnp", "congestion_notices_handled_packets_total"),
    ("tx_cnp", "congestion_notices_sent_packets_total"),
    ("requester_timeout", "acknowledge_timeout_errors_total"),
    ("requester_oos_nak", "sequence_errors_total"),
    ("requester_implicit_nak", "implied_sequence_errors_total"),
    ("requester_rnr_nak", "receiver_not_ready_errors_total"),
    ("requester_retries_exceeded", "retries_exceeded_errors_total"),
    ("responder_oos", "out_of_sequence_packets_total"),
    ("responder_dup_request", "duplicate_request_packets_total"),
    ("responder_rnr_nak", "out_of_buffer_packets_total"),
    ("responder_local_len_error", "local_length_errors_total"),
    ("nak_access_error", "remote_access_errors_total"),
    ("nak_inv_req", "invalid_request_errors_total"),
)
_IRDMA: Final = (
    ("cnpSent", "congestion_notices_sent_packets_total"),
    ("cnpHandled", "congestion_notices_handled_packets_total"),
    ("cnpIgnored", "congestion_notices_ignored_packets_total"),
    ("RxECNMrkd", "congestion_marked_packets_total"),
    ("rxECNMrkd", "congestion_marked_packets_total"),
)
_RXE: Final = (
    ("sent_pkts", "transmitted_packets_total"),
    ("rcvd_pkts", "received_packets_total"),
    ("out_of_seq_request", "out_of_sequence_packets_total"),
    ("rcvd_seq_err", "sequence_errors_total"),
    ("rcvd_rnr_err", "receiver_not_ready_errors_total"),
    ("send_rnr_err", "out_of_buffer_packets_total"),
    ("retry_exceeded_err", "retries_exceeded_errors_total"),
)
_AINIC: Final = (
    ("tx_rdma_cnp_pkts", "congestion_notices_sent_packets_total"),
    ("rx_rdma_cnp_pkts", "congestion_notices_handled_packets_total"),
    ("rx_rdma_ecn_pkts", "congestion_marked_packets_total"),
    ("tx_rdma_ucast_bytes", "transmitted_bytes_total"),
    ("rx_rdma_ucast_bytes", "received_bytes_total"),
    ("tx_rdma_ucast_pkts", "unicast_transmitted_packets_total"),
    ("rx_rdma_ucast_pkts", "unicast_received_packets_total"),
    ("tx_rdma_mcast_pkts", "multicast_transmitted_packets_total"),
    ("rx_rdma_mcast_pkts", "multicast_received_packets_total"),
    ("req_rx_pkt_seq_err", "sequence_errors_total"),
    ("req_rx_impl_nak_seq_err", "implied_sequence_errors_total"),
    ("req_rx_rnr_retry_err", "receiver_not_ready_errors_total"),
    ("req_tx_retry_excd_err", "retries_exceeded_errors_total"),
    ("req_rx_rmt_acc_err", "remote_access_errors_total"),
    ("req_rx_rmt_req_err", "invalid_request_errors_total"),
    ("req_rx_cqe_err", "request_errors_total"),
    ("req_rx_cqe_flush", "request_flushed_errors_total"),
    ("resp_rx_outouf_seq", "out_of_sequence_packets_total"),
    ("resp_rx_out_of_seq", "out_of_sequence_packets_total"),
    ("resp_rx_dup_request", "duplicate_request_packets_total"),
    ("resp_rx_dup_requests", "duplicate_request_packets_total"),
    ("resp_rx_outof_buf", "out_of_buffer_packets_total"),
    ("resp_rx_cqe_err", "response_errors_total"),
    ("resp_rx_cqe_flush", "response_flushed_errors_total"),
)


_LARGEST_PACKET_BYTES: Final = 10_400.0
"""The largest transfer unit of any of these links, and its headers."""
_CANARIES: Final = tuple(
    Canary(f"{PORT_PREFIX}{way}_bytes_total", f"{PORT_PREFIX}{way}_packets_total", 0.0, _LARGEST_PACKET_BYTES)
    for way in ("received", "transmitted")
)


def _same_unit(pairs: Iterable[tuple[str, str]]) -> tuple[Spelling, ...]:
    return tuple(
        Spelling(theirs, PORT_PREFIX + ours, saturates_at=_FULL_32_BITS if theirs in _NARROW else None)
        for theirs, ours in pairs
    )


SYSFS: Final = Vocabulary(
    source="sysfs",
    title="files of RDMA drivers: InfiniBand, mlx5 RoCE, AMD AINIC, MANA, irdma, rxe",
    prefixes=(),
    canaries=_CANARIES,
    spellings=(
        Spelling("port_rcv_data", f"{PORT_PREFIX}received_bytes_total", BYTES_PER_WORD),
        Spelling("port_xmit_data", f"{PORT_PREFIX}transmitted_bytes_total", BYTES_PER_WORD),
        Spelling("lifespan", f"{PORT_PREFIX}counter_refresh_seconds", MILLI),
        *_same_unit((*_COMMON, *_MLX, *_MANA, *_IRDMA, *_RXE, *_AINIC)),
    ),
)
"""`state`, `phys_state` and `rate` are texts, and read beside this table."""

_NODE: Final = "node_infiniband_"
_OF_NODE_EXPORTER: Final = (
    ("port_data_received_bytes_total", "received_bytes_total"),
    ("port_data_transmitted_bytes_total", "transmitted_bytes_total"),
    ("port_packets_received_total", "received_packets_total"),
    ("port_packets_transmitted_total", "transmitted_packets_total"),
    ("unicast_packets_received_total", "unicast_received_packets_total"),
    ("unicast_packets_transmitted_total", "unicast_transmitted_packets_total"),
    ("multicast_packets_received_total", "multicast_received_packets_total"),
    ("multicast_packets_transmitted_total", "multicast_transmitted_packets_total"),
    ("port_discards_transmitted_total", "transmit_discarded_packets_total"),
    ("port_discards_received_total", "receive_discarded_packets_total"),
    ("port_errors_received_total", "received_errors_total"),
    ("port_receive_remote_physical_errors_total", "remote_physical_errors_total"),
    ("port_receive_switch_relay_errors_total", "switch_relay_errors_total"),
    ("port_constraint_errors_received_total", "receive_constraint_errors_total"),
    ("port_constraint_errors_transmitted_total", "transmit_constraint_errors_total"),
    ("symbol_error_total", "symbol_errors_total"),
    ("link_downed_total", "link_down_events_total"),
    ("link_error_recovery_total", "link_recovery_events_total"),
    ("local_link_integrity_errors_total", "link_integrity_errors_total"),
    ("excessive_buffer_overrun_errors_total", "buffer_overrun_errors_total"),
    ("vl15_dropped_total", "vl15_dropped_packets_total"),
    ("np_cnp_packets_sent_total", "congestion_notices_sent_packets_total"),
    ("np_ecn_marked_roce_packets_received_total", "congestion_marked_packets_total"),
    ("rp_cnp_packets_handled_total", "congestion_notices_handled_packets_total"),
    ("rp_cnp_ignored_packets_received_total", "congestion_notices_ignored_packets_total"),
    ("out_of_sequence_packets_received_total", "out_of_sequence_packets_total"),
    ("packet_sequence_errors_total", "sequence_errors_total"),
    ("implied_nak_seq_errors_total", "implied_sequence_errors_total"),
    ("local_ack_timeout_errors_total", "acknowledge_timeout_errors_total"),
    ("rnr_nak_retry_packets_received_total", "receiver_not_ready_errors_total"),
    ("out_of_buffer_drops_total", "out_of_buffer_packets_total"),
    ("duplicate_requests_packets_total", "duplicate_request_packets_total"),
    ("roce_adp_retransmits_total", "adaptive_retransmit_packets_total"),
    ("roce_adp_retransmits_timeout_total", "adaptive_retransmit_timeout_events_total"),
    ("roce_slow_restart_used_total", "slow_restart_events_total"),
    ("rx_icrc_encapsulated_errors_total", "corrupt_packets_total"),
    ("rx_read_requests_total", "read_requests_total"),
    ("rx_write_requests_total", "write_requests_total"),
    ("rx_atomic_requests_total", "atomic_requests_total"),
    ("req_cqes_errors_total", "request_errors_total"),
    ("req_cqes_flush_errors_total", "request_flushed_errors_total"),
    ("resp_cqes_errors_total", "response_errors_total"),
    ("resp_cqes_flush_errors_total", "response_flushed_errors_total"),
    ("req_remote_access_errors_total", "remote_access_errors_total"),
    ("req_remote_invalid_request_errors_total", "invalid_request_errors_total"),
    ("resp_local_length_errors_total", "local_length_errors_total"),
    ("rate_bytes_per_second", "rate_bytes_per_second"),
)

NODE_EXPORTER: Final = Vocabulary(
    source="node-exporter",
    title="node_exporter, collector infiniband",
    prefixes=("node_",),
    canaries=_CANARIES,
    spellings=(
        *(Spelling(_NODE + theirs, PORT_PREFIX + ours) for theirs, ours in _OF_NODE_EXPORTER),
        Spelling(
            f"{_NODE}port_transmit_wait_total",
            f"{PORT_PREFIX}transmit_wait_ticks_total",
            saturates_at=_FULL_32_BITS,
        ),
        Spelling(f"{_NODE}state_id", f"{PORT_PREFIX}active", true_when=(4.0,)),
        Spelling(f"{_NODE}physical_state_id", f"{PORT_PREFIX}link_up", true_when=(5.0,)),
        # Its help text says milliseconds; 12 ms come as 12 in old versions and as 0.012 in new ones.
        Spelling(f"{_NODE}lifespan_seconds", f"{PORT_PREFIX}counter_refresh_seconds", limit=10.0),
    ),
)
