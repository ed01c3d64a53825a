"""The goals for the first list of pods, on a cluster small enough for every test run."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_pod_list
from tests.benchmarks.goals import missed


@pytest.mark.benchmark
@pytest.mark.timeout(1800)
def test_listing_pods_is_far_cheaper_than_with_the_models_of_the_client_library() -> None:
    # The goal is 5 for 50 000 pods (make bench); the fewer there are, the more weighs what the server does for both.
    goals = {"pod_list_memory_ratio": lambda times: times >= 5, "pod_list_time_ratio": lambda times: times >= 2}
    assert not missed(lambda: bench_pod_list.measure(pods=5_000), goals)
