"""The goals for deciding on a large cluster."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_decide
from tests.benchmarks.goals import missed


@pytest.mark.benchmark
def test_a_decision_on_ten_thousand_workloads_takes_a_twentieth_of_a_second_and_half_of_one_at_worst() -> None:
    goals = {
        "decide_seconds": lambda seconds: seconds <= 0.05,
        "decide_all_starved_seconds": lambda seconds: seconds <= 0.5,
    }
    assert not missed(bench_decide.measure, goals)
