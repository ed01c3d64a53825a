"""The node role over a FAKE /sys and a FAKE NVML: what it exports, and what it says while parts are gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from collector.catalogue.exported import BLINDNESS
from collector.catalogue.index import find
from collector.exporter.health import Health
from collector.exporter.node_families import NodeCollector
from collector.exporter.node_role import NodeRole, NodeSources
from collector.parse.exposition import parse_exposition
from collector.parse.interface_counters import InterfaceCounters
from collector.parse.pod_resources import DeviceHolder
from collector.parse.rdma_files import RdmaFile
from collector.sources.nvml import Nvml, NvmlMissing
from collector.sources.pod_resources import PodResourcesMissing
from collector.sources.rdma_sysfs import read_rdma_files
from tests.testbed.fake_nvml import FakeGpu, FakeNvml
from tests.testbed.fake_rdma_sysfs import NOT_AVAILABLE, FakePort, FakeRdmaSysfs

START = 1_000_000.0
P = "trimtab_rdma_port_"
Series = dict[tuple[str, ...], float]


class Node:
    """A node whose sources can be taken away one by one."""

    def __init__(self, root: Path) -> None:
        self.now = START
        self.sysfs = FakeRdmaSysfs(root)
        self.ports: dict[str, FakePort] = {
            name: self.sysfs.add_device(name, link_layer="Ethernet") for name in ("mlx5_0", "mlx5_1")
        }
        self.interfaces = {"mlx5_0": {"rx_prio3_pause": 5}, "mlx5_1": {"rx_prio3_pause": 6}}
        self.gpus = FakeNvml([FakeGpu("GPU-a"), FakeGpu("GPU-b")])
        self.no_driver = False
        self.read_files: Callable[[], tuple[RdmaFile, ...]] = lambda: read_rdma_files(root / "class/infiniband")
        self.kubelet: tuple[DeviceHolder, ...] | None = ()
        sources = NodeSources(
            lambda: self.read_files(),
            self._interfaces,
            open_gpus=self._open,
            holders=self._holders,
            rdma_addresses=lambda: {"0000:3b:00.2": "mlx5_0"},
        )
        health = Health(lambda: self.now)
        self.role = NodeRole("n1", sources, health, lambda: self.now)
        self.registry = CollectorRegistry()
        self.registry.register(
            NodeCollector(("c1", "n1", "1.0"), lambda: self.role.published, health.state, lambda: self.now, 90.0)
        )

    def _interfaces(self) -> tuple[InterfaceCounters, ...]:
        return tuple(InterfaceCounters(device, "eth0", told) for device, told in self.interfaces.items())

    def _open(self) -> Nvml:
        if self.no_driver:
            raise NvmlMissing("no driver of NVIDIA")
        return Nvml(self.gpus)

    def _holders(self) -> tuple[DeviceHolder, ...]:
        if self.kubelet is None:
            raise PodResourcesMissing("the kubelet does not answer")
        return self.kubelet

    def look(self, after_seconds: float = 15.0) -> dict[str, str]:
        self.now += after_seconds
        return self.role.look()

    def scraped(self) -> dict[str, Series]:
        """Name → label values, the cluster's and then in the order of the catalogue → value."""
        found: dict[str, Series] = {}
        for sample in parse_exposition(generate_latest(self.registry).decode()).samples:
            entry = find(sample.name)
            assert entry is not None, sample.name
            order = dict.fromkeys(("cluster", *entry.labels))
            key = tuple(sample.labels[label] for label in order if label in sample.labels)
            found.setdefault(sample.name, {})[key] = sample.value
        return found

    def seen(self, name: str, source: str) -> Series:
        """A family about the collector's sight: what follows the source → value."""
        family = self.scraped().get(f"trimtab_collector_{name}", {})
        return {key[3:]: value for key, value in family.items() if key[:3] == ("c1", "n1", source)}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = Node(tmp_path)
    made.look()
    return made


def test_each_port_says_its_state_speed_and_counters_in_bytes(node: Node) -> None:
    node.ports["mlx5_0"].add("port_xmit_data", 250)
    node.look()
    found = node.scraped()
    key = ("c1", "n1", "mlx5_0", "1", "Ethernet")
    assert found[f"{P}transmitted_bytes_total"][key] == 1000
    assert (found[f"{P}active"][key], found[f"{P}rate_bytes_per_second"][key]) == (1, 50e9)
    assert found["trimtab_network_received_pause_packets_total"]["c1", "n1", "mlx5_1", "eth0", "3"] == 6


