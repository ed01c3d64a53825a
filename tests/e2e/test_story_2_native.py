"""Story 2. Plain Kubernetes: extra work is refused by its cap while GPUs stand idle, and no pod tells of it."""

from __future__ import annotations

import pytest

from controller.demo.processes import wait_until
from tests.e2e.conftest import SetTheScene
from tests.e2e.scene import Scene, Terms
from tests.testbed.cluster import BORROW, NativeSite, SiteTenant, clear, gpu_job

pytestmark = [pytest.mark.kubernetes, pytest.mark.prometheus]

SITE = NativeSite("plain", 2, (SiteTenant("maths", floor=8, floating=2), SiteTenant("bio", floor=8, floating=2)))
TERMS = Terms(120.0, tick="120s", dwell="20m", ttl="4h", burst={"maths": 16})


def test_extra_work_runs_on_idle_gpus_and_makes_way_when_their_owner_comes(set_the_scene: SetTheScene) -> None:
    scene = set_the_scene(SITE, TERMS)
    scene.start_collector()
    scene.start_controller()
    scene.watch_with_prometheus()
    api = scene.bed.kubernetes.api
    for number in range(2):
        api.create(gpu_job(f"own-{number}", "maths", 4))
    for number in range(3):
        api.create(gpu_job(f"extra-{number}", "maths", 2, priority_class=BORROW))

    wait_until(lambda: pods_of(scene, "maths") == 3, "the guarantee and one extra job run")
    change = scene.wait_for_change()
    assert "asks for 4 GPUs that its cap refuses" in change["finding"]
    assert (change["source"], change["destination"]) == ("idle", "maths/trimtab-cap")
    refused = {work["title"].removeprefix("maths/") for work in change["forecast"]["ready"]}
    assert change["forecast"]["evicted"] == []

    wait_until(lambda: scene.changes()[0]["verdict"] is not None, "the verdict")
    assert scene.changes()[0]["verdict"] == "helped", scene.changes()[0]["verdict_reason"]
    wait_until(lambda: refused <= ready_jobs(scene, "maths"), "the Jobs' own status to say so as well")
    assert scene.floats() == {"maths": 8, "bio": 2}, "4 were asked for; of the 4 left each tenant may take a half"

    for number in range(2):  # the owner of the idle GPUs comes: nobody of us has to do anything for it
        api.create(gpu_job(f"own-{number}", "bio", 4))
    wait_until(lambda: len(ready_jobs(scene, "bio")) == 2, "bio's guaranteed jobs preempt and run")
    assert len([job for job in ready_jobs(scene, "maths") if job.startswith("own-")]) == 2, "only extra work made way"

    wait_until(lambda: scene.floats() == scene.baseline(), "the cap follows what the owners leave: nothing")
    assert scene.changes()[0]["stage"] == "kept"
    for tenant in ("maths", "bio"):
        clear(api, tenant)
    wait_until(lambda: scene.floats() == scene.baseline(), "the baseline")


def pods_of(scene: Scene, tenant: str) -> int:
    """Pods of a tenant that exist at all."""
    return len(scene.bed.kubernetes.api.list_objects("v1", "Pod", tenant))


def ready_jobs(scene: Scene, tenant: str) -> set[str]:
    """Jobs of a tenant with all pods ready."""
    jobs = scene.bed.kubernetes.api.list_objects("batch/v1", "Job", tenant)
    return {one["metadata"]["name"] for one in jobs if one["status"].get("ready")}
