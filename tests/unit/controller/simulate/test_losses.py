"""What outlives an eviction."""

from __future__ import annotations

from statistics import median

import pytest

from controller.simulate.losses import Checkpoints, hidden_checkpoints, saved_seconds


@pytest.mark.parametrize(
    ("done", "checkpoints", "saved"),
    [
        (99.0, None, 0.0),
        (99.0, Checkpoints(10.0), 90.0),
        (99.0, Checkpoints(10.0, 5.0), 95.0),
        (4.0, Checkpoints(10.0, 5.0), 0.0),
        (5.0, Checkpoints(10.0, 5.0), 5.0),
    ],
)
def test_work_is_kept_up_to_the_last_checkpoint(done: float, checkpoints: Checkpoints | None, saved: float) -> None:
    assert saved_seconds(done, checkpoints) == saved


def test_hidden_checkpoints_are_about_an_hour_apart_and_the_same_for_the_same_seed() -> None:
    drawn = [hidden_checkpoints(0, row) for row in range(2000)]
    assert median(one.interval_seconds for one in drawn) == pytest.approx(3600, rel=0.05)
    assert all(0 <= one.phase_seconds < one.interval_seconds for one in drawn)
    assert drawn[7] == hidden_checkpoints(0, 7) != hidden_checkpoints(1, 7)
