"""The goal for bringing a thousand GPUs under our names, and that twice the text costs twice the time."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_collect


@pytest.mark.benchmark
def test_a_thousand_gpus_are_read_within_a_second() -> None:
    assert bench_collect.measure()["exposition_1000_gpus_seconds"] <= 1
