"""The recipe noise in its short form: hours instead of days."""

from __future__ import annotations

from controller.evaluate.noise import Demand, ride, square, turns, world


def test_a_turn_is_where_a_series_goes_the_other_way() -> None:
    assert turns([1, 2, 2, 3]) == 0
    assert turns([1, 2, 2, 1, 1, 2]) == 2
    assert turns([]) == turns([5]) == 0


def test_a_square_wave_is_high_for_half_of_its_period_wherever_it_begins() -> None:
    wanted = square(10)
    assert [wanted(tick) > 65 for tick in range(10)] == [True] * 5 + [False] * 5
    shifted = square(10, begin=0.5)
    assert [shifted(tick) > 65 for tick in range(10)] == [False] * 5 + [True] * 5


def test_replicas_come_and_go_and_names_last_only_where_asked() -> None:
    for lasting, names in ((True, {"replica-0"}), (False, {"replica-1", "replica-2"})):
        run, seen = world(), set[str]()
        demand = Demand(run, lasting)
        for gpus in (5, 0, 5):
            demand.follow(gpus)
            seen |= {one.spec.name for one in run.cluster.gangs.values() if one.spec.tenant == "wave"}
        assert seen == names


def test_a_demand_that_stays_high_is_met_once() -> None:
    found = ride(90, lambda tick: 85.0)
    assert (found.changes, found.turns, found.demand_turns) == (1, 0, 0)
