"""Durations shrink with the time scale, stop at what scrapes can fill, and are written as PromQL reads them."""

from __future__ import annotations

import math

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.rules.timing import DAY, HOUR, MINUTE, Timing, promql_duration, promql_number

scales = st.floats(min_value=0.1, max_value=1e6)
lengths = st.floats(min_value=0.001, max_value=400 * DAY)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (28 * DAY, "28d"),
        (90 * MINUTE, "1h30m"),
        (0.5, "500ms"),
        (1.5, "1s500ms"),
        (7 * DAY, "7d"),
        (59.9999, "1m"),
    ],
)
def test_durations_are_written_in_the_fewest_units(seconds: float, text: str) -> None:
    assert promql_duration(seconds) == text


@given(lengths)
def test_a_written_duration_is_read_back_to_the_millisecond(seconds: float) -> None:
    read = promql_parser.parse_duration(promql_duration(seconds))
    assert read.total_seconds() == pytest.approx(seconds, abs=0.0006)


@pytest.mark.parametrize("seconds", [0.0, 0.0001, -5.0])
def test_a_duration_that_promql_can_not_say_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="shorter than the millisecond"):
        promql_duration(seconds)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_an_impossible_time_scale_is_refused_by_name(scale: float) -> None:
    with pytest.raises(ValueError, match=f"time_scale: {scale} is not a finite number above 0"):
        Timing(scale)


def test_a_time_scale_of_one_changes_nothing() -> None:
    timing = Timing()
    assert (timing.seconds(HOUR), timing.minute_seconds, timing.look_seconds) == (HOUR, MINUTE, 30.0)
    assert timing.expected_samples(HOUR) == 60


@given(scales, lengths)
def test_no_range_is_shorter_than_two_scrapes_and_no_sample_closer_than_one(scale: float, seconds: float) -> None:
    timing = Timing(scale)
    assert timing.seconds(seconds) >= 2 * timing.scrape_seconds
    assert timing.minute_seconds >= timing.scrape_seconds >= 1.0
    assert timing.expected_samples(28 * DAY) >= 2


@given(scales)
def test_longer_windows_never_become_shorter_than_short_ones(scale: float) -> None:
    windows = [Timing(scale).seconds(nominal) for nominal in (5 * MINUTE, HOUR, DAY, 28 * DAY)]
    assert windows == sorted(windows)


def test_what_a_program_needs_does_not_shrink_below_its_floor() -> None:
    assert Timing(600).age_limit(120, floor_seconds=15) == 15
    assert Timing(2).age_limit(120, floor_seconds=15) == 60


@pytest.mark.parametrize(("value", "text"), [(1 - 0.99, "0.01"), (13.44, "13.44"), (40320.0, "40320"), (5.0, "5")])
def test_numbers_are_written_without_the_noise_of_binary_fractions(value: float, text: str) -> None:
    assert promql_number(value) == text
