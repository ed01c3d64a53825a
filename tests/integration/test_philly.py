"""The published Philly trace: the averages of the Helios simulator, and the figures of small reference models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from controller.evaluate import speed
from controller.evaluate.fidelity import FIDELITY
from controller.evaluate.folder import TraceFolder
from controller.evaluate.philly import BEGIN, Philly, load_philly
from controller.evaluate.score import SHIPPED, scored
from controller.evaluate.steered_trace import SteeredTrace, Steering
from controller.simulate.baselines import Baseline, Conditions, Placement, prepared, run
from controller.simulate.outcome import Outcome, outcome_of
from controller.traces.table import within
from tests.traces import Restless

DAY = 86400.0


@pytest.fixture(scope="module")
def folder(shared_folder: Path) -> TraceFolder:
    return TraceFolder(shared_folder / "traces")


@pytest.fixture(scope="module")
def philly(folder: TraceFolder) -> Philly:
    return load_philly(folder)


def outcome(philly: Philly, baseline: Baseline) -> Outcome:
    jobs, shares = philly.table(), philly.at(0.25)
    return outcome_of(jobs, run(prepared(baseline, jobs, shares, Conditions()), jobs), shares, 704)


def test_the_window_is_the_published_one(philly: Philly) -> None:
    assert len(philly.table()) == 68_503
    assert sum(share.quota for share in philly.at(1.0)) == 2816
    assert sum(share.quota for share in philly.at(0.25)) == 704
    assert {share.tier for share in philly.shares} == {"critical", "standard", "best-effort"}


def test_one_pool_waits_as_long_as_in_the_reference_model(philly: Philly) -> None:
    assert outcome(philly, Baseline.POOL).all.mean_wait_seconds == pytest.approx(987, abs=0.5)


def test_static_quota_waits_about_as_long_as_in_the_reference_model(philly: Philly) -> None:
    assert outcome(philly, Baseline.STATIC).all.mean_wait_seconds == pytest.approx(52_898, rel=0.01)


def test_borrowing_and_reclaim_come_close_to_the_reference_model(philly: Philly) -> None:
    found = outcome(philly, Baseline.KUEUE_FIXED)
    # The reference model looks at work one by one; Kueue, which the simulator is held to, at all heads of a moment.
    assert found.all.mean_wait_seconds == pytest.approx(554, rel=0.03)
    assert found.all.preemptions == pytest.approx(2679, rel=0.05)
    assert found.tenants["e13805"].attainment == pytest.approx(0.8328, abs=0.005)
    assert 18_500 * 0.97 <= found.tenants["6214e9"].max_wait_seconds <= 23_700 * 1.03


def test_the_averages_of_the_helios_simulator_come_out_to_the_digit(folder: TraceFolder) -> None:
    score = scored(FIDELITY, folder, None, lambda share, what: None)
    assert score.passed
    assert score.outcome.details["jobs"] == 68_503


@pytest.mark.parametrize("placement", Placement)
def test_ticks_that_are_left_out_of_two_busy_days_would_have_changed_nothing(
    philly: Philly, placement: Placement
) -> None:
    begin, shares = BEGIN + 18 * DAY, philly.at(0.25)
    busy = replace(philly, trace_jobs=tuple(within(philly.trace_jobs, begin, begin + 2 * DAY)))
    conditions = Conditions(placement=placement)
    runs = [kind(busy.table(), shares, conditions, Steering(SHIPPED)) for kind in (SteeredTrace, Restless)]
    for one in runs:
        one.advance(begin + 2.5 * DAY)
    assert runs[0].changes > 0
    assert runs[0].fates == runs[1].fates
    assert runs[0].ledger.changes == runs[1].ledger.changes


def test_speed_is_measured_for_each_goal(folder: TraceFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "CONTROLLED_SECONDS", 2 * 86400.0)
    score = scored(speed.SPEED, folder, None, lambda share, what: None)
    assert set(score.outcome.results) == {goal.metric for goal in speed.SPEED.goals}
    assert min(score.outcome.results.values()) > 0
