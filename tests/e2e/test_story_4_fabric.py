"""Story 4. A noisy neighbour slows RDMA while a tenant starves: the loop names RDMA and moves no quota until it ends.

The probe is a real ucx_perftest between two network namespaces, which stand for the two nodes of the tenant's gang.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.demo.processes import wait_until
from tests.e2e.conftest import SetTheScene
from tests.e2e.scene import Scene, Terms
from tests.testbed import Testbed
from tests.testbed.cluster import Site, SiteTenant, gpu_job
from tests.testbed.network import ADDRESSES
from tests.testbed.ucx import LEFT, RIGHT, UCX_ENVIRONMENT, Ucx

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue, pytest.mark.prometheus, pytest.mark.network]

SITE = Site("mesh", 5, (SiteTenant("vision", floor=16, floating=8), SiteTenant("nlp", floor=8)), shared=8)
TERMS = Terms(120.0, burst={"vision": 32}, network_within={"vision": "3x-baseline"})
RATIO = 'trimtab_tenant_rdma_latency_ratio{tenant="vision"}'


@pytest.fixture
def pair(fabric: Testbed) -> Iterator[Ucx]:
    yield fabric.ucx
    fabric.ucx.silence()


def test_a_noisy_neighbour_is_named_and_no_quota_is_moved_for_it(set_the_scene: SetTheScene, pair: Ucx) -> None:
    scene = set_the_scene(SITE, TERMS)
    submit(scene, "vision", "gang", pods=2)
    source, destination = nodes_of_the_gang(scene)
    scene.start_collector("--rdma-probes", str(probes(scene.folder, pair, source, destination)))
    scene.start_controller()
    scene.watch_with_prometheus()
    submit(scene, "vision", "own")
    for number in range(2):
        submit(scene, "nlp", f"borrower-{number}")
    wait_until(lambda: len(scene.bed.kubernetes.api.list_objects("v1", "Pod", "nlp")) == 2, "the borrower runs")
    scene.bed.prometheus.wait_for(f"{RATIO} < 1")

    pair.make_noise()
    scene.bed.prometheus.wait_for(f"{RATIO} > 1")
    submit(scene, "vision", "late")
    wait_until(lambda: causes(scene) == {"rdma"}, "the loop names RDMA")
    wait_until(lambda: bool(scene.alerts_firing("TrimtabFabricSlow")), "the alert about the network")
    wait_until(lambda: bool(scene.alerts_firing("TrimtabTenantStarved")), "the alert about the wait")
    (finding,) = findings(scene)
    assert finding["shortfall_gpus"] == 8, "it starves, as in story 1"
    assert f"RDMA from {source} to {destination} takes" in finding["finding"]
    assert finding["change"] is None
    assert scene.changes() == []
    assert scene.floats() == scene.baseline()

    pair.silence()
    change = scene.wait_for_change()
    assert (change["source"], change["destination"]) == ("trimtab-shared", "trimtab-vision"), "nothing else was wrong"


def submit(scene: Scene, tenant: str, name: str, pods: int = 1) -> None:
    """A job that takes whole nodes until it is deleted."""
    scene.bed.kubernetes.api.create(gpu_job(name, tenant, 8, pods=pods, queue=tenant))


def nodes_of_the_gang(scene: Scene) -> list[str]:
    """The two nodes that the first job runs on."""

    def nodes() -> list[str]:
        pods = scene.bed.kubernetes.api.list_objects("v1", "Pod", "vision")
        return sorted(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))

    wait_until(lambda: len(nodes()) == 2, "the gang to run")
    return nodes()


def probes(folder: Path, pair: Ucx, source: str, destination: str) -> Path:
    """The file that names the one edge: once a second in scaled time."""
    edge = {
        "source": source,
        "destination": destination,
        "address": ADDRESSES[RIGHT],
        "client": list(pair.enter(LEFT)),
        "server": list(pair.enter(RIGHT)),
    }
    file = folder / "probes.yaml"
    document = {"interval": "2m", "iterations": 100, "environment": UCX_ENVIRONMENT, "edges": [edge]}
    file.write_text(yaml.safe_dump(document))
    return file


def findings(scene: Scene) -> list[dict[str, Any]]:
    """What the controller finds about the tenant now."""
    return [one for one in scene.status()["findings"] if one["tenant"] == "vision"]


def causes(scene: Scene) -> set[str]:
    """The causes it names, while the tenant lacks GPUs."""
    return {one["cause"] for one in findings(scene) if one["shortfall_gpus"]}
