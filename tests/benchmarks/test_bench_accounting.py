"""The goal for the history: five thousand changes of state a second, on SQLite."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_accounting


@pytest.mark.benchmark
def test_five_thousand_changes_of_state_are_derived_and_written_in_a_second() -> None:
    measured = bench_accounting.measure()
    assert measured["accounting_rows_per_second"] >= 5000
    assert measured["accounting_look_seconds"] <= 0.5, "a look at 10 000 works in which nothing has changed"
