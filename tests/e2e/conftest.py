"""The stage that the stories share: one control plane, one Prometheus, a fresh site for each story."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.scene import Scene, Terms
from tests.testbed.bed import Testbed
from tests.testbed.cluster import Site, build_site

SetTheScene = Callable[[Site, Terms], Scene]


@pytest.fixture
def set_the_scene(control_plane: Testbed, monitoring: Testbed, tmp_path: Path) -> Iterator[SetTheScene]:
    """Builds a site and its documents; stops the programs and clears the site after the story."""
    scenes: list[Scene] = []

    def build(site: Site, terms: Terms) -> Scene:
        build_site(control_plane.kubernetes.api, site)
        scene = Scene(control_plane, site, terms, tmp_path / "scene")
        scenes.append(scene)
        scene.prepare()
        return scene

    yield build
    for scene in scenes:
        scene.leave()
