"""Lending on plain Kubernetes through the real `decide()`, on traces small enough to be followed by hand."""

from __future__ import annotations

from random import Random

import pytest

from controller.evaluate.gfs import Coined, compared, workload
from controller.evaluate.lending_native import lent
from controller.evaluate.native_run import PlainCluster, SteeredNative
from controller.evaluate.score import SHIPPED
from controller.simulate.baselines import Conditions, Placement
from controller.simulate.job_table import JobTable
from controller.simulate.shares import Share
from controller.traces.trace import TraceJob
from tests.traces import Row, table

MINUTE, HOUR = 60.0, 3600.0


def busy_and_idle() -> JobTable:
    """a needs three times its quota for a day, b comes back at noon, c never does."""
    rows = [Row(hour * HOUR + part * 60, 2 * HOUR, 4, "a") for hour in range(24) for part in range(3)]
    rows += [Row(12 * HOUR + part * 60, HOUR, 4, "b") for part in range(2)]
    return table(sorted(rows))


@pytest.mark.parametrize("placement", list(Placement))
def test_caps_that_follow_close_most_of_the_gap_and_no_tenant_is_worse_off(placement: Placement) -> None:
    shares = [Share("a", 8), Share("b", 8), Share("c", 8)]
    found = lent(busy_and_idle(), shares, Conditions(placement=placement))
    assert found.static.all.mean_wait_seconds > 10 * HOUR
    assert found.gap_closed_ratio > 0.95
    assert found.worse_than_static() == ()
    assert found.steered.tenants["b"].max_wait_seconds == 0, "its GPUs are its own whenever it comes"
    assert found.changes >= 1


def test_caps_stay_within_the_pool_until_everything_ran() -> None:
    jobs = busy_and_idle()
    running = SteeredNative(jobs, PlainCluster([8.0, 8.0, 8.0], 24), SHIPPED)
    running.advance()
    assert running.bounded
    assert running.now >= max(running.fates.end_seconds)
    assert min(running.fates.end_seconds) > 0, "everything ran"


def waves() -> JobTable:
    """Two tenants with jobs of half an hour in two waves, and one with few that run for most of a day."""
    chance = Random(5)
    rows = [Row(at * HOUR + chance.random() * HOUR, 30 * MINUTE, 1, "a") for at in (1, 6) for _ in range(150)]
    rows += [Row(chance.random() * 8 * HOUR, 18 * HOUR, 4, "b") for _ in range(6)]
    return table(sorted(rows))


@pytest.mark.parametrize("placement", list(Placement))
def test_spot_work_is_evicted_half_as_often_as_under_strict_priority_for_little_more_waiting(
    placement: Placement,
) -> None:
    found = compared(Coined.by(waves(), 0), Conditions(placement=placement), gpus=32)
    assert found["strict_preemptions_per_spot_job"] > 0.1
    assert found["preemptions_per_spot_job"] < found["strict_preemptions_per_spot_job"] / 2
    assert found["spot_queue_ratio"] < 1.1
    assert found["hp_queue_ratio"] <= 1.05
    assert found["control_bounded"] == 1


def test_the_coin_is_tossed_for_each_row_in_order() -> None:
    coin = Random(3)
    assert Coined.by(waves(), 3).guaranteed == [coin.random() < 0.5 for _ in range(len(waves()))]


def test_the_workload_is_cut_at_a_day_and_leaves_out_what_never_fits() -> None:
    day = 1507507200.0
    jobs = [
        TraceJob(day - 1, 10.0, 1, "x"),
        TraceJob(day, 1e6, 8, "x"),
        TraceJob(day + 5, 60.0, 129, "y"),
        TraceJob(day + 9, 60.0, 16, "y"),
        TraceJob(day + 9, 60.0, 1, "y"),
    ]
    found = workload(jobs, count=3)
    assert (found.submit_seconds, found.run_seconds, found.gpus) == ([day, day + 9], [86400.0, 60.0], [8, 16])
