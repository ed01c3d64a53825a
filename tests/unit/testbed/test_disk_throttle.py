"""Where the limits of a disk stand: version 1 or 2 of cgroups, whichever the machine has, and only on a real disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.testbed.disk_throttle import NoThrottle, device_below, find_controller


def mounts(folder: Path, *lines: str) -> Path:
    table = folder / "mounts"
    table.write_text("".join(f"{line}\n" for line in lines))
    return table


def version_2(folder: Path, controllers: str) -> str:
    root = folder / "unified"
    root.mkdir()
    (root / "cgroup.controllers").write_text(f"{controllers}\n")
    return f"cgroup2 {root} cgroup2 rw,relatime 0 0"


def test_version_1_is_taken_where_it_holds_the_disks(tmp_path: Path) -> None:
    blkio = "cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0"
    found = find_controller(mounts(tmp_path, version_2(tmp_path, "cpu"), blkio))
    assert found.root == Path("/sys/fs/cgroup/blkio")
    assert found.limit.format(device="8:0", iops=15) == "8:0 15"


def test_version_2_is_asked_to_let_groups_have_limits(tmp_path: Path) -> None:
    found = find_controller(mounts(tmp_path, version_2(tmp_path, "cpu io memory")))
    assert (found.root / "cgroup.subtree_control").read_text() == "+io"
    assert found.limit_file == "io.max"
    assert found.limit.format(device="8:0", iops=15) == "8:0 wiops=15"
    assert found.no_limit.format(device="8:0") == "8:0 wiops=max"


def test_a_machine_without_either_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoThrottle, match="no cgroup hierarchy"):
        find_controller(mounts(tmp_path, version_2(tmp_path, "cpu memory")))


def test_what_lies_on_no_disk_can_not_be_slowed() -> None:
    with pytest.raises(NoThrottle, match="lies on no block device"):
        device_below(Path("/proc/self"))
