"""Story 6. kill -9 between intent and take, take and give, give and outcome: each move ends whole or undone."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from controller.demo.processes import wait_until
from tests.e2e.conftest import SetTheScene
from tests.e2e.crossing import Crossing
from tests.e2e.scene import Scene, Terms
from tests.testbed.cluster import Site, SiteTenant, clear, gpu_job

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue, pytest.mark.prometheus]

SITE = Site("crash", 4, (SiteTenant("maps", floor=8, floating=4), SiteTenant("ads", floor=8, floating=4)), shared=8)
TERMS = Terms(120.0, tick="120s", dwell="20m", ttl="30m", burst={"maps": 24})

MOMENTS = {
    "between intent and take": ("before", "/cohorts/trimtab-shared"),
    "between take and its outcome": ("after", "/cohorts/trimtab-shared"),
    "between take and give": ("before", "/cohorts/trimtab-maps"),
    "between give and outcome": ("after", "/cohorts/trimtab-maps"),
}


@pytest.fixture
def scene(set_the_scene: SetTheScene) -> Scene:
    return set_the_scene(SITE, TERMS)


@pytest.fixture
def crossing(scene: Scene) -> Iterator[Crossing]:
    made = Crossing(scene.controller_kubeconfig(), scene.folder)
    yield made
    made.close()


@pytest.mark.parametrize("moment", MOMENTS)
def test_after_a_crash_each_move_is_whole_or_undone(scene: Scene, crossing: Crossing, moment: str) -> None:
    api, allocatable = scene.bed.kubernetes.api, SITE.nodes * SITE.gpus_per_node
    scene.start_collector()
    scene.start_controller(kubeconfig=crossing.kubeconfig)
    scene.watch_with_prometheus()
    for number in range(7):
        api.create(gpu_job(f"borrower-{number}", "ads", 4, queue="ads"))
    wait_until(lambda: len(api.list_objects("v1", "Pod", "ads")) == 7, "the borrower runs")
    crossing.kill_at(*MOMENTS[moment], scene.service("controller").kill)
    for number in range(4):
        api.create(gpu_job(f"train-{number}", "maps", 4, queue="maps"))
    assert crossing.killed.wait(180), "the controller reached the moment"

    assert granted(scene) <= allocatable
    left = scene.changes()
    assert left, "the intent stood in the ledger before anything was written"
    assert all(change["expires_at"] > change["created_at"] for change in left), "each with its end"

    scene.start_controller(kubeconfig=crossing.kubeconfig)
    deadline = time.monotonic() + 180
    while not whole_or_undone(scene):
        assert granted(scene) <= allocatable
        assert time.monotonic() < deadline, scene.changes()
        time.sleep(0.2)

    clear(api, "maps")
    clear(api, "ads")
    wait_until(lambda: scene.floats() == scene.baseline(), "the baseline after its time")


def granted(scene: Scene) -> int:
    """The sum of all guarantees: Git's floors and every own Cohort."""
    return sum(tenant.floor for tenant in SITE.tenants) + sum(scene.floats().values())


def whole_or_undone(scene: Scene) -> bool:
    """Every change is fully in force or fully gone, and the objects say the same as the ledger."""
    floats, baseline, moved = scene.floats(), scene.baseline(), {"trimtab-shared": 0, "trimtab-maps": 0}
    for change in scene.changes():
        if change["stage"] == "intended" or change["taken"] != change["given"]:
            return False
        moved["trimtab-shared"] -= change["taken"]
        moved["trimtab-maps"] += change["given"]
    return all(floats[name] == baseline[name] + moved[name] for name in moved)
