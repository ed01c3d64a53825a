"""Refused by quota, tried again with growing pauses."""

from __future__ import annotations

import pytest

from controller.simulate.retries import Refused, next_try


@pytest.mark.parametrize(
    ("now", "then"), [(100, 100), (100.5, 101), (104, 107), (131.5, 163), (163, 163), (163.1, 223), (500, 523)]
)
def test_pauses_double_up_to_a_minute(now: float, then: float) -> None:
    assert next_try(100.0, now) == then


def test_the_first_to_try_is_found_among_young_and_old() -> None:
    refused = Refused([0.0, 100.0, 290.0])
    for row in range(3):
        refused.add(row)
    assert len(refused) == 3
    assert refused.first(300.0) == (303.0, 0), "the old one tries at 63, 123 … 303, the young one at 297, 305"
    refused.remove(0)
    assert refused.first(300.0) == (305.0, 2)
    refused.remove(2)
    assert refused.first(300.0) == (343.0, 1)
    refused.remove(1)
    assert refused.first(300.0) is None
    assert not refused
