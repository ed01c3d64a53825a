"""Files of RDMA ports by every driver's names, and what happens to those that can not be read."""

from __future__ import annotations

import pytest

from collector.model.reading import Known, Reading, Unknown
from collector.parse.rdma_files import RdmaFile, rdma_readings

PORT = "trimtab_rdma_port_"


def counter(name: str, text: str = "7\n", device: str = "mlx5_0", port: str = "1", problem: str = "") -> RdmaFile:
    return RdmaFile(device, port, name, text, problem, is_counter=True)


def value(one: RdmaFile) -> Reading[float]:
    (reading,) = rdma_readings([one]).readings
    return reading.value


@pytest.mark.parametrize(
    ("file", "ours"),
    [
        ("port_xmit_wait", "transmit_wait_ticks_total"),
        ("np_cnp_sent", "congestion_notices_sent_packets_total"),
        ("local_ack_timeout_err", "acknowledge_timeout_errors_total"),
        ("requester_timeout", "acknowledge_timeout_errors_total"),
        ("responder_oos", "out_of_sequence_packets_total"),
        ("cnpHandled", "congestion_notices_handled_packets_total"),
        ("retry_exceeded_err", "retries_exceeded_errors_total"),
        ("req_rx_pkt_seq_err", "sequence_errors_total"),
        ("tx_rdma_ucast_bytes", "transmitted_bytes_total"),
    ],
)
def test_counters_of_every_driver_have_one_name(file: str, ours: str) -> None:
    (reading,) = rdma_readings([counter(file)]).readings
    assert (reading.name, reading.value) == (PORT + ours, Known(7.0))


def test_data_is_counted_in_words_of_four_bytes() -> None:
    assert value(counter("port_rcv_data", "100")) == Known(400.0)


def test_what_can_not_be_read_is_unknown_and_hides_no_other() -> None:
    files = [
        counter("port_rcv_packets", "N/A (no PMA)\n"),
        counter("port_rcv_errors", problem="the driver does not show it"),
        counter("port_xmit_wait", "4294967295"),
        counter("symbol_error", str(2**64 - 1)),
        counter("link_downed", "three"),
        counter("rx_dct_connect", "5"),
        counter("port_xmit_packets", "9", port="2"),
    ]
    found = rdma_readings(files, node="n1")
    assert [isinstance(one.value, Known) for one in found.readings] == [False] * 5 + [True]
    assert found.samples.dropped == {
        "not available": 1,
        "unreadable": 1,
        "saturated counter": 2,
        "not a number": 1,
    }
    assert (found.samples.read, found.samples.used, found.samples.passed) == (7, 1, 1)
    assert found.readings[-1].labels == {"node": "n1", "device": "mlx5_0", "port": "2", "link_layer": ""}
    unreadable = found.readings[1].value
    assert isinstance(unreadable, Unknown)
    assert unreadable.reason == "mlx5_0 port 1: port_rcv_errors could not be read: the driver does not show it"


def test_packets_larger_than_any_link_carries_tell_that_a_unit_has_changed() -> None:
    files = [counter("port_rcv_data", "1000000"), counter("port_rcv_packets", "100")]
    found = rdma_readings(files)
    assert isinstance(found.readings[0].value, Unknown)
    assert found.samples.dropped == {"implausible value": 1}
    assert value(counter("port_rcv_data", "1000000")) == Known(4e6)


@pytest.mark.parametrize(
    ("name", "text", "ours", "expected"),
    [
        ("state", "4: ACTIVE\n", "active", 1.0),
        ("state", "1: DOWN\n", "active", 0.0),
        ("phys_state", "5: LinkUp\n", "link_up", 1.0),
        ("rate", "400 Gb/sec (4X NDR)\n", "rate_bytes_per_second", 5e10),
        ("rate", "2.5 Gb/sec (1X SDR)\n", "rate_bytes_per_second", 312.5e6),
    ],
)
def test_states_and_speeds_are_numbers(name: str, text: str, ours: str, expected: float) -> None:
    layer = RdmaFile("mlx5_0", "1", "link_layer", "Ethernet\n")
    found = rdma_readings([layer, RdmaFile("mlx5_0", "1", name, text)])
    (reading,) = found.readings
    assert (reading.name, reading.value) == (PORT + ours, Known(expected))
    assert reading.labels["link_layer"] == "Ethernet"
    assert found.samples.read == 1


def test_a_state_that_nobody_understands_is_unknown() -> None:
    assert value(RdmaFile("mlx5_0", "1", "state", "odd")) == Unknown("mlx5_0 port 1: state is not understood: odd")
