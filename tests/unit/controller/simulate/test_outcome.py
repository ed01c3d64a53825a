"""What a run came to: waits by rank, misses, losses, use of the cluster."""

from __future__ import annotations

import math

import pytest

from controller.simulate.batch_setting import NEVER, Fates
from controller.simulate.outcome import outcome_of, quantile
from controller.simulate.shares import Share
from tests.traces import Row, table

SHARES = (Share("a", 8), Share("b", 8), Share("c", 8))


def test_waits_losses_and_misses_are_told_for_all_and_by_tenant() -> None:
    rows = [Row(0, 50, 8, deadline=60), Row(10, 50, 8, deadline=90), Row(100, 10, 4, "b")]
    fates = Fates([0, 50, 100], [50, 100, 110], [0, 40, 0], [0, 2, 0], {}, [0, 80.0, 0])
    fates.stays = [(0, 0, 50), (1, 50, 100), (2, 100, 110)]
    outcome = outcome_of(table(rows), fates, SHARES, 16)
    assert (outcome.all.jobs, outcome.all.preemptions, outcome.all.gpu_seconds_lost) == (3, 2, 80.0)
    assert (outcome.tenants["a"].mean_wait_seconds, outcome.tenants["a"].max_wait_seconds) == (20, 40)
    assert outcome.tenants["a"].deadlines_missed_ratio == 0.5
    assert outcome.tenants["b"].deadlines_missed_ratio is None
    assert math.isnan(outcome.tenants["c"].mean_wait_seconds)
    assert outcome.allocation_ratio == pytest.approx(800 / 1600)


def test_a_job_that_never_started_waits_to_the_end() -> None:
    fates = Fates([0, NEVER], [90, NEVER], [0, 0], [0, 0], {}, [0, 0])
    outcome = outcome_of(table([Row(0, 90, 8), Row(10, 5, 9, deadline=20)]), fates, SHARES, 8)
    assert (outcome.unfinished, outcome.all.max_wait_seconds, outcome.all.deadlines_missed_ratio) == (1, 80, 1.0)


def test_no_jobs_give_no_numbers() -> None:
    outcome = outcome_of(table([]), Fates.none_yet(0), SHARES, 8)
    assert math.isnan(outcome.all.p95_wait_seconds)
    assert math.isnan(outcome.allocation_ratio)


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.5, 3), (0.95, 4), (1.0, 4)])
def test_a_quantile_is_a_value_that_was_seen(share: float, value: float) -> None:
    assert quantile([1, 2, 3, 4], share) == value
