"""The goals of the cluster role, and that three times the work takes about three times as long."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_cluster
from tests.benchmarks.cluster_once import cycle_seconds, objects, picture_from
from tests.benchmarks.goals import missed


@pytest.mark.benchmark
def test_three_times_the_workloads_take_no_more_than_about_three_times_as_long() -> None:
    assert cycle_seconds(6000)[0] < 5 * cycle_seconds(2000)[0]


@pytest.mark.benchmark
def test_a_cycle_over_ten_thousand_workloads_stays_within_its_seconds_and_its_memory() -> None:
    goals = {"cluster_cycle_seconds": lambda seconds: seconds <= 2, "cluster_rss_mb": lambda mb: mb <= 250}
    assert not missed(bench_cluster.measure, goals)


@pytest.mark.benchmark
def test_the_cluster_that_is_measured_is_whole() -> None:
    picture = picture_from(objects(1000, 1000), now=0.0)
    assert (len(picture.workloads), len(picture.jobs), len(picture.pods), len(picture.nodes)) == (1000, 1000, 500, 125)
