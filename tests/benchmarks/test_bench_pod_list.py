"""The goals for the first list of pods, on a cluster small enough for every test run."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_pod_list
from tests.testbed.parts import PartMissing


@pytest.mark.benchmark
@pytest.mark.timeout(300)
def test_listing_pods_is_far_cheaper_than_with_the_models_of_the_client_library() -> None:
    try:
        ratios = bench_pod_list.measure(pods=5_000)
    except PartMissing as missing:
        pytest.skip(f"testbed part missing: {missing}")
    assert ratios["pod_list_memory_ratio"] >= 5
    # The goal is 5 for 50 000 pods (make bench); the fewer there are, the more weighs what the server does for both.
    assert ratios["pod_list_time_ratio"] >= 2
