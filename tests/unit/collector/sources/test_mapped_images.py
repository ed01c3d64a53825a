"""Mapped images of RBD in a folder laid out as sysfs, and the statistics of a real disk."""

from __future__ import annotations

from pathlib import Path

from collector.parse.block_stat import MappedImage, mapped_image_readings
from collector.parse.ceph_names import RbdImage
from collector.sources.mapped_images import read_mapped_images

STAT = "1 2 3 4 5 6 7 8 9 10 11"


def mapped(sysfs: Path, number: int, stat: str | None = STAT, **files: str) -> None:
    device = sysfs / "bus" / "rbd" / "devices" / str(number)
    device.mkdir(parents=True)
    for name, text in files.items():
        (device / name).write_text(f"{text}\n")
    if stat is not None:
        block = sysfs / "block" / f"rbd{number}"
        block.mkdir(parents=True)
        (block / "stat").write_text(f"{stat}\n")


def test_each_device_names_its_image_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    mapped(tmp_path, 10, pool="rbd", pool_ns="team", name="b")
    mapped(tmp_path, 9, pool="fast", name="a")
    assert read_mapped_images(tmp_path) == (
        MappedImage("rbd9", RbdImage("fast", "", "a"), STAT),
        MappedImage("rbd10", RbdImage("rbd", "team", "b"), STAT),
    )


def test_a_device_that_vanishes_meanwhile_costs_the_others_nothing(tmp_path: Path) -> None:
    mapped(tmp_path, 0, stat=None, pool="rbd", name="going")
    mapped(tmp_path, 1, pool="rbd", name="a")
    assert [one.device for one in read_mapped_images(tmp_path)] == ["rbd1"]


def test_a_node_without_mapped_images_has_none(tmp_path: Path) -> None:
    assert read_mapped_images(tmp_path) == ()


def test_the_statistics_of_a_real_disk_are_read() -> None:
    disks = [path for path in Path("/sys/block").glob("*/stat") if path.read_text().strip()]
    images = [MappedImage(path.parent.name, RbdImage("", "", ""), path.read_text()) for path in disks]
    assert len(mapped_image_readings(images)) == 6 * len(disks)
