"""The generator follows the published figures, and its seed."""

from __future__ import annotations

from collections import Counter

import pytest

from controller.simulate.chance import Chance
from controller.simulate.generator import DAY, HOUR, RUN_SECONDS, SIZES, Demand, run_seconds, submissions

WHOLE = Demand("philly", 400.0, longest_seconds=53.6 * DAY, jobs_per_sweep=1.0)


@pytest.mark.parametrize(("share", "seconds"), RUN_SECONDS[:-1])
def test_run_times_go_through_the_published_points(share: float, seconds: float) -> None:
    assert run_seconds(share) == pytest.approx(seconds)


def test_a_drawn_month_has_the_sizes_and_run_times_of_the_trace() -> None:
    drawn = submissions([WHOLE], seed=3, seconds=120 * DAY)
    assert len(drawn) > 2000
    sizes = Counter(one.job.gpus for one in drawn)
    assert sizes[1] / len(drawn) == pytest.approx(dict(SIZES)[1], abs=0.02)
    assert max(sizes) == 16
    lengths = sorted(one.job.run_seconds for one in drawn)
    assert lengths[len(lengths) // 2] == pytest.approx(1144, rel=0.15)
    assert lengths[int(len(lengths) * 0.9)] == pytest.approx(11265, rel=0.3)


def test_the_demand_adds_up() -> None:
    demand = Demand("vision", 40.0, longest_seconds=6 * HOUR)
    days = 40
    drawn = submissions([demand], seed=1, seconds=days * DAY)
    used = sum(one.job.gpus * one.job.run_seconds for one in drawn) / (days * DAY)
    assert used == pytest.approx(40.0, rel=0.15)


def test_more_is_handed_in_by_day_than_at_night() -> None:
    drawn = submissions([Demand("vision", 60.0, day_swing=0.8)], seed=2, seconds=20 * DAY)
    hours = Counter(int(one.at // HOUR) % 24 for one in drawn)
    assert sum(hours[h] for h in range(11, 19)) > 3 * sum(hours[h] for h in (23, 0, 1, 2, 3, 4, 5, 6))


def test_sweeps_are_equal_jobs_at_one_moment() -> None:
    drawn = submissions([Demand("vision", 30.0, jobs_per_sweep=6.0)], seed=5, seconds=5 * DAY)
    together = Counter(one.at for one in drawn)
    assert max(together.values()) > 8
    for moment in together:
        assert len({one.job.gpus for one in drawn if one.at == moment}) == 1


def test_another_tenant_changes_nothing_for_the_first() -> None:
    alone = submissions([Demand("vision", 10.0)], seed=4, seconds=DAY)
    beside = submissions([Demand("nlp", 20.0), Demand("vision", 10.0)], seed=4, seconds=DAY)
    assert [one for one in beside if one.job.tenant == "vision"] == list(alone)


def test_the_seed_decides() -> None:
    assert submissions([WHOLE], 1, DAY) == submissions([WHOLE], 1, DAY)
    assert submissions([WHOLE], 1, DAY) != submissions([WHOLE], 2, DAY)


def test_chance_is_the_same_everywhere() -> None:
    chance = Chance(1)
    assert [round(chance.uniform(), 6) for _ in range(3)] == [0.566562, 0.745782, 0.971003]
    assert Chance(1).apart("a").uniform() != Chance(1).apart("b").uniform()
    assert Chance(9).pick([("never", 0.0), ("always", 1.0)]) == "always"
