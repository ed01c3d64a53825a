"""Folders laid out as /sys/class/infiniband are found, read file by file, and never lost as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.model.reading import Known
from collector.parse.rdma_files import rdma_readings
from collector.sources.rdma_sysfs import pci_addresses, read_rdma_files
from tests.testbed.fake_rdma_sysfs import FakeRdmaSysfs


@pytest.mark.parametrize("place", ["", "class", "class/infiniband", "class/infiniband/mlx5_0"])
def test_the_devices_are_found_from_any_folder_above_them(tmp_path: Path, place: str) -> None:
    FakeRdmaSysfs(tmp_path).add_device("mlx5_0", "Ethernet").add("port_rcv_data", 3)
    files = read_rdma_files(tmp_path / place)
    assert {one.device for one in files} == {"mlx5_0"}
    assert [one.text for one in files if one.name == "port_rcv_data"] == ["3\n"]
    assert {"state", "phys_state", "rate", "link_layer", "np_cnp_sent", "lifespan"} <= {one.name for one in files}


def test_one_port_that_can_not_be_read_hides_no_other(tmp_path: Path) -> None:
    fake = FakeRdmaSysfs(tmp_path)
    broken = fake.add_device("mlx5_0").folder / "counters"
    fake.add_device("mlx5_1")
    for file in broken.iterdir():
        file.unlink()
    broken.rmdir()
    broken.write_text("no folder")
    files = read_rdma_files(tmp_path)
    assert [one.name for one in files if one.problem] == ["counters"]
    assert sum(one.device == "mlx5_1" and not one.problem for one in files) > 30


def test_a_counter_that_the_driver_does_not_show_is_one_problem(tmp_path: Path) -> None:
    port = FakeRdmaSysfs(tmp_path).add_device()
    file = port.folder / "counters" / "symbol_error"
    file.unlink()
    file.symlink_to(tmp_path / "gone")
    (problem,) = [one for one in read_rdma_files(tmp_path) if one.problem]
    assert (problem.name, problem.problem) == ("symbol_error", "the driver does not show it")


def test_a_folder_without_devices_has_none_and_no_folder_is_an_error(tmp_path: Path) -> None:
    assert read_rdma_files(tmp_path) == ()
    with pytest.raises(FileNotFoundError):
        read_rdma_files(tmp_path / "gone")


def test_settings_of_a_port_are_read_where_the_driver_shows_them(tmp_path: Path) -> None:
    fake = FakeRdmaSysfs(tmp_path)
    fake.add_device("mlx5_0", "Ethernet").set_up(106, ("IB/RoCE v1", "RoCE v2", "RoCE v2"))
    fake.add_interface("mlx5_0", "eth7", 9000)
    fake.add_device("mlx5_1", "Ethernet")
    values = {
        (one.labels["device"], one.name.removeprefix("trimtab_rdma_port_")): one.value
        for one in rdma_readings(read_rdma_files(tmp_path)).readings
    }
    assert values["mlx5_0", "mtu_bytes"] == Known(9000.0)
    assert values["mlx5_0", "routed_gids"] == Known(2.0)
    assert values["mlx5_0", "traffic_class_code"] == Known(106.0)
    shown = {name for device, name in values if device == "mlx5_1"}
    assert shown.isdisjoint({"mtu_bytes", "routed_gids", "traffic_class_code"})


def test_devices_are_found_by_their_place_on_the_bus(tmp_path: Path) -> None:
    place = tmp_path / "devices" / "pci0000:3a" / "0000:3b:00.2"
    place.mkdir(parents=True)
    folder = tmp_path / "class"
    for name, target in (("mlx5_2", place), ("rxe0", tmp_path / "devices")):
        (folder / name).mkdir(parents=True)
        (folder / name / "device").symlink_to(target)
    assert pci_addresses(folder) == {"0000:3b:00.2": "mlx5_2"}
    assert pci_addresses(tmp_path / "gone") == {}
