"""The bars of the status page: one scale, nothing cut without a sign, nothing drawn of what is not known."""

from __future__ import annotations

from typing import Any

import pytest

from controller.runtime.bars import bars


def _row(**counts: int | None) -> dict[str, Any]:
    usual = {"guarantee_gpus": 8, "floating_gpus": 0, "reserved_gpus": 0, "waiting_gpus": 0, "shortfall_gpus": 0}
    return {**usual, **counts}


def test_pieces_of_a_tenant_are_its_own_in_use_then_borrowed_then_what_waits() -> None:
    (bar,) = bars([_row(reserved_gpus=12, waiting_gpus=4, shortfall_gpus=1)])
    assert [(piece.kind, piece.gpus, piece.percent) for piece in bar] == [
        ("own", 8, 50.0),
        ("lent", 4, 25.0),
        ("late", 1, 6.25),
        ("waits", 3, 18.75),
    ]


def test_own_quota_that_nobody_uses_is_a_piece_of_its_own() -> None:
    (bar,) = bars([_row(reserved_gpus=3)])
    assert [(piece.kind, piece.gpus) for piece in bar] == [("own", 3), ("spare", 5)]


def test_waiting_that_would_dwarf_everything_is_cut_and_says_so() -> None:
    small, large = bars([_row(reserved_gpus=8), _row(reserved_gpus=8, waiting_gpus=500)])
    assert [piece.cut for piece in large] == [False, True]
    assert large[1].gpus == 500
    assert sum(piece.percent for piece in large) == pytest.approx(100.0)
    assert small[0].percent == pytest.approx(50.0), "what is held stays large enough to be read"


def test_what_is_not_known_is_not_drawn() -> None:
    unknown = _row(reserved_gpus=None, waiting_gpus=None, shortfall_gpus=None)
    assert bars([unknown, _row(floating_gpus=None, reserved_gpus=4)]) == [(), ()]


def test_no_tenant_has_no_bar() -> None:
    assert bars([]) == []
