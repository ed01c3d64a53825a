"""Volumes are an extra of the picture: their absence or age is theirs alone."""

from __future__ import annotations

from collector.model.objects import RbdVolume
from collector.sources.kubernetes_kinds import KINDS, VOLUMES, KindState, picture_of

NOW = 1000.0
VOLUME = RbdVolume("pv-a", "vision", "data", ("rbd", "", "a"))
REST = {kind.name: KindState(confirmed_at=NOW - 1) for kind in KINDS}


def test_a_picture_without_volumes_asked_for_has_none() -> None:
    assert picture_of(REST, NOW, since=0.0).volumes == {}


def test_old_volumes_stay_and_make_the_picture_no_older() -> None:
    old = KindState({"uid": VOLUME}, confirmed_at=NOW - 900, problem="403 Forbidden")
    picture = picture_of({**REST, VOLUMES.name: old}, NOW, since=0.0)
    assert picture.volumes == {"pv-a": VOLUME}
    assert picture.age_seconds == 1.0
    assert picture.unreadable == {"persistentvolumes": "403 Forbidden"}
