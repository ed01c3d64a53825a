"""Plain Kubernetes: refused by quota, tried again with growing pauses, served by whoever tries first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.simulate.native import QuotaRetries, next_try
from controller.simulate.packing import Packing
from tests.traces import Row, table


def starts(rows: list[Row], quotas: list[int], nodes: Packing | None = None) -> list[float]:
    running = QuotaRetries(table(rows), quotas, nodes)
    running.advance()
    return running.fates.first_start_seconds


@pytest.mark.parametrize(
    ("now", "then"), [(100, 100), (100.5, 101), (104, 107), (131.5, 163), (163, 163), (163.1, 223), (500, 523)]
)
def test_pauses_double_up_to_a_minute(now: float, then: float) -> None:
    assert next_try(100.0, now) == then


def test_who_tries_first_is_served_and_not_who_came_first() -> None:
    rows = [Row(0, 100, 8), Row(1, 10, 8), Row(95, 10, 8)]
    assert starts(rows, [8, 0, 0]) == [0, 124, 102], "tries at 64 and 124, and at 95, 96, 98, 102"


def test_a_new_job_takes_what_became_free_before_an_old_one_tries_again() -> None:
    rows = [Row(0, 100, 8), Row(1, 10, 8), Row(101, 50, 8)]
    assert starts(rows, [8, 0, 0]) == [0, 184, 101]


def test_quota_is_each_tenants_own_and_nodes_are_everybodys() -> None:
    rows = [Row(0, 10, 6, "a"), Row(1, 10, 6, "b")]
    assert starts(rows, [8, 8, 0]) == [0, 1]
    assert starts(rows, [8, 8, 0], Packing(1, 8)) == [0, 16]


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 200), st.integers(1, 8), st.sampled_from("ab")), max_size=12)
)
def test_it_is_as_if_every_try_had_been_made(drawn: list[tuple[int, int, int, str]]) -> None:
    rows = [
        Row(at + number / 64, run + number / 128, gpus, tenant)
        for number, (at, run, gpus, tenant) in enumerate(sorted(drawn))
    ]
    assert starts(rows, [8, 8, 0]) == pytest.approx(every_try(rows, 8))


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
    return submitted + (2.0**count - 1 if count <= 6 else 63 + 60 * (count - 6))
