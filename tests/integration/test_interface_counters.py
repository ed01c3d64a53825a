"""The kernel of this machine asked for the counters of its own interfaces, as `ethtool -S` asks."""

from __future__ import annotations

from pathlib import Path

from collector.sources.interface_counters import interface_counters, read_interface_counters
from tests.testbed.fake_rdma_sysfs import FakeRdmaSysfs

INTERFACES = Path("/sys/class/net")


def test_every_interface_of_this_machine_answers_or_says_why_not(tmp_path: Path) -> None:
    names = sorted(one.name for one in INTERFACES.iterdir())
    tree = FakeRdmaSysfs(tmp_path)
    for number, name in enumerate(names):
        tree.add_device(f"mlx5_{number}")
        tree.add_interface(f"mlx5_{number}", name)
    found = read_interface_counters(tmp_path / "class/infiniband")
    assert [one.interface for one in found] == names
    for one in found:
        assert not (one.problem and one.counters)
        assert all(name and value >= 0 for name, value in one.counters.items())
    loopback = next(one for one in found if one.interface == "lo")
    assert loopback.problem == "its driver counts nothing"


def test_names_and_values_belong_together() -> None:
    for one in INTERFACES.iterdir():
        try:
            told = interface_counters(one.name)
        except OSError:
            continue
        sent = {name: value for name, value in told.items() if name.startswith("tx_queue_0_")}
        assert sent.get("tx_queue_0_bytes", 0) >= sent.get("tx_queue_0_packets", 0)


def test_an_interface_of_another_network_namespace_says_so(tmp_path: Path) -> None:
    tree = FakeRdmaSysfs(tmp_path)
    tree.add_device("mlx5_0")
    tree.add_interface("mlx5_0", "not-here0")
    (found,) = read_interface_counters(tmp_path / "class/infiniband")
    assert "needs that of the node" in found.problem
