"""Attainment by the minute: demand up to the burst, late only beyond the limit, waits that go on after an eviction."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from controller.simulate.attainment import attainments
from controller.simulate.batch_setting import NEVER, Fates
from controller.simulate.shares import Share
from tests.traces import Row, table

SHARES = (
    Share("a", 8, tier="critical"),
    Share("b", 8, tier="standard", burst=4),
    Share("c", 8, tier="best-effort"),
)


def fates(rows: int, stays: Sequence[tuple[int, float, float]]) -> Fates:
    found = Fates.none_yet(rows)
    found.stays = list(stays)
    for row, _, end in stays:
        found.end_seconds[row] = end
    return found


def test_minutes_beyond_the_limit_are_bad_and_no_demand_counts_nothing() -> None:
    # Waits 8 minutes of which 3 are over 300 s, runs 2 minutes: minutes 0-9, bad at 5, 6 and 7.
    found = attainments(table([Row(0, 120, 8)]), fates(1, [(0, 480, 600)]), SHARES)
    assert found["a"] == pytest.approx(1 - 3 / 10)
    assert found["b"] is None, "asked for nothing"
    assert found["c"] is None, "no limit"


def test_a_wait_goes_on_after_an_eviction_where_it_stood() -> None:
    stays = [(0, 240, 300), (0, 480, 540)]
    found = attainments(table([Row(0, 120, 8)]), fates(1, stays), SHARES)
    assert found["a"] == pytest.approx(1 - 2 / 9), "four minutes before, so late from the second minute after"


def test_only_demand_up_to_the_burst_counts() -> None:
    rows = [Row(0, 7200, 4, "b"), Row(0, 60, 4, "b")]
    found = attainments(table(rows), fates(2, [(0, 0, 7200), (1, 7200, 7260)]), SHARES)
    assert found["b"] == 1.0, "the burst of 4 runs all the time"


def test_what_never_started_is_late_to_the_end_and_gangs_beyond_the_burst_are_not_judged() -> None:
    rows = [Row(0, 600, 4), Row(0, 60, 4), Row(0, 60, 9)]
    found = attainments(table(rows), fates(3, [(0, 0, 600)]), SHARES)
    assert found["a"] == pytest.approx(1 - 5 * 4 / (10 * 8))
    assert fates(3, []).end_seconds == [NEVER] * 3
