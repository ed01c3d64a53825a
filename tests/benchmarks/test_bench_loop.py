"""The goals for the running loop, on a cluster small enough for every test run."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_loop
from tests.benchmarks.goals import missed


@pytest.mark.benchmark
@pytest.mark.timeout(1800)
def test_the_loop_is_small_and_soon_there() -> None:
    # The goal is 1.5 s for 1 000 GPUs on a machine at rest (make bench). Here the machine is unknown, so a Python that
    # loads the client library is the measure: three of its starts are usual, busy machine or not.
    goals = {"loop_rss_mb": lambda mb: mb <= 120, "loop_first_tick_ratio": lambda times: times <= 6}
    small = bench_loop.Size(nodes=10, tenants=4)
    assert not missed(lambda: bench_loop.measure(small, starts=3), goals)
