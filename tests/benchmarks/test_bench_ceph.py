"""The goal for a cycle over a thousand OSDs and five thousand images, and that time grows with the cluster."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_ceph
from tests.benchmarks.goals import missed


@pytest.mark.benchmark
def test_a_cycle_over_a_thousand_osds_and_five_thousand_images_takes_a_second_at_most() -> None:
    assert missed(bench_ceph.measure, {"ceph_cycle_seconds": lambda seconds: seconds <= 1.0}) == ""


@pytest.mark.benchmark
def test_four_times_the_cluster_takes_no_more_than_about_four_times_as_long() -> None:
    small, large = (min(bench_ceph.cycles(osds, 5 * osds, 3)) for osds in (100, 400))
    assert large < 8 * small
