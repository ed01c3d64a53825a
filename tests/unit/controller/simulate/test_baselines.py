"""Each fixed setting does what its name says, on the same four jobs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.simulate.baselines import Baseline, Conditions, Engine, Placement, most_gpus, prepared, run
from controller.simulate.shares import Share
from tests.traces import Row, table

SHARES = (Share("a", 8, rank=100), Share("b", 8), Share("c", 0))
JOBS = table([Row(0, 100, 8, "b"), Row(1, 100, 8, "b"), Row(10, 10, 8, "a"), Row(11, 10, 8, "b", deadline=40)])


@pytest.mark.parametrize("placement", Placement)
@pytest.mark.parametrize(
    ("baseline", "starts"),
    [
        (Baseline.STATIC, [0, 100, 10, 200]),
        (Baseline.POOL, [0, 1, 100, 101]),
        (Baseline.KUEUE_FIXED, [0, 1, 10, 100]),
        (Baseline.STRICT, [0, 1, 10, 100]),
        (Baseline.EDF, [0, 1, 100, 101]),
    ],
)
def test_who_starts_when(baseline: Baseline, starts: list[float], placement: Placement) -> None:
    fates = run(prepared(baseline, JOBS, SHARES, Conditions(placement=placement)), JOBS)
    assert fates.first_start_seconds == starts
    assert sum(fates.evictions) == (1 if baseline in (Baseline.KUEUE_FIXED, Baseline.STRICT) else 0)


def test_plain_kubernetes_lets_the_job_controller_try_again() -> None:
    fates = run(prepared(Baseline.STATIC, JOBS, SHARES, Conditions(Engine.NATIVE)), JOBS)
    assert fates.first_start_seconds == [0, 124, 10, 254]


def test_how_large_a_gang_may_be_depends_on_the_setting() -> None:
    shares = (*SHARES[:2], Share("c", 4, ceiling=10))
    counts, nodes = Conditions(), Conditions(placement=Placement.NODES)
    assert most_gpus(Baseline.STATIC, shares, counts) == {"a": 8, "b": 8, "c": 4}
    assert most_gpus(Baseline.STATIC, shares, nodes)["c"] == 0
    assert most_gpus(Baseline.KUEUE_FIXED, shares, counts) == {"a": 20, "b": 20, "c": 10}
    assert most_gpus(Baseline.POOL, shares, nodes)["c"] == 16


def test_progress_is_told_up_to_the_last_submission() -> None:
    told: list[float] = []
    jobs = replace(JOBS)
    fates = run(prepared(Baseline.POOL, jobs, SHARES, Conditions()), jobs, told.append)
    assert told == sorted(told)
    assert told[-1] < 1
    assert min(fates.end_seconds) > 0
