"""One queue whose order somebody changes while jobs wait."""

from __future__ import annotations

from math import inf

from controller.simulate.packing import Packing
from controller.simulate.priority_pool import PriorityPool
from tests.traces import Row, table


def test_the_highest_priority_goes_first_then_age_and_who_does_not_fit_is_passed_over() -> None:
    jobs = table([Row(0, 100, 8), Row(1, 10, 8), Row(2, 10, 8, priority=5), Row(3, 10, 16), Row(4, 10, 4)])
    pool = PriorityPool(jobs, 8)
    pool.advance()
    assert pool.fates.first_start_seconds == [0, 110, 100, -1, 120]


def test_a_priority_that_changes_while_it_waits_counts_from_then_on() -> None:
    jobs = table([Row(0, 100, 8), Row(1, 10, 8), Row(2, 10, 8)])
    pool = PriorityPool(jobs, 8)
    pool.advance(50)
    assert (pool.now, pool.arrivals, list(pool.arrived(1))) == (50, 3, [1, 2])
    pool.set_priority(2, 7)
    pool.set_priority(0, 7)  # it runs: nothing to change
    assert (pool.priority(0), pool.priority(2), pool.waits(0), pool.waits(2)) == (0, 7, False, True)
    pool.set_priority(2, -1)
    pool.set_priority(2, 7)
    pool.advance()
    assert pool.fates.first_start_seconds == [0, 110, 100]
    assert pool.next_moment() == inf


def test_gangs_find_whole_nodes() -> None:
    jobs = table([Row(0, 100, 4), Row(0, 50, 4), Row(1, 10, 16), Row(2, 10, 8)])
    pool = PriorityPool(jobs, 16, Packing(2, 8))
    pool.advance()
    assert pool.fates.first_start_seconds == [0, 0, 100, 2]
    assert pool.fates.stays[-1] == (2, 100, 110)
