"""Which settings of a node's RDMA ports look wrong: MTU, GID, traffic class, congestion control, flow control. Pure.

A setting is held against the other ports of its node, or against what the port's own counters say. What can not be told
is Unknown, never right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from collector.assemble.port_trouble import PortKey
from collector.catalogue.network import NETWORK_PREFIX
from collector.catalogue.rdma import PORT_PREFIX
from collector.model.collected import NormalReading
from collector.model.reading import Known, Reading, Unknown

_ALIKE: Final = {"mtu": "mtu_bytes", "traffic-class": "traffic_class_code"}
"""Setting → the reading that should be the same on all ports of a node and link layer."""
_ETHERNET: Final = "Ethernet"
_CLASSES_PER_PRIORITY: Final = 32
"""As drivers map it unless told otherwise: the upper three bits of the class are the priority."""
_NO_MAJORITY: Final = "no value is that of most ports"

Verdict = tuple[PortKey, str, Reading[float]]
"""(port, setting, 1: it looks wrong)"""


def wrong_settings(
    readings: Iterable[NormalReading], troubles: Iterable[tuple[PortKey, str, Reading[float]]]
) -> Iterator[Verdict]:
    """A verdict for every port that was read, each setting. `readings`: of ports and of their interfaces."""
    ports: dict[PortKey, dict[str, float]] = {}
    drops: dict[tuple[str, str], dict[str, float]] = {}
    for reading in readings:
        value = reading.value.value if isinstance(reading.value, Known) else None
        labels = reading.labels
        if reading.name.startswith(PORT_PREFIX) and labels.get("port"):
            told = ports.setdefault((labels["device"], labels["port"], labels["link_layer"]), {})
            told.update({} if value is None else {reading.name.removeprefix(PORT_PREFIX): value})
        elif reading.name.startswith(NETWORK_PREFIX) and value is not None:
            key = labels["device"], labels["priority"]
            drops.setdefault(key, {})[reading.name.removeprefix(NETWORK_PREFIX)] = value
    ignored = {port: rate for port, trouble, rate in troubles if trouble == "misconfigured"}
    for setting, name in _ALIKE.items():
        yield from _unlike_most(setting, name, ports)
    for port, told in ports.items():
        yield port, "gid", _without_gid(port, told)
        rate = ignored.get(port, Unknown("not watched yet"))
        yield port, "congestion-control", rate if isinstance(rate, Unknown) else Known(float(rate.value > 0))
        yield port, "flow-control", _drops_without_pause(port, told, drops)


def _unlike_most(setting: str, name: str, ports: Mapping[PortKey, Mapping[str, float]]) -> Iterator[Verdict]:
    for layer in {key[2] for key in ports}:
        told = {port: values[name] for port, values in ports.items() if port[2] == layer and name in values}
        counts = Counter(told.values())
        usual = next((value for value, count in counts.items() if 2 * count > len(told) > 1), None)
        for port, value in told.items():
            yield port, setting, Unknown(_NO_MAJORITY) if usual is None else Known(float(value != usual))


def _without_gid(port: PortKey, told: Mapping[str, float]) -> Reading[float]:
    if port[2] != _ETHERNET or not told.get("active"):
        return Unknown("the port is no Ethernet, or not active")
    gids = told.get("routed_gids")
    return Unknown("the driver shows no GIDs") if gids is None else Known(float(gids == 0))


def _drops_without_pause(
    port: PortKey, told: Mapping[str, float], drops: Mapping[tuple[str, str], Mapping[str, float]]
) -> Reading[float]:
    traffic_class = told.get("traffic_class_code")
    if traffic_class is None:
        return Unknown("which priority should lose nothing is not told")
    counters = drops.get((port[0], str(int(traffic_class) // _CLASSES_PER_PRIORITY)), {})
    lost = counters.get("received_discarded_packets_total")
    pauses = [counters.get(f"{way}_pause_packets_total") for way in ("received", "transmitted")]
    if lost is None or None in pauses:
        return Unknown("the driver does not count pauses and drops by priority")
    return Known(float(lost > 0 and not any(pauses)))
