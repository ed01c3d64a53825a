"""How drivers of Ethernet spell the counters that `ethtool -S` shows, priority by priority. Data only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.network import NETWORK_PREFIX
from collector.catalogue.spelling import MICRO, Spelling, Vocabulary

PRIORITIES: Final = tuple(str(number) for number in range(8))

_BY_PRIORITY: Final = (
    # mlx5
    ("rx_prio{}_pause", "received_pause_packets_total", 1.0),
    ("tx_prio{}_pause", "transmitted_pause_packets_total", 1.0),
    ("rx_prio{}_pause_duration", "received_pause_seconds_total", MICRO),
    ("tx_prio{}_pause_duration", "transmitted_pause_seconds_total", MICRO),
    ("rx_prio{}_discards", "received_discarded_packets_total", 1.0),
    ("rx_prio{}_cong_discard", "congestion_discarded_packets_total", 1.0),
    ("rx_prio{}_marked", "congestion_marked_packets_total", 1.0),
    ("rx_prio{}_bytes", "received_bytes_total", 1.0),
    ("tx_prio{}_bytes", "transmitted_bytes_total", 1.0),
    ("rx_prio{}_packets", "received_packets_total", 1.0),
    ("tx_prio{}_packets", "transmitted_packets_total", 1.0),
    ("rx_prio{}_buf_discard", "received_discarded_packets_total", 1.0),
    # ice and i40e (irdma): the frame that begins a pause
    ("rx_priority_{}_xoff.nic", "received_pause_packets_total", 1.0),
    ("tx_priority_{}_xoff.nic", "transmitted_pause_packets_total", 1.0),
    ("port.rx_priority_{}_xoff", "received_pause_packets_total", 1.0),
    ("port.tx_priority_{}_xoff", "transmitted_pause_packets_total", 1.0),
    ("port.rx_priority_{}_xoff_rx", "received_pause_packets_total", 1.0),
    ("port.tx_priority_{}_xoff_tx", "transmitted_pause_packets_total", 1.0),
    # bnxt
    ("rx_pfc_ena_frames_pri{}", "received_pause_packets_total", 1.0),
    ("tx_pfc_ena_frames_pri{}", "transmitted_pause_packets_total", 1.0),
    ("rx_bytes_pri{}", "received_bytes_total", 1.0),
    ("tx_bytes_pri{}", "transmitted_bytes_total", 1.0),
    ("rx_packets_pri{}", "received_packets_total", 1.0),
    ("tx_packets_pri{}", "transmitted_packets_total", 1.0),
)
_OF_INTERFACE: Final = (
    ("rx_pause_ctrl_phy", "received_pause_packets_total"),
    ("tx_pause_ctrl_phy", "transmitted_pause_packets_total"),
    ("rx_discards_phy", "received_discarded_packets_total"),
    ("tx_discards_phy", "transmit_discarded_packets_total"),
    ("tx_pause_storm_error_events", "pause_storm_events_total"),
    ("rx_crc_errors_phy", "corrupt_packets_total"),
    ("rx_symbol_err_phy", "symbol_errors_total"),
    ("link_down_events_phy", "link_down_events_total"),
    ("frames_rx_pripause", "received_pause_packets_total"),
    ("frames_tx_pripause", "transmitted_pause_packets_total"),
    ("frames_rx_bad_fcs", "corrupt_packets_total"),
)

ETHTOOL: Final = Vocabulary(
    source="ethtool",
    title="counters of network drivers (ethtool -S): mlx5, ice, i40e, bnxt, ionic (AMD AINIC)",
    prefixes=(),
    spellings=(
        *(
            Spelling(theirs.format(priority), NETWORK_PREFIX + ours, factor, labels=(("priority", priority),))
            for theirs, ours, factor in _BY_PRIORITY
            for priority in PRIORITIES
        ),
        *(Spelling(theirs, NETWORK_PREFIX + ours, labels=(("priority", ""),)) for theirs, ours in _OF_INTERFACE),
    ),
)
