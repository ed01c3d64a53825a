"""Settings of ports that look wrong beside the others of their node, or by their own counters; else Unknown."""

from __future__ import annotations

from collections.abc import Iterable

from collector.assemble.port_settings import wrong_settings
from collector.model.collected import NormalReading
from collector.model.reading import Known, Reading, Unknown


def port(device: str, name: str, value: float, layer: str = "Ethernet") -> NormalReading:
    labels = {"node": "n1", "device": device, "port": "1", "link_layer": layer}
    return NormalReading(f"trimtab_rdma_port_{name}", Known(value), "", labels, None, "sysfs")


def counted(device: str, name: str, value: float, priority: str = "3") -> NormalReading:
    labels = {"node": "n1", "device": device, "interface": "eth", "priority": priority}
    return NormalReading(f"trimtab_network_{name}_packets_total", Known(value), "", labels, None, "ethtool")


def verdicts(readings: Iterable[NormalReading], ignored: float | None = None) -> dict[tuple[str, str], Reading[float]]:
    key = ("a", "1", "Ethernet")
    troubles = [] if ignored is None else [(key, "misconfigured", Known(ignored))]
    return {(device, setting): one for (device, _, _), setting, one in wrong_settings(readings, troubles)}


def test_one_port_unlike_most_is_the_wrong_one() -> None:
    found = verdicts([port("a", "mtu_bytes", 1500), port("b", "mtu_bytes", 4200), port("c", "mtu_bytes", 4200)])
    assert [found[device, "mtu"] for device in "abc"] == [Known(1.0), Known(0.0), Known(0.0)]


def test_of_two_that_differ_nobody_knows_which_is_right() -> None:
    found = verdicts([port("a", "traffic_class_code", 0), port("b", "traffic_class_code", 106)])
    assert all(isinstance(found[device, "traffic-class"], Unknown) for device in "ab")


def test_ports_of_another_link_layer_are_not_compared() -> None:
    readings = [port("a", "mtu_bytes", 4200), port("b", "mtu_bytes", 4200), port("ib", "mtu_bytes", 2044, "InfiniBand")]
    found = verdicts(readings)
    assert isinstance(found["ib", "mtu"], Unknown)
    assert found["a", "mtu"] == Known(0.0)


def test_an_active_port_needs_a_gid_of_the_routed_kind() -> None:
    assert verdicts([port("a", "active", 1), port("a", "routed_gids", 0)])["a", "gid"] == Known(1.0)
    assert verdicts([port("a", "active", 1), port("a", "routed_gids", 2)])["a", "gid"] == Known(0.0)
    assert isinstance(verdicts([port("a", "active", 0), port("a", "routed_gids", 0)])["a", "gid"], Unknown)
    assert isinstance(verdicts([port("a", "active", 1)])["a", "gid"], Unknown)


def test_notices_that_are_ignored_mean_that_congestion_control_is_off() -> None:
    seen = [port("a", "active", 1)]
    assert verdicts(seen, ignored=0.5)["a", "congestion-control"] == Known(1.0)
    assert verdicts(seen, ignored=0.0)["a", "congestion-control"] == Known(0.0)
    assert isinstance(verdicts(seen)["a", "congestion-control"], Unknown)


def test_drops_on_the_priority_of_the_class_without_a_pause_mean_that_flow_control_is_not_set_up() -> None:
    base = [
        port("a", "traffic_class_code", 106),
        counted("a", "received_pause", 0),
        counted("a", "transmitted_pause", 0),
    ]
    assert verdicts([*base, counted("a", "received_discarded", 7)])["a", "flow-control"] == Known(1.0)
    assert verdicts([*base, counted("a", "received_discarded", 0)])["a", "flow-control"] == Known(0.0)
    paused = [*base, counted("a", "transmitted_pause", 3), counted("a", "received_discarded", 7)]
    assert verdicts(paused)["a", "flow-control"] == Known(0.0)
    elsewhere = [*base, counted("a", "received_discarded", 7, "0")]
    assert isinstance(verdicts(elsewhere)["a", "flow-control"], Unknown)
    assert isinstance(
        verdicts([counted("a", "received_discarded", 7), port("a", "active", 1)])["a", "flow-control"], Unknown
    )
