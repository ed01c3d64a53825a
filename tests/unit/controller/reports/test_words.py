"""How numbers are said: a little is never nothing, almost all is never all."""

from __future__ import annotations

import pytest

from controller.reports.words import amount, percent


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (-1e-9, "0"),
        (0.01, "under 0.1"),
        (0.5, "0.5"),
        (8.0, "8"),
        (99.94, "99.9"),
        (99.96, "100"),
        (20160.4, "20\u202f160"),
        (-3.2, "-3.2"),
    ],
)
def test_an_amount_as_people_read_it(value: float, said: str) -> None:
    assert amount(value) == said


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(0.0, "0 %"), (0.0004, "under 0.1 %"), (0.093, "9.3 %"), (0.71, "71 %"), (0.9999999, "99.99 %"), (1.0, "100 %")],
)
def test_a_share_as_people_read_it(ratio: float, said: str) -> None:
    assert percent(ratio) == said
