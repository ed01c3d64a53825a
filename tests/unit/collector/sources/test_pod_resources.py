"""Asking a FAKE of the kubelet over a real Unix socket: what it answers, and each way in which it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from collector.sources.pod_resources import PodResourcesMissing, read_device_holders
from tests.testbed.fake_kubelet import FakeKubelet

GPUS = ("vision", "train-0", "main", "nvidia.com/gpu", ("GPU-a", "GPU-b"))


def test_the_holders_of_all_devices_are_read(tmp_path: Path) -> None:
    with FakeKubelet(tmp_path / "kubelet.sock", [GPUS]) as kubelet:
        first, second = read_device_holders(kubelet.path), read_device_holders(kubelet.path)
    assert first == second
    assert [(one.device, one.namespace, one.pod) for one in first] == [
        ("GPU-a", "vision", "train-0"),
        ("GPU-b", "vision", "train-0"),
    ]


def test_an_answer_larger_than_a_window_is_read_whole(tmp_path: Path) -> None:
    many = [("ns", f"pod-{number}", "c", "nvidia.com/gpu", (f"GPU-{number}",)) for number in range(5000)]
    with FakeKubelet(tmp_path / "kubelet.sock", many) as kubelet:
        assert len(read_device_holders(kubelet.path)) == 5000


def test_a_kubelet_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PodResourcesMissing, match="does not answer: No such file or directory"):
        read_device_holders(tmp_path / "none.sock")


@pytest.mark.parametrize(
    ("fake", "why"),
    [
        ({"status": "12"}, "refuses \\(gRPC status 12\\): why"),
        ({"body": b"\x00\x00"}, "2 bytes that are no message of gRPC"),
        ({"body": b"\x00\x00\x00\x00\x03\x0a\x05a"}, "is not understood: field 1 at byte 2 is cut off"),
    ],
)
def test_what_is_no_answer_is_said(tmp_path: Path, fake: dict[str, object], why: str) -> None:
    with FakeKubelet(tmp_path / "kubelet.sock", **fake) as kubelet, pytest.raises(PodResourcesMissing, match=why):  # type: ignore[arg-type]  # a test's shorthand
        read_device_holders(kubelet.path)


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h2.config", None)
    with pytest.raises(PodResourcesMissing, match="install trimtab\\[nvml\\]"):
        read_device_holders(tmp_path / "kubelet.sock")
