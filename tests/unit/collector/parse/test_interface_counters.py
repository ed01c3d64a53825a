"""Counters of network drivers by priority, under one set of names."""

from __future__ import annotations

import pytest

from collector.model.reading import Known, Unknown
from collector.parse.interface_counters import InterfaceCounters, interface_readings

N = "trimtab_network_"


@pytest.mark.parametrize(
    ("theirs", "ours", "priority"),
    [
        ("rx_prio3_pause", "received_pause_packets_total", "3"),
        ("tx_prio0_pause", "transmitted_pause_packets_total", "0"),
        ("rx_prio3_buf_discard", "received_discarded_packets_total", "3"),
        ("rx_prio5_cong_discard", "congestion_discarded_packets_total", "5"),
        ("rx_priority_4_xoff.nic", "received_pause_packets_total", "4"),
        ("port.rx_priority_4_xoff", "received_pause_packets_total", "4"),
        ("tx_pfc_ena_frames_pri7", "transmitted_pause_packets_total", "7"),
        ("rx_discards_phy", "received_discarded_packets_total", ""),
        ("frames_rx_pripause", "received_pause_packets_total", ""),
    ],
)
def test_counters_of_every_driver_have_one_name(theirs: str, ours: str, priority: str) -> None:
    (reading,) = interface_readings([InterfaceCounters("mlx5_0", "eth0", {theirs: 7})], "n1").readings
    assert (reading.name, reading.value) == (N + ours, Known(7.0))
    assert reading.labels == {"node": "n1", "device": "mlx5_0", "interface": "eth0", "priority": priority}


def test_microseconds_become_seconds() -> None:
    (reading,) = interface_readings([InterfaceCounters("d", "e", {"rx_prio3_pause_duration": 2_500_000})]).readings
    assert (reading.name, reading.value) == (f"{N}received_pause_seconds_total", Known(2.5))


def test_a_counter_told_twice_counts_once_and_by_its_higher_value() -> None:
    told = {"rx_prio3_discards": 4, "rx_prio3_buf_discard": 9}
    (reading,) = interface_readings([InterfaceCounters("d", "e", told)]).readings
    assert reading.value == Known(9.0)


def test_what_no_driver_counts_has_no_reading_and_strangers_are_passed_on() -> None:
    found = interface_readings([InterfaceCounters("d", "e", {"rx0_kicks": 4, "rx_prio0_pause": 0})])
    assert [one.name for one in found.readings] == [f"{N}received_pause_packets_total"]
    assert (found.samples.used, found.samples.passed, found.samples.read) == (1, 1, 2)


def test_an_interface_that_can_not_be_read_is_one_unknown_and_hides_no_other() -> None:
    bad = InterfaceCounters("mlx5_0", "eth0", problem="its driver counts nothing")
    found = interface_readings([bad, InterfaceCounters("mlx5_1", "eth1", {"rx_prio0_pause": 1})])
    first, second = found.readings
    assert isinstance(first.value, Unknown)
    assert first.value.reason == "mlx5_0: counters of eth0 could not be read: its driver counts nothing"
    assert second.value == Known(1.0)
    assert found.samples.dropped == {"unreadable": 1}
