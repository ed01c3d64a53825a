"""The goal for bringing a thousand GPUs under our names, and that twice the text costs twice the time."""

from __future__ import annotations

import time

import pytest

from collector.parse.collect import SourceKind, collect_text
from tests.benchmarks import bench_collect


@pytest.mark.benchmark
def test_four_times_the_text_takes_no_more_than_about_four_times_as_long() -> None:
    def seconds(gpus: int) -> float:
        text = bench_collect.gpu_text(gpus)
        started = time.process_time()
        collect_text(text, SourceKind.DCGM)
        return time.process_time() - started

    assert min(seconds(1000) for _ in range(2)) < 8 * min(seconds(250) for _ in range(3))


@pytest.mark.benchmark
def test_a_thousand_gpus_are_read_within_a_second() -> None:
    assert bench_collect.measure()["exposition_1000_gpus_seconds"] <= 1
