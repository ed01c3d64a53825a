"""Reads which images of RBD the kernel of this node has mapped, and their disk statistics, from sysfs. Judges none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from collector.parse.block_stat import MappedImage
from collector.parse.ceph_names import RbdImage

_DEVICES: Final = "bus/rbd/devices"
_LARGEST_BYTES: Final = 4096


def read_mapped_images(sysfs: Path) -> tuple[MappedImage, ...]:
    """Those below a folder laid out as /sys; none where no image is mapped. A device that vanishes meanwhile is left
    out: pods come and go."""
    return tuple(_mapped(sysfs))


def _mapped(sysfs: Path) -> Iterator[MappedImage]:
    try:
        devices = sorted((sysfs / _DEVICES).iterdir(), key=lambda path: (len(path.name), path.name))
    except OSError:
        return
    for device in devices:
        name = f"rbd{device.name}"
        try:
            image = RbdImage(_text(device / "pool"), _namespace(device), _text(device / "name"))
            yield MappedImage(name, image, _text(sysfs / "block" / name / "stat"))
        except OSError:
            continue


def _namespace(device: Path) -> str:
    """Kernels before 4.19 know none."""
    try:
        return _text(device / "pool_ns")
    except OSError:
        return ""


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(_LARGEST_BYTES).decode("utf-8", "replace").strip()
