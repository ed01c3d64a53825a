"""The goals for the node role: small enough for every node."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_node_role


@pytest.mark.benchmark
def test_the_node_role_is_small_and_idle() -> None:
    measured = bench_node_role.measure(looks=8)
    assert measured["node_role_rss_mb"] <= 60
    assert measured["node_role_core_ratio"] <= 0.01
