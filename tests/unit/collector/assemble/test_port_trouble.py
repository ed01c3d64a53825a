"""What counters of a port mean together, from two looks; nothing is said where nothing is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.assemble.port_trouble import PortMemory
from collector.catalogue.metric import TROUBLES
from collector.model.collected import NormalReading
from collector.model.reading import Known, Reading, Unknown

PORT = ("mlx5_0", "1", "Ethernet")


def counter(name: str, value: float | Unknown, device: str = "mlx5_0") -> NormalReading:
    labels = {"node": "n1", "device": device, "port": "1", "link_layer": "Ethernet"}
    told = value if isinstance(value, Unknown) else Known(value)
    return NormalReading(f"trimtab_rdma_port_{name}", told, "", labels, None, "sysfs")


def rates(*looks: tuple[float, list[NormalReading]], device: str = "mlx5_0") -> dict[str, Reading[float]]:
    memory = PortMemory()
    for at, readings in looks:
        memory = memory.advance(readings, at)
    return {trouble: rate for (name, _, _), trouble, rate in memory.troubles() if name == device}


@pytest.mark.parametrize(
    ("counters", "trouble"),
    [
        ("congestion_notices_handled_packets_total", "congestion"),
        ("transmit_wait_ticks_total", "waiting"),
        ("acknowledge_timeout_errors_total", "loss"),
        ("out_of_buffer_packets_total", "slow-receiver"),
        ("symbol_errors_total", "cable"),
        ("link_down_events_total", "flap"),
        ("congestion_notices_ignored_packets_total", "misconfigured"),
    ],
)
def test_each_counter_means_its_trouble_and_no_other(counters: str, trouble: str) -> None:
    found = rates((0, [counter(counters, 100)]), (10, [counter(counters, 150)]))
    assert found[trouble] == Known(5.0)
    assert all(isinstance(rate, Unknown) for name, rate in found.items() if name != trouble)


def test_a_slow_application_is_not_the_network() -> None:
    names = ("receiver_not_ready_errors_total", "acknowledge_timeout_errors_total")
    found = rates(
        (0, [counter(names[0], 0), counter(names[1], 0)]), (10, [counter(names[0], 900), counter(names[1], 0)])
    )
    assert (found["slow-receiver"], found["loss"]) == (Known(90.0), Known(0.0))


def test_packets_out_of_order_alone_are_no_loss() -> None:
    name = "out_of_sequence_packets_total"
    assert isinstance(rates((0, [counter(name, 0)]), (10, [counter(name, 999)]))["loss"], Unknown)


def test_one_look_tells_no_rate() -> None:
    assert set(rates((0, [counter("symbol_errors_total", 5)]))) == set(TROUBLES)
    assert isinstance(rates((0, [counter("symbol_errors_total", 5)]))["cable"], Unknown)


def test_a_counter_that_began_anew_or_stopped_is_no_zero() -> None:
    anew = rates((0, [counter("symbol_errors_total", 50)]), (10, [counter("symbol_errors_total", 5)]))["cable"]
    assert anew == Unknown("the counter began anew")
    stopped = [counter("transmit_wait_ticks_total", Unknown("stands at its end"))]
    assert rates((0, stopped), (10, stopped))["waiting"] == Unknown("stands at its end")


def test_a_counter_that_can_not_be_read_hides_no_other_of_its_trouble() -> None:
    bad = counter("link_recovery_events_total", Unknown("unreadable"))
    good = "link_down_events_total"
    assert rates((0, [bad, counter(good, 1)]), (10, [bad, counter(good, 2)]))["flap"] == Known(0.1)


def test_a_bad_port_hides_no_other() -> None:
    bad = [counter("symbol_errors_total", Unknown("unreadable"), device="mlx5_1")]
    looks = [(at, [*bad, counter("symbol_errors_total", at)]) for at in (0.0, 10.0)]
    assert rates(*looks)["cable"] == Known(1.0)
    assert rates(*looks, device="mlx5_1")["cable"] == Unknown("unreadable")


def test_a_flap_is_seen_for_a_minute() -> None:
    looks = [
        (at, [counter("link_down_events_total", 1.0 if at >= 15 else 0.0)]) for at in (0.0, 15.0, 30.0, 45.0, 60.0)
    ]
    assert rates(*looks)["flap"] == Known(1 / 60)
    later = [*looks, (75.0, [counter("link_down_events_total", 1.0)]), (90.0, [counter("link_down_events_total", 1.0)])]
    assert rates(*later)["flap"] == Known(0.0)


def test_a_port_that_is_gone_says_nothing() -> None:
    assert rates((0, [counter("symbol_errors_total", 0)]), (10, [])) == {}


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e15) | st.none()), max_size=8))
def test_no_rate_is_negative_whatever_counters_do(looks: list[tuple[float, float | None]]) -> None:
    memory = PortMemory()
    for at, value in sorted(looks, key=lambda one: one[0]):
        memory = memory.advance([counter("symbol_errors_total", Unknown("no") if value is None else value)], at)
    assert all(isinstance(rate, Unknown) or rate.value >= 0 for _, _, rate in memory.troubles())
    assert len(memory.looks) <= len(looks)
