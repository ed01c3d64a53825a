"""What is a number or a moment in the cell of a table, and what is not."""

from __future__ import annotations

import math

import pytest

from controller.traces.values import number_of, seconds_of, whole_of


@pytest.mark.parametrize(
    ("text", "whole"),
    [("8", 8), ("-2", -2), ("8.0", 8), ("8.5", None), ("1_0", None), ("\u0665", None), ("9" * 10, None)],
)
def test_whole_numbers(text: str, whole: int | None) -> None:
    assert whole_of(text) == whole


def test_numbers_may_be_infinite_and_are_nan_where_there_is_none() -> None:
    assert (number_of("1.5e3"), number_of("inf"), number_of(".5")) == (1500.0, math.inf, 0.5)
    assert math.isnan(number_of("0x10"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 5400.0), ("1970-01-01 00:01", 60.0), ("1970-01-01T01:00+01:00", 0.0), ("soon", "a time that is no time")],
)
def test_moments_are_numbers_of_units_or_iso(text: str, seconds: float | str) -> None:
    assert seconds_of(text, 60.0) == seconds
