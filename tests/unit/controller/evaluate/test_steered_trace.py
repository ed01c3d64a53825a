"""A trace with Trimtab steering it: floats move to who starves, nothing is decided on what nobody can see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.evaluate.score import SHIPPED
from controller.evaluate.steered_trace import SteeredTrace, Steering, most_steered_gpus, site_of, usual_tiers
from controller.evaluate.trace_view import TraceView
from controller.simulate.baselines import Conditions, Placement
from controller.simulate.batch_setting import QueueQuota, Rules, Setting
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Packing
from controller.simulate.picture import picture_of
from controller.simulate.shares import Share
from controller.simulate.watched import WatchedBatch
from tests.traces import Row, table

# c borrows what b is guaranteed and does not use; a asks for more than its own; b's float lies idle.
SHARES = (
    Share("a", 8, 0, burst=16, tier="critical", rank=100),
    Share("b", 8, 16),
    Share("c", 0, 0, tier="best-effort"),
)
JOBS = table([Row(0, 20_000, 8, "c"), Row(0, 20_000, 8, "a"), Row(30, 5_000, 8, "a")])


KEEPS = replace(SHIPPED, lending=None)
"""Idle floats stay the reserve of their tenants, so that what is late gets them by a change."""


def steered(placement: Placement = Placement.COUNTS, shares: tuple[Share, ...] = SHARES) -> SteeredTrace:
    return SteeredTrace(JOBS, shares, Conditions(placement=placement), Steering(KEEPS))


@pytest.mark.parametrize("placement", Placement)
def test_an_idle_float_moves_to_who_starves_and_back(placement: Placement) -> None:
    run = steered(placement)
    run.advance(3_000.0)
    assert run.changes == 1
    assert run.fates.first_start_seconds[2] == 420, "over 300 s at the tick of 360, confirmed at 420"
    assert run.fates.evictions == [0, 0, 0]
    run.advance()
    assert run.fates.end_seconds == [20_000, 20_000, 5_420]
    assert run.own_cohort("trimtab-a") is not None
    assert run.own_cohort("site") is None


def test_what_is_lent_is_there_when_work_comes() -> None:
    jobs = table([Row(0, 20_000, 8, "c"), Row(0, 20_000, 8, "a"), Row(2_000, 5_000, 8, "a")])
    run = SteeredTrace(jobs, SHARES, Conditions(), Steering(SHIPPED))
    run.advance()
    assert run.fates.first_start_seconds[2] == 2_000, "b's float stood idle for a dwell, and was lent"
    assert run.fates.evictions == [0, 0, 0]


def test_without_a_limit_nothing_is_decided() -> None:
    run = steered(shares=tuple(replace(share, tier="best-effort") for share in SHARES))
    run.advance()
    assert (run.changes, run.fates.first_start_seconds[2]) == (0, 20_000)


def test_a_policy_that_observes_is_run_as_if_it_enforced() -> None:
    run = SteeredTrace(JOBS, SHARES, Conditions(), Steering(replace(KEEPS, mode=type(KEEPS.mode)(0))))
    run.advance()
    assert run.changes == 1


def test_looking_in_between_changes_nothing() -> None:
    often, once = steered(), steered()
    for at in range(0, 6_000, 7):
        often.advance(float(at))
    often.advance()
    once.advance()
    assert often.fates == once.fates


def test_an_empty_trace_is_over_at_once() -> None:
    run = SteeredTrace(table([]), SHARES, Conditions(), Steering(SHIPPED))
    run.advance()
    assert run.changes == 0


def test_the_largest_gang_is_what_starts_without_any_change() -> None:
    assert most_steered_gpus(SHARES, Conditions()) == {"a": 16, "b": 32, "c": 16}
    capped = (*SHARES[:2], Share("c", 3, ceiling=10))
    assert most_steered_gpus(capped, Conditions(placement=Placement.NODES)) == {"a": 16, "b": 32, "c": 10}


@pytest.mark.parametrize("on_nodes", [False, True])
def test_what_decides_sees_neither_run_times_nor_more_than_a_cluster_shows(on_nodes: bool) -> None:
    short, long = (looked_at(replace(JOBS, run_seconds=[seconds] * 3), on_nodes) for seconds in (5_000.0, 90_000.0))
    assert short == long


def looked_at(jobs: JobTable, on_nodes: bool) -> object:
    nodes = Packing(4, 8) if on_nodes else None
    view = TraceView(jobs, site_of(SHARES, usual_tiers(SHARES)), 32, 8, nodes)
    quotas = [QueueQuota(share.quota, share.floating) for share in SHARES]
    batch = WatchedBatch(
        jobs,
        Setting(quotas, range(3), Rules(), None if nodes is None else [nodes] * 3),
        range(3),
        limits=view.limits,
    )
    batch.advance(1_000.0)
    snapshot = view.snapshot(batch, [0, 16, 0], 0, picture_of(Cluster(ClusterSpec("trace", 0, ()), 0.0), 0.0))
    state = snapshot.tenant_pool("a", "trace")
    assert state is not None
    assert (state.running, state.waiting, state.overdue, state.shortfall) == (8, 8, 8, 8)
    assert snapshot.pools["trace"].free == 16
    assert sum(sum(work.nodes.values()) for work in snapshot.works) == 16
    return snapshot