def test_a_meaning_is_exported_where_it_is_known(node: Node) -> None:
    node.ports["mlx5_0"].add("local_ack_timeout_err", 30)
    node.look()
    trouble = node.scraped()["trimtab_rdma_port_trouble_events_per_second"]
    assert trouble["c1", "n1", "mlx5_0", "1", "Ethernet", "loss"] == 2
    assert trouble["c1", "n1", "mlx5_1", "1", "Ethernet", "loss"] == 0


def test_every_series_has_the_labels_of_the_catalogue(node: Node) -> None:
    node.look()
    for family in node.registry.collect():
        entry = find(family.name) or find(f"{family.name}_total")
        assert entry is not None, family.name
        for sample in family.samples:
            assert set(sample.labels) - {"cluster"} == set(entry.labels) - {"cluster"}
    assert {entry.name for entry in BLINDNESS} <= {*node.scraped(), *(entry.name for entry in BLINDNESS[2:])}


def test_accelerators_say_that_nvml_told_them(node: Node) -> None:
    power = node.scraped()["trimtab_accelerator_power_watts"]
    assert {key[-1] for key in power} == {"nvml"}
    assert set(power.values()) == {650.0}


def test_a_counter_that_is_not_available_has_no_sample_and_is_counted(node: Node) -> None:
    node.ports["mlx5_0"].put("port_xmit_wait", NOT_AVAILABLE)
    node.ports["mlx5_0"].put("symbol_error", "18446744073709551615")
    node.look()
    assert [key[2] for key in node.scraped()[f"{P}transmit_wait_ticks_total"]] == ["mlx5_1"]
    unknown = node.seen("unknown_readings", "sysfs")
    assert unknown == {("mlx5_0/1", "not available"): 1, ("mlx5_0/1", "saturated"): 1}
    coverage = node.seen("source_coverage_ratio", "sysfs")
    assert 0.9 < coverage[("mlx5_0/1",)] < 1
    assert coverage[("mlx5_1/1",)] == 1


def test_one_bad_port_never_hides_another(node: Node) -> None:
    folder = node.ports["mlx5_0"].folder
    bad = tuple(
        RdmaFile("mlx5_0", "1", name, problem="the driver does not show it", is_counter=True)
        for name in ("port_rcv_data", "port_xmit_data")
    )
    good = tuple(one for one in read_rdma_files(folder.parents[2]) if one.device == "mlx5_1")
    node.read_files = lambda: (*bad, *good)
    node.look()
    assert {key[2] for key in node.scraped()[f"{P}received_bytes_total"]} == {"mlx5_1"}
    assert node.seen("source_age_seconds", "sysfs") == {("mlx5_0/1",): 15, ("mlx5_1/1",): 0}
    assert node.seen("source_coverage_ratio", "sysfs")[("mlx5_0/1",)] == 0


# Each source taken away in turn


def test_without_the_files_of_ports_everything_else_goes_on(node: Node) -> None:
    def refuse() -> tuple[RdmaFile, ...]:
        raise PermissionError

    node.read_files = refuse
    node.look()
    found = node.scraped()
    assert f"{P}received_bytes_total" not in found
    assert found["trimtab_accelerator_power_watts"]
    assert found["trimtab_network_received_pause_packets_total"]
    assert node.seen("source_age_seconds", "sysfs") == {("mlx5_0/1",): 15, ("mlx5_1/1",): 15}
    assert node.seen("last_error_timestamp_seconds", "sysfs")["", "unreadable"] == node.now


def test_a_device_that_vanishes_is_lost_and_not_forgotten(node: Node) -> None:
    first = node.read_files
    node.read_files = lambda: tuple(one for one in first() if one.device == "mlx5_1")
    node.look()
    assert node.seen("source_age_seconds", "sysfs") == {("mlx5_0/1",): 15, ("mlx5_1/1",): 0}
    assert node.seen("source_devices", "sysfs") == {(): 1}
    assert node.seen("last_error_timestamp_seconds", "sysfs") == {("mlx5_0/1", "lost"): node.now}
    assert ("sysfs", "mlx5_0/1", "lost") in node.scraped()["trimtab_collector_errors_total"]


