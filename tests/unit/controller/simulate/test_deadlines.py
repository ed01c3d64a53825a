"""Earliest deadline first, those without after them, the hopeless last; on counts and on nodes."""

from __future__ import annotations

from controller.simulate.deadlines import DeadlinePool
from controller.simulate.packing import Packing
from tests.traces import Row, table


def starts(rows: list[Row], nodes: Packing | None = None) -> list[float]:
    pool = DeadlinePool(table(rows), 8, nodes)
    pool.advance()
    return pool.fates.first_start_seconds


def test_the_nearest_deadline_goes_first_and_jobs_without_one_after_all_with() -> None:
    rows = [Row(0, 10, 8), Row(1, 10, 8), Row(2, 10, 8, deadline=90), Row(3, 10, 8, deadline=50)]
    assert starts(rows) == [0, 30, 20, 10]


def test_who_can_no_longer_make_it_goes_last_of_all() -> None:
    rows = [Row(0, 10, 8), Row(1, 10, 8, deadline=15), Row(2, 10, 8), Row(3, 10, 8, deadline=60)]
    assert starts(rows) == [0, 30, 20, 10]


def test_a_gang_without_a_whole_node_is_passed_over() -> None:
    rows = [Row(0, 10, 2), Row(1, 5, 8, deadline=100), Row(2, 3, 6)]
    assert starts(rows, Packing(1, 8)) == [0, 10, 2]


def test_looking_in_between_changes_nothing() -> None:
    pool = DeadlinePool(table([Row(0, 10, 8), Row(1, 10, 8)]), 8)
    for at in (0.5, 10.0, 12.0):
        pool.advance(at)
        assert pool.now == at
    pool.advance()
    assert pool.fates.end_seconds == [10, 20]
    assert pool.fates.stays == [(0, 0, 10), (1, 10, 20)]
