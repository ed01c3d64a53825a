"""A simulation of a million jobs fits into 1 GB: a tenth of it is run here, and memory grows no faster than jobs."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_simulate
from tests.benchmarks.goals import missed


@pytest.mark.benchmark
def test_a_tenth_of_a_million_jobs_takes_a_tenth_of_a_gigabyte_beside_the_program_itself() -> None:
    program = bench_simulate.measure(1000)["simulate_peak_rss_mb"]
    goals = {"simulate_peak_rss_mb": lambda mb: mb - program <= (1000 - program) / 10}
    assert not missed(lambda: bench_simulate.measure(100_000), goals)
