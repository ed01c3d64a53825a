"""Story 5. The exporter is killed: no change, one "blind" alert; a soft return goes on; back again, it resumes."""

from __future__ import annotations

import pytest

from controller.demo.processes import wait_until
from tests.e2e.conftest import SetTheScene
from tests.e2e.scene import Scene, Terms
from tests.testbed.cluster import Site, SiteTenant, gpu_job

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue, pytest.mark.prometheus]

SITE = Site("dusk", 4, (SiteTenant("speech", floor=8, floating=4), SiteTenant("search", floor=8, floating=4)), shared=8)
TERMS = Terms(120.0, tick="120s", dwell="20m", ttl="50m", burst={"speech": 24})


def submit(scene: Scene, tenant: str, names: str, count: int) -> None:
    """Jobs of four GPUs that run until they are deleted."""
    for number in range(count):
        scene.bed.kubernetes.api.create(gpu_job(f"{names}-{number}", tenant, 4, queue=tenant))


def test_a_blind_controller_holds_gives_back_softly_and_resumes_by_itself(set_the_scene: SetTheScene) -> None:
    scene = set_the_scene(SITE, TERMS)
    scene.start_collector()
    scene.start_controller()
    scene.watch_with_prometheus()
    submit(scene, "search", "borrower", 7)
    wait_until(lambda: len(scene.bed.kubernetes.api.list_objects("v1", "Pod", "search")) == 7, "the borrower runs")
    submit(scene, "speech", "train", 4)
    change = scene.wait_for_change()
    wait_until(lambda: scene.changes()[0]["verdict"] == "helped", "the first change helps")

    scene.service("collector").kill()
    wait_until(lambda: bool(scene.status()["blind"]), "the controller says that it is blind")
    assert "Blind" in scene.status()["sentence"]
    wait_until(lambda: len(scene.alerts_firing("TrimtabBlind")) == 1, "one blind alert", 300.0)

    submit(scene, "speech", "more", 2)  # starved again, and nobody may act on it
    api = scene.bed.kubernetes.api
    wait_until(lambda: scene.changes()[0]["stage"] == "returning", "its time to live ends also in the dark")
    held = scene.floats()["trimtab-speech"]
    for number in range(2):
        api.delete("batch/v1", "Job", f"train-{number}", "speech")
    wait_until(lambda: scene.floats()["trimtab-speech"] < held, "the soft return follows usage down, blind")
    assert len(scene.changes()) == 1, "nothing new was decided"
    assert len(scene.alerts_firing("TrimtabBlind")) == 1

    scene.start_collector()
    wait_until(lambda: not scene.status()["blind"], "sight comes back")
    submit(scene, "speech", "again", 3)
    wait_until(lambda: len(scene.changes()) > 1, "it decides again by itself")
    assert scene.changes()[1]["id"] != change["id"]
