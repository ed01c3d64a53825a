"""The fake tree has the files of a real one, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.testbed.fake_rdma_sysfs import NOT_AVAILABLE, FakeRdmaSysfs


def files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_counters_move_and_states_change(tmp_path: Path) -> None:
    port = FakeRdmaSysfs(tmp_path).add_device()
    port.add("port_xmit_data", 250)
    port.add("port_xmit_data", 250)
    port.put("port_xmit_wait", NOT_AVAILABLE)
    port.set_state("down")
    folder = tmp_path / "class/infiniband/mlx5_0/ports/1"
    assert (folder / "counters/port_xmit_data").read_text() == "500\n"
    assert (folder / "counters/port_xmit_wait").read_text() == "N/A (no PMA)\n"
    assert ((folder / "state").read_text(), (folder / "phys_state").read_text()) == ("1: DOWN\n", "3: Disabled\n")


def test_congestion_notices_are_counted_over_ethernet_only(tmp_path: Path) -> None:
    tree = FakeRdmaSysfs(tmp_path)
    tree.add_device("mlx5_1", link_layer="Ethernet").add("rp_cnp_handled", 1)
    with pytest.raises(FileNotFoundError):
        tree.add_device("mlx5_0").add("rp_cnp_handled", 1)


def test_its_files_are_those_of_a_real_device(tmp_path: Path, shared_folder: Path) -> None:
    real = shared_folder / "fixtures/procfs-infiniband/tree/sys/class/infiniband/mlx5_0"
    FakeRdmaSysfs(tmp_path).add_device()
    assert files(tmp_path / "class/infiniband/mlx5_0") <= files(real)
