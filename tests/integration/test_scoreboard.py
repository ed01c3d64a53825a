"""The recipes of the scoreboard in their short form: hours instead of weeks, one seed or few."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.evaluate import deadlines
from controller.evaluate.cycles import healthy, ring_scene, watch
from controller.evaluate.folder import TraceFolder
from controller.evaluate.noise import SERIES, trembling, waves
from controller.evaluate.starvation import detections, episodes, load_rows, scored, thinned
from controller.evaluate.wrong_cause import TRIALS, observed
from controller.simulate.baselines import Placement
from controller.simulate.jitter import jittered
from controller.traces.read import read_trace
from controller.traces.table import selected


def test_noise_changes_nothing_in_a_few_hours() -> None:
    found = trembling(30 * len(SERIES), lambda share, what: None)
    assert found == {"changes_from_noise_new_work": 0.0, "changes_from_noise_same_work": 0.0}


def test_a_slow_wave_is_followed_a_fast_one_is_not_and_nothing_swings_by_itself() -> None:
    found = waves(5.0, 0.0, (10, 240))
    assert found["changes_per_hour_10_minutes"] == 0
    assert 0 < found["changes_per_hour_square_wave"] <= 4
    assert found["limit_cycles"] == 0


@pytest.mark.parametrize("parties", [2, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_ring_is_seen_by_its_third_repetition_and_ends(parties: int, seed: int) -> None:
    found = watch(ring_scene(parties, seed), hours=2.0)
    assert found.detected_after is not None
    assert found.detected_after <= 3 * parties
    assert (found.stopped, found.touched) == (True, set())


def test_tenants_that_lend_and_reclaim_make_no_cycle() -> None:
    seen, evictions = healthy(seed=1, hours=12.0)
    assert (seen, evictions > 20) == (0, True)


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_the_slow_tenant_gets_its_cause_and_no_quota_and_the_starved_one_its_change(name: str) -> None:
    seen = observed(TRIALS[name], seed=0, starving=True)
    assert (seen.changes_for_slow, seen.changes_for_starved > 0, seen.wrong) == (0, True, [])
    assert seen.periods_to_cause <= 2


def test_the_same_queue_without_a_fault_gets_quota() -> None:
    assert observed(None, seed=0, starving=False).changes_for_slow > 0


def test_four_days_of_the_real_month(shared_folder: Path) -> None:
    rows = load_rows(TraceFolder(shared_folder / "traces"))
    begin = min(min(one) for one in rows.values())
    rows = {
        name: {at: one for at, one in rows[name].items() if at < begin + 4 * 86400.0} for name in ("vc6YE", "vcTJs")
    }
    truth = episodes(rows)
    results = scored(truth, detections(thinned(rows, 0)))
    assert len(truth) >= 5
    assert (results["recall"], results["precision"]) == (1.0, 1.0)
    assert results["max_detection_periods"] <= 2


@pytest.mark.parametrize("placement", list(Placement))
def test_fewer_miss_their_deadline_in_five_crowded_days(shared_folder: Path, placement: Placement) -> None:
    jobs = read_trace(shared_folder / "traces" / "chronus" / "trace_job_Philly_MIX1.csv.gz").jobs
    shares = deadlines.proportional_shares(jobs)
    table = selected(jobs, shares, {share.tenant: share.quota for share in shares}).jobs.until(5 * 86400.0)
    results, beside = deadlines.measure(
        {"slo": jittered(table, 0), "mix1": jittered(table, 1)}, {"slo": shares, "mix1": shares}, placement
    )
    assert results["mix1_strict_miss"] < beside["fifo_mix1_strict_miss"] / 2
    assert results["mix1_strict_miss"] <= beside["exact_edf_mix1_strict_miss"] + 0.03
    assert results["best_effort_wait_ratio"] <= 1.2
    assert 0 < beside["classes_set_per_job"] < 3
