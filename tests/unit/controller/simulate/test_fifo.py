"""First come, first served in each tenant's part: nobody passes, on counts and on nodes."""

from __future__ import annotations

import pytest

from controller.simulate.fifo import fifo_starts
from tests.traces import Row, table

ROWS = [Row(0, 100, 6), Row(1, 10, 4), Row(2, 10, 2), Row(3, 5, 8, "b")]


@pytest.mark.parametrize("gpus_per_node", [None, 8])
def test_a_job_that_would_fit_waits_behind_one_that_does_not(gpus_per_node: int | None) -> None:
    assert fifo_starts(table(ROWS), [8, 8, 0], gpus_per_node) == [0, 100, 100, 3]


def test_a_gang_waits_for_a_whole_node_where_counting_would_let_it_start() -> None:
    rows = [Row(0, 10, 5), Row(0, 20, 5), Row(1, 5, 6)]
    assert fifo_starts(table(rows), [16, 0, 0]) == [0, 0, 1]
    assert fifo_starts(table(rows), [16, 0, 0], 8) == [0, 0, 10]


def test_a_job_larger_than_its_part_is_refused() -> None:
    with pytest.raises(ValueError, match="a has a job of 9 GPUs and 8 GPUs in all"):
        fifo_starts(table([Row(0, 1, 9)]), [8, 0, 0])
