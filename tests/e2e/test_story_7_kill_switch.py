"""Story 7. The kill switch: `revert --all`; the manifest by hand, with no Trimtab running; deleting what is ours."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
import yaml

from controller.demo.processes import wait_until
from tests.e2e.conftest import SetTheScene
from tests.e2e.scene import HOME, Scene, Terms, condition
from tests.testbed.build import get
from tests.testbed.cluster import Site, SiteTenant, clear, gpu_job
from tests.testbed.parts import GO_PARTS

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue, pytest.mark.prometheus]

SITE = Site("switch", 4, (SiteTenant("audio", floor=8, floating=4), SiteTenant("video", floor=8, floating=4)), shared=8)
TERMS = Terms(120.0, tick="120s", dwell="20m", ttl="100h", burst={"audio": 24})


@pytest.fixture
def scene(set_the_scene: SetTheScene) -> Scene:
    """A scene in which a change is in force: 8 GPUs were moved to `audio`."""
    scene = set_the_scene(SITE, TERMS)
    scene.start_collector()
    scene.start_controller()
    scene.watch_with_prometheus()
    api = scene.bed.kubernetes.api
    for number in range(7):
        api.create(gpu_job(f"borrower-{number}", "video", 4, queue="video"))
    wait_until(lambda: len(api.list_objects("v1", "Pod", "video")) == 7, "the borrower runs")
    for number in range(5):
        api.create(gpu_job(f"train-{number}", "audio", 4, queue="audio"))
    scene.wait_for_change()
    wait_until(lambda: scene.changes()[0]["verdict"] == "helped", "a change in force")
    assert scene.floats() != scene.baseline()
    return scene


def test_revert_all_restores_the_baseline_beside_a_running_controller(scene: Scene) -> None:
    done = trimtab(scene, "revert", "--all", "--reason", "drill", "-o", "json")
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["written"]) == set(scene.baseline())
    assert scene.floats() == scene.baseline()
    wait_until(lambda: scene.status()["paused"] == "revert --all: drill", "the controller knows that it is paused")
    wait_until(lambda: not scene.status()["active_changes"], "no change is in force")
    assert scene.floats() == scene.baseline(), "and nobody moved anything since"
    tenants_still_borrow_and_reclaim(scene)


def test_the_manifest_by_hand_restores_the_baseline_while_no_trimtab_runs(scene: Scene) -> None:
    scene.service("controller").kill()
    baseline = scene.folder / "baseline.yaml"
    baseline.write_text(yaml.safe_dump_all(SITE.baseline_manifests(), sort_keys=False))
    kubectl(scene, "apply", "--server-side", "--field-manager=trimtab", "-f", str(baseline))
    assert scene.floats() == scene.baseline()

    scene.start_controller()
    wait_until(lambda: all(one["stage"] == "ended" for one in scene.changes()), "it sees that a person ended it")
    assert "person" in scene.changes()[0]["return_reason"]
    tenants_still_borrow_and_reclaim(scene)


def test_deleting_our_objects_cuts_nobody_off(scene: Scene) -> None:
    scene.stop()
    for name in scene.baseline():
        scene.bed.kubernetes.api.delete("kueue.x-k8s.io/v1beta2", "Cohort", name)
    api = scene.bed.kubernetes.api
    clear(api, "audio")
    clear(api, "video")
    for tenant in ("audio", "video"):
        for number in range(2):
            api.create(gpu_job(f"floor-{number}", tenant, 4, queue=tenant))
    wait_until(lambda: admitted(scene, "audio") == 2 and admitted(scene, "video") == 2, "both get their guarantee")


def tenants_still_borrow_and_reclaim(scene: Scene) -> None:
    """From a clear start: one tenant fills what is idle, the other takes back what is its own."""
    api = scene.bed.kubernetes.api
    clear(api, "audio")
    clear(api, "video")
    for number in range(7):
        api.create(gpu_job(f"again-{number}", "video", 4, queue="video"))
    wait_until(lambda: admitted(scene, "video") == 7, "video borrows: 12 of its own, 8 shared, 8 lent floor")
    for number in range(3):
        api.create(gpu_job(f"again-{number}", "audio", 4, queue="audio"))
    wait_until(lambda: admitted(scene, "audio") == 3, "audio takes its floor and float back")


def admitted(scene: Scene, tenant: str) -> int:
    """Workloads of a tenant that hold quota."""
    return sum(1 for one in scene.workloads(tenant) if condition(one, "QuotaReserved"))


def trimtab(scene: Scene, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A verb of the command line, as an administrator."""
    where = ["--kubeconfig", str(scene.bed.kubernetes.kubeconfig), "--namespace", HOME]
    return subprocess.run(
        scene.run(*arguments, *where), capture_output=True, text=True, timeout=300, env=os.environ, check=False
    )


def kubectl(scene: Scene, *arguments: str) -> None:
    """The real kubectl."""
    program = str(get(GO_PARTS["kubernetes"]).binary("kubectl"))
    subprocess.run([program, "--kubeconfig", str(scene.bed.kubernetes.kubeconfig), *arguments], check=True, timeout=300)
