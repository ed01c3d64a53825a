"""Durations as a document says them, and the nearest known word."""

from __future__ import annotations

import pytest

from collector.model.quantities import parse_duration
from controller.api.fields import duration_text, with_nearest


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.05, "50ms"),
        (30, "30s"),
        (900, "15m"),
        (5400, "1h30m"),
        (28 * 86400, "28d"),
        (61.5, "61500ms"),
        (7e-6, "7us"),
        (0.0004, "400us"),
    ],
)
def test_a_duration_is_written_as_short_as_it_reads_back(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("seconds", [0, -1, 4e-7, 1 / 3])
def test_what_no_document_can_say_is_not_written(seconds: float) -> None:
    with pytest.raises(ValueError, match="can not be written"):
        duration_text(seconds)


def test_the_nearest_known_word_is_suggested() -> None:
    assert with_nearest("guarante", ["pool", "guarantee"]) == "pool, guarantee; did you mean guarantee?"
    assert with_nearest("zzz", ["pool"]) == "pool"
    assert with_nearest("zzz", []) == "none"
    assert with_nearest("a", [f"t{n}" for n in range(20)]).endswith("t11, …")
