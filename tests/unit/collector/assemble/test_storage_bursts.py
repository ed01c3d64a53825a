"""How unevenly images move data: a steady stream, waves of checkpoints, and what is too young to tell."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.assemble.storage_bursts import Bursts
from collector.model.reading import Known, Unknown
from collector.parse.ceph import ImageReading, Transfer
from collector.parse.ceph_names import RbdImage
from tests.ceph_pages import known

A, B = RbdImage("rbd", "", "a"), RbdImage("rbd", "", "b")
NOTHING = Known(Transfer(0.0, 0.0, 0.0, 5.0))


def watched(written: Iterable[float], image: RbdImage = A, bursts: Bursts | None = None) -> Bursts:
    """Looked at every five seconds, after each of which so many bytes had been written."""
    found = bursts or Bursts()
    for number, size in enumerate(written, 1):
        moved = Known(Transfer(size / 4096, 0.0, size, 5.0))
        found = found.advanced([ImageReading(image, NOTHING, moved)], number * 5.0)
    return found


def test_a_steady_stream_is_even() -> None:
    assert known(watched([1e6] * 60).burstiness([A], "write")) == pytest.approx(0.0, abs=1e-6)


def test_checkpoints_every_two_minutes_are_waves() -> None:
    waves = [1e9 if number % 24 == 0 else 0.0 for number in range(240)]
    assert known(watched(waves).burstiness([A], "write")) > 3


def test_watched_for_too_short_nothing_is_said() -> None:
    assert watched([1e9, 0.0, 0.0]).burstiness([A], "write") == Unknown("watched for 15s: waves show after 2m")
    assert Bursts().burstiness([A], "write") == Unknown("none of its images was watched yet")


def test_what_does_not_flow_is_neither_even_nor_uneven() -> None:
    assert watched([1e6] * 60).burstiness([A], "read") == Unknown("nothing flowed")


def test_of_several_images_the_one_that_moves_most_counts() -> None:
    found = Bursts()
    for number in range(1, 61):
        steady = Known(Transfer(1.0, 0.0, 1e9, 5.0))
        rare = Known(Transfer(1.0, 0.0, 1e6 if number % 20 == 0 else 0.0, 5.0))
        found = found.advanced([ImageReading(A, NOTHING, steady), ImageReading(B, NOTHING, rare)], number * 5.0)
    assert known(found.burstiness([A, B], "write")) == pytest.approx(0.0, abs=1e-6)


def test_an_image_that_is_exported_no_more_is_forgotten() -> None:
    assert watched([1e6] * 60, B, watched([1e6] * 60)).flows.keys() == {B}


@given(st.lists(st.floats(min_value=0, max_value=1e12), min_size=30, max_size=60))
def test_whatever_is_written_it_is_a_number_that_is_not_negative_or_unknown(written: list[float]) -> None:
    found = watched(written).burstiness([A], "write")
    assert isinstance(found, Unknown) or found.value >= 0
