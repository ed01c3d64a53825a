"""Disk statistics of the kernel for a mapped image of RBD → readings. Pure: no I/O.

The fields of `/sys/block/…/stat` have stood in the same order since Linux 2.6; later kernels only add some at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from collector.catalogue.krbd import KRBD_PREFIX
from collector.model.collected import NormalReading
from collector.model.reading import Known
from collector.parse.ceph_names import RbdImage
from collector.parse.plain_series import unit_of

SOURCE: Final = "krbd"
_SECTOR_BYTES: Final = 512
"""Whatever the device's own sectors are."""
_FIELDS: Final = (
    ("read_operations_total", 0, 1),
    ("read_merged_operations_total", 1, 1),
    ("read_bytes_total", 2, _SECTOR_BYTES),
    ("write_operations_total", 4, 1),
    ("write_merged_operations_total", 5, 1),
    ("write_bytes_total", 6, _SECTOR_BYTES),
)
_NEEDED: Final = 8


@dataclass(frozen=True, slots=True)
class MappedImage:
    """An image that a node has mapped as a block device, and the text of that device's statistics."""

    device: str
    image: RbdImage
    stat: str


def mapped_image_readings(
    images: Iterable[MappedImage], node: str = "", time: float | None = None
) -> tuple[NormalReading, ...]:
    """Readings of every image. One whose statistics are not as they should be has none."""
    return tuple(reading for one in images for reading in _of_image(one, node, time))


def _of_image(one: MappedImage, node: str, time: float | None) -> Iterator[NormalReading]:
    fields = one.stat.split()
    if len(fields) < _NEEDED or not all(field.isascii() and field.isdigit() for field in fields):
        return
    labels = dict(zip(("ceph_pool", "image_namespace", "image"), one.image, strict=True))
    for name, place, factor in _FIELDS:
        ours = KRBD_PREFIX + name
        value = Known(float(int(fields[place]) * factor))
        yield NormalReading(ours, value, unit_of(ours), {"node": node, "device": one.device, **labels}, time, SOURCE)
