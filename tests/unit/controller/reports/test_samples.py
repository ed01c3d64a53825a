"""Tables of samples: one source for each slot, counters that begin again, gaps that stay gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from controller.reports.samples import CAPACITY, EVICTIONS, FREE, HELD, OLDEST, UNUSABLE, WAITED, Samples
from tests.unit.controller.reports.histories import Row, samples

QUEUE = ("vision", "critical", "vision/q")


def counted(**sources: Row) -> Any:
    slots = len(next(iter(sources.values()))) - 1
    rows: dict[tuple[str, ...], Row] = {(source, *QUEUE): row for source, row in sources.items()}
    return samples(slots, {WAITED: rows}).increases(WAITED).get(QUEUE)


def seen_by(**sources: Row) -> Samples:
    """A history in which each source says the same of everything."""
    slots = len(next(iter(sources.values()))) - 1
    return samples(
        slots,
        {
            CAPACITY: {(source, "h100"): row for source, row in sources.items()},
            FREE: {(source, "h100"): row for source, row in sources.items()},
            UNUSABLE: {(source, "h100", "cordoned"): row for source, row in sources.items()},
            HELD: {(source, "vision", "h100"): row for source, row in sources.items()},
        },
    )


def test_a_counter_grows_from_the_start_of_the_window() -> None:
    assert counted(a=[10, 12, 15]) == 5


def test_a_counter_that_falls_began_again_at_zero() -> None:
    assert counted(a=[100, 110, 3, 8]) == 18


def test_a_counter_that_falls_within_a_gap_is_a_lower_bound() -> None:
    assert counted(a=[100, 110, None, None, 4]) == pytest.approx(14)


def test_growth_over_a_gap_is_counted_once() -> None:
    assert counted(a=[0, 2, None, None, 8]) == 8


def test_two_replicas_count_once() -> None:
    assert counted(a=[0, 2, 4, 6], b=[50, 52, 54, 56]) == 6


def test_what_one_replica_missed_the_other_knows() -> None:
    assert counted(a=[0, 2, None, None, None], b=[None, None, 30, 32, 34]) == 6


def test_a_successor_goes_on_where_the_last_one_ended() -> None:
    assert counted(a=[0, 5, None, None], b=[None, None, 0, 7]) == 12


def test_a_gap_of_one_replica_adds_nothing_to_what_the_other_saw() -> None:
    assert counted(a=[0, None, None, None, 8], b=[0, 2, 4, 6, 8]) == 8


@pytest.mark.parametrize("row", [[None, None, None], [None, 7, None], [7, None, None]])
def test_of_fewer_than_two_samples_no_growth_is_known(row: Row) -> None:
    assert counted(a=row) is None


def test_a_counter_that_stands_still_is_a_zero_and_no_gap() -> None:
    assert counted(a=[3, 3, 3]) == 0


def test_each_slot_is_taken_whole_from_the_first_source_that_saw_it() -> None:
    history = seen_by(a=[1, 1, None, 1], b=[2, 2, 2, None])
    assert history.chosen.to_dict() == {1: "a", 2: "b", 3: "a"}
    assert history.gauges(CAPACITY)["h100",].tolist() == [1, 2, 1]


def test_a_source_that_lacks_one_part_is_not_taken() -> None:
    both = seen_by(a=[1, 1, 1], b=[2, 2, 2])
    lame = {key: values for key, values in both.series[FREE].items() if key[0] == "b"}
    history = Samples(2, {**both.series, FREE: lame})
    assert set(history.chosen) == {"b"}


def test_slots_that_nobody_saw_stay_empty() -> None:
    values = seen_by(a=[1, None, 1]).gauges(CAPACITY)["h100",]
    assert np.isnan(values[1])
    assert values[2] == 1


def test_no_series_at_all_is_no_slot_seen() -> None:
    history = samples(3, {})
    assert len(history.chosen) == 0
    assert history.gauges(CAPACITY) == {}
    assert history.increases(EVICTIONS) == {}


def test_the_peak_is_that_of_any_source_within_the_window() -> None:
    rows: dict[tuple[str, ...], Row] = {("a", *QUEUE): [900.0, 5.0, None], ("b", *QUEUE): [None, None, 7.0]}
    assert samples(2, {OLDEST: rows}).peaks(OLDEST) == {QUEUE: 7.0}