def test_an_interface_that_vanishes_costs_nothing_else(node: Node) -> None:
    del node.interfaces["mlx5_0"]
    node.look()
    assert {key[2] for key in node.scraped()[f"{P}received_bytes_total"]} == {"mlx5_0", "mlx5_1"}
    assert node.seen("source_coverage_ratio", "ethtool") == {("mlx5_0",): 0, ("mlx5_1",): 1}


def test_without_a_driver_ports_go_on_and_the_reason_is_told(node: Node) -> None:
    node.gpus.nvmlDeviceGetCount = lambda: _fail(node)  # type: ignore[method-assign]  # the driver is unloaded
    node.no_driver = True
    assert "NVML does not tell the GPUs" in node.look()["nvml"]
    assert node.look()["nvml"] == "no driver of NVIDIA"
    found = node.scraped()
    assert "trimtab_accelerator_power_watts" not in found
    assert found[f"{P}received_bytes_total"]
    assert node.seen("source_coverage_ratio", "nvml") == {("GPU-a",): 0, ("GPU-b",): 0}
    assert node.seen("source_age_seconds", "nvml") == {("GPU-a",): 30, ("GPU-b",): 30}


def test_a_lost_gpu_is_sick_and_its_age_goes_on(node: Node) -> None:
    node.gpus.gpus[0].lost = True
    node.look()
    assert {key[4]: value for key, value in node.scraped()["trimtab_accelerator_health"].items()} == {
        "GPU-a": 0.0,
        "GPU-b": 1.0,
    }
    assert node.seen("source_age_seconds", "nvml") == {("GPU-a",): 15, ("GPU-b",): 0}


def test_a_node_without_rdma_has_no_device_and_no_error(node: Node, tmp_path: Path) -> None:
    bare = Node(tmp_path / "bare")
    bare.read_files = lambda: read_rdma_files(tmp_path / "nothing")
    bare.interfaces = {}
    bare.look()
    assert bare.seen("source_devices", "sysfs") == {(): 0}
    assert bare.scraped().get("trimtab_collector_errors_total") is None


def test_a_loop_that_stands_is_no_node_at_rest(node: Node) -> None:
    node.now += 91
    found = node.scraped()
    assert not [name for name in found if name.startswith((P, "trimtab_accelerator", "trimtab_network"))]
    assert node.seen("source_age_seconds", "sysfs")[("mlx5_0/1",)] == 91


def _fail(node: Node) -> int:
    raise node.gpus.NVMLError(1)


def test_a_gpu_names_the_pod_that_holds_it_and_nobody_while_the_kubelet_is_silent(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.kubelet = (DeviceHolder("GPU-a", "nvidia.com/gpu", "vision", "train-0", "main"),)
    node.look()

    def holders() -> dict[str, tuple[str, str]]:
        rows = [one.labels for one in node.role.published.readings if one.name == "trimtab_accelerator_power_watts"]
        return {labels["device"]: (labels["attribution"], labels["pod"]) for labels in rows}

    assert holders() == {"GPU-a": ("exclusive", "train-0"), "GPU-b": ("none", "")}
    node.kubelet = None
    assert node.look() == {"kubelet": "the kubelet does not answer"}
    assert holders() == {"GPU-a": ("none", ""), "GPU-b": ("none", "")}


def test_pods_of_rdma_devices_are_named_where_their_plugin_allows_and_the_others_counted(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.kubelet = (
        DeviceHolder("0000:3b:00.2", "nvidia.com/sriov_rail0", "vision", "train-0", "main"),
        DeviceHolder("17", "rdma/hca_shared", "speech", "serve-0", "main"),
        DeviceHolder("GPU-a", "nvidia.com/gpu", "vision", "train-0", "main"),
    )
    node.look()
    page = generate_latest(node.registry).decode()
    assert 'info{cluster="c1",device="mlx5_0",namespace="vision",node="n1",pod="train-0"} 1.0' in page
    for attribution in ("exclusive", "none"):
        assert f'trimtab_rdma_held_devices{{attribution="{attribution}",cluster="c1",node="n1"}} 1.0' in page
    node.kubelet = None
    node.look()
    page = generate_latest(node.registry).decode()
    assert "trimtab_rdma_held_devices{" not in page, "not asked is not none"
