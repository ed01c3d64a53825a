"""The recipes objectives and lending-kueue in their short form: a week of the Philly trace, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.evaluate.folder import TraceFolder
from controller.evaluate.philly import BEGIN, load_philly
from controller.evaluate.registry import recipe_named
from controller.evaluate.steering import CAPACITY_RATIO, Compared, compared, jittered, lending, objectives_met
from controller.simulate.baselines import Conditions

_DAYS = 5


@pytest.fixture(scope="module")
def case(shared_folder: Path) -> Compared:
    philly = load_philly(TraceFolder(shared_folder / "traces"))
    return compared(philly.table().until(BEGIN + _DAYS * 86400.0), philly.at(CAPACITY_RATIO), Conditions())


def test_the_results_are_those_that_the_goals_name(case: Compared) -> None:
    for name, measure in (("objectives", objectives_met), ("lending-kueue", lending)):
        assert set(measure(case)) == {goal.metric for goal in recipe_named(name).goals}


def test_idle_floats_are_lent_so_that_waits_are_far_from_static(case: Compared) -> None:
    static, ours = (outcome.all.mean_wait_seconds for outcome in (case.static, case.steered))
    assert case.changes > 0
    assert ours < static / 10


def test_nobody_is_worse_off_than_under_its_own_quota(case: Compared) -> None:
    assert case.worse_than_static() == []


def test_a_jitter_moves_every_job_by_ten_minutes_at_most_and_seeds_differ(shared_folder: Path) -> None:
    jobs = load_philly(TraceFolder(shared_folder / "traces")).table().until(BEGIN + 86400.0)
    one, again, other = jittered(jobs, 0), jittered(jobs, 0), jittered(jobs, 1)
    assert one == again != other
    assert list(one.submit_seconds) == sorted(one.submit_seconds)
    assert sum(one.run_seconds) == pytest.approx(sum(jobs.run_seconds))
