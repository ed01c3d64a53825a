"""Story 7, Observe. A chart is installed as it comes: a tenant starves, all is seen and said, and nothing is written.

The programs run with the command lines, documents and service accounts of the chart. The policy says Enforce: what
holds is the ceiling of the installation. What was written is told by the audit log of the API server.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.demo.processes import wait_until
from tests.e2e.conftest import SetTheScene
from tests.e2e.scene import TOKEN, Scene, Terms
from tests.testbed import Testbed
from tests.testbed.api import ApiRefused, KubeApi
from tests.testbed.cluster import Site, SiteTenant, gpu_job, namespace
from tests.testbed.helm import Helm
from tests.testbed.installed import Installed

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue, pytest.mark.prometheus]

HOME = "trimtab-observe"
SITE = Site("calm", 4, (SiteTenant("weather", floor=8, floating=4), SiteTenant("maps", floor=8, floating=4)), shared=8)
TERMS = Terms(120.0, mode="Enforce", tick="120s", dwell="20m", ttl="50m", burst={"weather": 24})
OWN_WRITES = {("configmaps", "trimtab-status"), ("leases", "trimtab-controller")}


@pytest.fixture
def helm(control_plane: Testbed, chart: Path, tmp_path: Path) -> Iterator[Helm]:
    api = control_plane.kubernetes.api
    api.apply(namespace(HOME, {"pod-security.kubernetes.io/enforce": "restricted"}), "git")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "trimtab-doorbell", "namespace": HOME}}
    api.apply({**secret, "stringData": {"token": TOKEN}}, "git")
    helm = Helm(chart, tmp_path / "helm", HOME, kubeconfig=control_plane.kubernetes.kubeconfig)
    yield helm
    helm.remove()
    api.delete("v1", "Namespace", HOME)


def test_an_observe_install_sees_everything_and_writes_only_its_own_status_and_lease(
    set_the_scene: SetTheScene, helm: Helm, tmp_path: Path
) -> None:
    scene = set_the_scene(SITE, TERMS)
    kubernetes = scene.bed.kubernetes
    scene.bed.start("gpu-exporter")
    helm.install(values_of(scene))
    installed = Installed(kubernetes, HOME, tmp_path / "volumes")
    start(scene, installed, "collector", "/readyz")
    start(scene, installed, "controller", "/healthz")
    scene.watch_with_prometheus()

    starve(scene, "weather", borrower="maps")
    wait_until(lambda: "MODE_OBSERVE" in refusals(scene), "a change that only the mode holds back")
    assert scene.status()["mode"] == "Observe"
    assert any("maps borrows" in one["finding"] for one in scene.status()["findings"])
    ticks = count(scene, "tick")
    wait_until(lambda: count(scene, "tick") >= ticks + 5 and count(scene, "signal") > 0, "more ticks, and the doorbell")
    run_janitor(scene, installed)

    assert scene.floats() == scene.baseline()
    written = writes_of(scene, "controller")
    assert {(one["resource"], one["name"]) for one in written} == OWN_WRITES
    assert all(one["namespace"] == HOME and one["code"] < 300 for one in written), "and nothing else was even tried"
    assert writes_of(scene, "collector") == writes_of(scene, "janitor") == []

    controller = KubeApi.from_kubeconfig(installed.user("controller").kubeconfig)
    with pytest.raises(ApiRefused, match="cannot patch resource"):
        controller.apply(scene.site.baseline_manifests()[0], "trimtab")

    scene.stop()
    helm.uninstall()
    assert scene.floats() == scene.baseline(), "an uninstall in Observe has nothing to undo"
    assert writes_of(scene, "janitor") == []


def values_of(scene: Scene) -> dict[str, Any]:
    """The values of an installation, with the mode left as it comes."""
    return {
        "cluster": {"name": scene.site.name},
        "prometheus": {"url": scene.bed.prometheus.url},
        "documents": {"site.yaml": scene.documents_text()},
        "baseline": yaml.safe_dump_all(scene.site.baseline_manifests(), sort_keys=False),
        "timeScale": scene.terms.time_scale,
        "controller": {"doorbell": {"existingSecret": "trimtab-doorbell"}},
        "collector": {"gpuExporters": [scene.bed.gpu_exporter.url]},
    }


def start(scene: Scene, installed: Installed, program: str, ready: str) -> None:
    """What the kubelet would run for the Deployment of a program."""
    pod = installed.pod_of("apps/v1", "Deployment", program)
    scene.start_program(program, installed.arguments(pod, scene.listen(program)), ready)


def run_janitor(scene: Scene, installed: Installed) -> None:
    """What the kubelet would run for one Job of the CronJob."""
    arguments = installed.arguments(installed.pod_of("batch/v1", "CronJob", "janitor"))
    done = subprocess.run(scene.run(*arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def starve(scene: Scene, tenant: str, borrower: str) -> None:
    """One tenant takes all but what is the other's reserve; then the other asks for more than that."""
    api = scene.bed.kubernetes.api
    for number in range(7):
        api.create(gpu_job(f"borrow-{number}", borrower, 4, queue=borrower))
    wait_until(lambda: len(api.list_objects("v1", "Pod", borrower)) == 7, "the borrower runs")
    for number in range(4):
        api.create(gpu_job(f"own-{number}", tenant, 4, queue=tenant))


def refusals(scene: Scene) -> set[str]:
    """Codes of what was decided and not done, in the controller's last word."""
    return {one["refusal"] for one in scene.status().get("findings", [])}


def count(scene: Scene, event: str) -> int:
    """How often the controller's log tells of an event."""
    lines = scene.service("controller").log.read_text().splitlines()
    return sum(json.loads(line).get("event") == event for line in lines if line.startswith("{"))


def writes_of(scene: Scene, program: str) -> list[dict[str, Any]]:
    """Every write that the service account of a program tried, by the audit log."""
    events = scene.bed.kubernetes.writes(f"system:serviceaccount:{HOME}:trimtab-{program}")
    return [
        {
            "resource": event["objectRef"]["resource"],
            "namespace": event["objectRef"].get("namespace"),
            "name": event["objectRef"].get("name"),
            "code": event["responseStatus"]["code"],
        }
        for event in events
    ]
