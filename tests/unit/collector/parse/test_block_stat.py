"""Disk statistics of mapped images: which field is which, and what is no statistics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.parse.block_stat import MappedImage, mapped_image_readings
from collector.parse.ceph_names import RbdImage
from tests.ceph_pages import known

IMAGE = RbdImage("rbd", "team", "csi-vol-1")
STAT = "     100       40     8000       12       30        6      640        9        0       20       21 0 0 0 0 5 6"


def values(stat: str) -> dict[str, float]:
    readings = mapped_image_readings([MappedImage("rbd0", IMAGE, stat)], "node-1", 5.0)
    assert all(
        one.labels
        == {"node": "node-1", "device": "rbd0", "ceph_pool": "rbd", "image_namespace": "team", "image": "csi-vol-1"}
        for one in readings
    )
    return {one.name.removeprefix("trimtab_krbd_"): known(one.value) for one in readings}


def test_requests_merges_and_bytes_of_reads_and_writes() -> None:
    assert values(STAT) == {
        "read_operations_total": 100.0,
        "read_merged_operations_total": 40.0,
        "read_bytes_total": 8000 * 512.0,
        "write_operations_total": 30.0,
        "write_merged_operations_total": 6.0,
        "write_bytes_total": 640 * 512.0,
    }


@pytest.mark.parametrize("stat", ["", "1 2 3", "1 2 3 4 5 6 7 eight", "1 2 3 4 5 6 -7 8"])
def test_what_is_no_statistics_has_no_reading(stat: str) -> None:
    assert values(stat) == {}


@given(st.text(max_size=60))
def test_whatever_stands_there_it_is_read(stat: str) -> None:
    values(stat)
