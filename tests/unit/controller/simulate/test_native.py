"""Plain Kubernetes: refused by quota, served by whoever tries first; extra work makes way for normal work."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.simulate.native import NativeBatch, NativeSetting, WorkClass
from controller.simulate.retries import next_try
from tests.traces import Row, table

NORMAL, BORROW = WorkClass.NORMAL, WorkClass.BORROW


def ran(
    rows: list[Row],
    quotas: list[float],
    caps: list[float] | None = None,
    capacity: int = 1000,
    gpus_per_node: int | None = None,
    classes: list[WorkClass] | None = None,
) -> NativeBatch:
    setting = NativeSetting(quotas, caps or [0] * len(quotas), capacity, classes, gpus_per_node)
    running = NativeBatch(table(rows), setting)
    running.advance()
    return running


def starts(*args: object, **named: object) -> list[float]:
    return ran(*args, **named).fates.first_start_seconds  # type: ignore[arg-type]


def test_who_tries_first_is_served_and_not_who_came_first() -> None:
    rows = [Row(0, 100, 8), Row(1, 10, 8), Row(95, 10, 8)]
    assert starts(rows, [8, 0, 0]) == [0, 124, 102], "tries at 64 and 124, and at 95, 96, 98, 102"


def test_a_new_job_takes_what_became_free_before_an_old_one_tries_again() -> None:
    rows = [Row(0, 100, 8), Row(1, 10, 8), Row(101, 50, 8)]
    assert starts(rows, [8, 0, 0]) == [0, 184, 101]


def test_pods_that_are_made_wait_for_nodes_and_not_for_their_next_try() -> None:
    rows = [Row(0, 10, 6, "a"), Row(1, 10, 6, "b")]
    assert starts(rows, [8, 8, 0]) == [0, 1]
    assert starts(rows, [8, 8, 0], capacity=8, gpus_per_node=8) == [0, 10]


def test_work_beyond_the_quota_runs_under_the_borrow_class_up_to_the_cap() -> None:
    rows = [Row(0, 100, 8), Row(1, 10, 8), Row(2, 10, 8)]
    assert starts(rows, [8, 0, 0], [8, 0, 0]) == [0, 1, 17], "the third is refused at 2, 3, 5 and 9"


def test_the_owner_of_borrowed_gpus_takes_them_back_at_once_and_the_loser_tries_again() -> None:
    rows = [Row(0, 100, 8, "a"), Row(5, 50, 4, "b"), Row(6, 50, 4, "b")]
    batch = ran(rows, [0, 8, 0], [8, 0, 0], capacity=8)
    fates = batch.fates
    assert fates.first_start_seconds == [0, 5, 6]
    assert fates.evictions == [1, 0, 0]
    assert fates.evictors == {0: {1: 1}}
    assert fates.lost_gpu_seconds == [40, 0, 0], "it saved nothing"
    assert fates.end_seconds == [56 + 100 + 30, 55, 56], "made anew at 10, bound as soon as it fits, with the restart"


def test_the_youngest_make_way_and_nobody_needlessly() -> None:
    rows = [Row(0, 99, 2, "a"), Row(1, 99, 4, "a"), Row(2, 99, 2, "a"), Row(3, 9, 4, "b")]
    batch = ran(rows, [0, 8, 0], [inf, 0, 0], capacity=8)
    assert batch.fates.evictions == [0, 1, 0, 0], "the youngest is too small, and is not needed beside the next"


def test_on_nodes_the_fewest_make_way() -> None:
    rows = [Row(0, 99, 4, "a"), Row(1, 99, 4, "a"), Row(2, 99, 8, "a"), Row(3, 9, 8, "b")]
    batch = ran(rows, [0, 8, 0], [inf, 0, 0], capacity=16, gpus_per_node=8)
    assert batch.fates.evictions == [0, 0, 1, 0], "one gang on the second node, not two on the first"


def test_a_gang_of_whose_pods_one_makes_way_makes_way_as_a_whole() -> None:
    rows = [Row(0, 99, 16, "a"), Row(3, 9, 8, "b")]
    batch = ran(rows, [0, 8, 0], [inf, 0, 0], capacity=16, gpus_per_node=8)
    assert batch.fates.evictions == [1, 0]
    assert batch.tenant(0).extra_placed == 0


def test_normal_work_does_not_evict_where_its_nodes_would_not_be_whole() -> None:
    rows = [Row(0, 50, 4, "b"), Row(0, 40, 4, "a"), Row(1, 9, 8, "b")]
    batch = ran(rows, [0, 12, 0], [inf, 0, 0], capacity=8, gpus_per_node=8)
    assert batch.fates.evictions == [0, 0, 0]
    assert batch.fates.first_start_seconds == [0, 0, 50]


def test_a_lowered_cap_evicts_nobody_and_lets_nobody_follow() -> None:
    rows = [Row(0, 30, 8), Row(1, 30, 8), Row(40, 9, 8)]
    batch = NativeBatch(table(rows), NativeSetting([0, 0, 0], [8, 0, 0], 100))
    batch.advance(20)
    batch.set_cap(0, 0)
    batch.advance(300)
    assert batch.fates.first_start_seconds == [0, -1, -1]
    held = batch.tenant(0)
    assert (held.extra_made, held.refused, held.asked, held.ended, held.ran_seconds) == (0, 16, 16, 1, 30)
    batch.set_cap(0, 8)
    batch.advance()
    assert batch.is_done()
    assert sorted(batch.fates.first_start_seconds) == [0, 304, 343], "tries at 304 and at 343"


def test_jobs_can_be_bound_to_one_class() -> None:
    rows = [Row(0, 10, 8), Row(0, 10, 8)]
    assert starts(rows, [8, 0, 0], [8, 0, 0], classes=[BORROW, BORROW]) == [0, 15]
    assert starts(rows, [8, 0, 0], [8, 0, 0], classes=[NORMAL, BORROW]) == [0, 0]


def test_it_tells_what_everybody_can_see() -> None:
    rows = [Row(0, 100, 8), Row(1, 100, 4), Row(2, 100, 6)]
    batch = NativeBatch(table(rows), NativeSetting([8, 0, 0], [4, 0, 0], 16, None, 8))
    batch.advance(10)
    held = batch.tenant(0)
    assert (held.normal_made, held.normal_placed, held.extra_made, held.extra_placed, held.refused) == (8, 8, 4, 4, 6)
    assert held.ran_seconds == 10 + 9
    assert batch.free_by_node == [0, 4]
    ((sighting, gpus),) = batch.refused(0, 5)
    assert (sighting.row, sighting.waited_seconds, gpus) == (2, 8, 6)
    assert batch.next_moment() == 100


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 200), st.integers(1, 8), st.sampled_from("ab")), max_size=12)
)
def test_it_is_as_if_every_try_had_been_made(drawn: list[tuple[int, int, int, str]]) -> None:
    rows = [
        Row(at + number / 64, run + number / 128, gpus, tenant)
        for number, (at, run, gpus, tenant) in enumerate(sorted(drawn))
    ]
    assert starts(rows, [8, 8, 0]) == pytest.approx(every_try(rows, 8))


@given(
    st.lists(
        st.tuples(st.integers(0, 300), st.integers(1, 200), st.integers(1, 16), st.sampled_from("ab")), max_size=20
    ),
    st.booleans(),
)
def test_whatever_comes_everything_ends_and_nobody_holds_more_than_there_is(
    drawn: list[tuple[int, int, int, str]], on_nodes: bool
) -> None:
    rows = [Row(*one) for one in sorted(drawn)]
    batch = ran(rows, [16, 8, 0], [16, 8, 0], capacity=24, gpus_per_node=8 if on_nodes else None)
    fates = batch.fates
    too_large = [row.gpus > (16 if row.tenant == "a" else 8) for row in rows]
    assert [end < 0 for end in fates.end_seconds] == too_large
    for _, at, _ in fates.stays:
        assert sum(rows[row].gpus for row, begin, end in fates.stays if begin <= at < end) <= 24


def every_try(rows: list[Row], quota: int) -> list[float]:
    """The same, try by try."""
    began: dict[int, float] = {}
    tries = sorted((try_of(row.submitted, count), number) for number, row in enumerate(rows) for count in range(200))
    for at, number in tries:
        row = rows[number]
        used = sum(
            rows[other].gpus
            for other, start in began.items()
            if rows[other].tenant == row.tenant and start + rows[other].run > at
        )
        if number not in began and used + row.gpus <= quota:
            began[number] = at
    return [began[number] for number in range(len(rows))]


def try_of(submitted: float, count: int) -> float:
    at = submitted
    for _ in range(count):
        at = next_try(submitted, at + 0.001)
    return at
