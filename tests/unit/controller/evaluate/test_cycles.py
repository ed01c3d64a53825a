"""The recipe cycles in its short form, and that its cluster really has the flaw that it is to have."""

from __future__ import annotations

import pytest

from controller.evaluate.cycles import Scene, incurable_scene, ring_scene, watch


def unsteered(scene: Scene, hours: float) -> int:
    """Evictions when nobody looks."""
    scene.cluster.advance(hours * 3600.0)
    return len(scene.cluster.losses)


@pytest.mark.parametrize("parties", [2, 3])
def test_left_alone_a_ring_goes_on_for_ever_and_evicts_no_stranger(parties: int) -> None:
    scene = ring_scene(parties, seed=0)
    early, late = unsteered(scene, 1.5), unsteered(scene, 3.0)
    assert late - early > 20
    assert {loss.victim for loss in scene.cluster.losses} == set(scene.parties)


def test_a_cycle_that_no_quota_can_end_is_seen_and_left_alone() -> None:
    scene = incurable_scene(seed=0)
    found = watch(scene, hours=1.5)
    assert found.detected_after is not None
    assert (found.stopped, scene.run.ledger.changes) == (False, ())
