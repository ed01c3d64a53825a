"""Trouble of a port at similar load: a heavy load is no alarm, more of it by packet at the same load is."""

from __future__ import annotations

from collector.assemble.port_trouble import PortLoad, PortMemory
from collector.assemble.port_usual import LEAST_LOOKS, PortUsual
from collector.model.collected import NormalReading
from collector.model.reading import Known, Reading, Unknown

PORT = ("mlx5_0", "1", "Ethernet")
CALM, BUSY = PortLoad(1e3, 0.02), PortLoad(1e6, 0.8)


def looked(usual: PortUsual, events_per_second: float, load: PortLoad, times: int = 1) -> PortUsual:
    for _ in range(times):
        usual = usual.advance([(PORT, "congestion", Known(events_per_second))], {PORT: Known(load)})
    return usual


def verdict(usual: PortUsual) -> Reading[float]:
    ((_, _, found),) = usual
    return found


def experienced() -> PortUsual:
    """Hours of idling and of all-reduces: many notices in a second, few by packet."""
    usual = PortUsual()
    for _ in range(LEAST_LOOKS):
        usual = looked(looked(usual, 0.0, CALM), 1000.0, BUSY)
    return usual


def test_an_all_reduce_is_no_alarm() -> None:
    assert verdict(looked(experienced(), 1100.0, BUSY)) == Known(0.0)


def test_the_same_amount_at_a_calm_load_is() -> None:
    assert verdict(looked(experienced(), 1000.0, CALM)) == Known(1.0)


def test_many_times_as_much_at_the_same_load_is() -> None:
    assert verdict(looked(experienced(), 10_000.0, BUSY)) == Known(1.0)
    assert verdict(looked(experienced(), 1900.0, BUSY)) == Known(0.0), "less than twice as much varies by itself"


def test_more_packets_with_as_much_more_trouble_are_no_alarm() -> None:
    assert verdict(looked(experienced(), 1500.0, PortLoad(1.5e6, 0.9))) == Known(0.0)


def test_the_first_trouble_after_a_clean_past_is_unusual_however_small() -> None:
    clean = looked(PortUsual(), 0.0, BUSY, LEAST_LOOKS)
    assert verdict(clean) == Unknown("too few looks at such a load")
    assert verdict(looked(clean, 0.0, BUSY)) == Known(0.0)
    assert verdict(looked(clean, 0.02, BUSY)) == Known(1.0)


def test_what_is_unusual_stays_so_and_what_lasts_becomes_usual() -> None:
    usual = looked(experienced(), 1e5, BUSY, 200)
    assert verdict(usual) == Known(1.0)
    usual = looked(usual, 1e5, BUSY, 300)
    assert verdict(usual) == Known(0.0)


def test_without_a_rate_or_a_load_nothing_is_said() -> None:
    usual = experienced().advance([(PORT, "loss", Unknown("none"))], {PORT: Known(BUSY)})
    assert verdict(usual) == Unknown("none")
    assert verdict(usual.advance([(PORT, "loss", Known(1.0))], {})) == Unknown("its load is not known")


def test_a_load_is_packets_both_ways_and_the_share_of_the_busier_one() -> None:
    def read(packets: float, sent: float) -> list[NormalReading]:
        labels = {"node": "n1", "device": PORT[0], "port": PORT[1], "link_layer": PORT[2]}
        values = {"received_packets": packets, "transmitted_packets": packets, "received_bytes": 0.0}
        values["transmitted_bytes"] = sent
        return [
            NormalReading(f"trimtab_rdma_port_{name}_total", Known(value), "", labels, None, "sysfs")
            for name, value in values.items()
        ]

    memory = PortMemory().advance(read(0, 0), 0.0).advance(read(100, 1000), 10.0)
    assert memory.loads({PORT: 1000.0})[PORT] == Known(PortLoad(20.0, 0.1))
    assert memory.loads({})[PORT] == Unknown("its speed is not known")
    assert isinstance(PortMemory().advance(read(0, 0), 0.0).loads({PORT: 1000.0})[PORT], Unknown)
    assert PortMemory().loads({}) == {}
