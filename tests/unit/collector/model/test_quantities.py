"""Quantities, durations and times: what Kubernetes and people write, and nothing that takes a machine down."""

from __future__ import annotations

from decimal import Decimal

import pytest

from collector.model.quantities import parse_duration, parse_quantity, parse_time, whole_gpus


@pytest.mark.parametrize(
    ("text", "value"),
    [("8", 8), (8, 8), ("500m", Decimal("0.5")), ("16Gi", 16 * 2**30), ("1e3", 1000), ("1E", 10**18), ("-2", -2)],
)
def test_a_quantity_is_a_number(text: str | int, value: int | Decimal) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    "text",
    ["1e99999999", "1e300000", "1e999", "9223372036854775809", "9Ei", "1" * 5000, "1e-99999999", "\u0668", "", "1.2.3"],
)
def test_what_no_cluster_keeps_is_no_quantity_whatever_its_exponent(text: str) -> None:
    with pytest.raises(ValueError, match="is not a Kubernetes quantity") as caught:
        parse_quantity(text)
    assert len(str(caught.value)) < 150
    with pytest.raises(ValueError, match="is not a Kubernetes quantity"):
        whole_gpus(text)


def test_a_fraction_with_a_long_exponent_is_no_whole_number() -> None:
    with pytest.raises(ValueError, match="is not a whole number of GPUs"):
        whole_gpus("1e-999")


@pytest.mark.parametrize(
    ("text", "seconds"), [("50us", 5e-5), ("50\u00b5s", 5e-5), ("50\u03bcs", 5e-5), ("1s5ms", 1.005)]
)
def test_durations_go_down_to_microseconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["\u0663\u0660s", "9" * 400 + "w", "9" * 5000 + "s", "", "s", "1", "1s1m", "-1s"])
def test_what_is_no_duration_is_refused_in_a_short_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="duration") as caught:
        parse_duration(text)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("text", ["soon", "99999-01-01", "2026-13-45T00:00:00Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an RFC 3339 time"):
        parse_time(text)
