"""The kubelet's answer, byte by byte: who holds which device, and what is no answer."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.parse.pod_resources import DeviceHolder, NotPodResources, device_holders
from tests.testbed.fake_kubelet import answer, field

GPUS = ("vision", "train-0", "main", "nvidia.com/gpu", ("GPU-a", "GPU-b::1"))


def test_every_device_of_every_container_names_its_holder() -> None:
    found = device_holders(answer([GPUS, ("nlp", "x", "c", "rdma/hca", ("mlx5_0",))]))
    assert found == (
        DeviceHolder("GPU-a", "nvidia.com/gpu", "vision", "train-0", "main"),
        DeviceHolder("GPU-b::1", "nvidia.com/gpu", "vision", "train-0", "main"),
        DeviceHolder("mlx5_0", "rdma/hca", "nlp", "x", "c"),
    )
    assert device_holders(b"") == ()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"\x0a\x05ab", "field 1 at byte 2 is cut off"),
        (b"\x0b", "of kind 3"),
        (b"\xff" * 12, "has no end"),
        (field(1, field(1, b"\xff\xfe") + field(3, field(2, field(2, "GPU-a")))), "not in UTF-8"),
        (b"\x09\x00", "the last field is cut off"),
    ],
)
def test_what_is_no_answer_is_said(message: bytes, why: str) -> None:
    with pytest.raises(NotPodResources, match=why):
        device_holders(message)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_none(message: bytes) -> None:
    with suppress(NotPodResources):
        device_holders(message)
