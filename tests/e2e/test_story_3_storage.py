"""Story 3. Wrong cause: a disk of the real Ceph is slow. The demand is one that quota would serve, were it not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from controller.demo.processes import wait_until
from controller.knobs.rights import volume_rules
from tests.e2e.conftest import SetTheScene
from tests.e2e.scene import Scene, Terms
from tests.testbed import Testbed
from tests.testbed.ceph import Ceph
from tests.testbed.cluster import Site, SiteTenant, gpu_job
from tests.testbed.disk_throttle import NoThrottle
from tests.testbed.volumes import bind_image, remove_volume

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue, pytest.mark.prometheus, pytest.mark.ceph]

SITE = Site("tide", 4, (SiteTenant("imaging", floor=8, floating=4), SiteTenant("crawl", floor=8, floating=4)), shared=8)
TERMS = Terms(120.0, tick="120s", dwell="20m", ttl="4h", burst={"imaging": 24}, storage_within={"imaging": "50ms"})
IMAGE = "csi-vol-imaging"


@pytest.fixture
def busy_volume(control_plane: Testbed, storage: Testbed) -> Iterator[Ceph]:
    """A volume of tenant imaging that its jobs write to, forty times a second."""
    storage.ceph.add_image(IMAGE)
    bind_image(control_plane.kubernetes.api, "imaging", IMAGE)
    load = storage.ceph.load(IMAGE, iops=40, at_most_seconds=1800)
    load.start()
    yield storage.ceph
    storage.ceph.unthrottle_osd(1)
    load.stop()
    remove_volume(control_plane.kubernetes.api, IMAGE)


def test_slow_storage_is_named_and_no_quota_is_moved_for_it(set_the_scene: SetTheScene, busy_volume: Ceph) -> None:
    scene = set_the_scene(SITE, TERMS)
    scene.start_collector("--ceph-url", busy_volume.metrics_url, more_rights=volume_rules())
    scene.start_controller()
    scene.watch_with_prometheus()
    before = writes_to_own_cohorts(scene)
    submit(scene, "crawl", "borrower", 7)
    wait_until(lambda: len(scene.bed.kubernetes.api.list_objects("v1", "Pod", "crawl")) == 7, "the borrower runs")
    try:
        busy_volume.throttle_osd(1, iops=15)
    except NoThrottle as reason:
        pytest.skip(f"no disk can be slowed here: {reason}")

    wait_until(lambda: "Ceph: osd.1 commits in" in scene.status()["sentence"], "the loop names the disk")
    (told,) = scene.status()["findings"]
    assert (told["tenant"], told["kind"], told["cause"]) == ("imaging", "storage-slow", "ceph")
    assert "volumes of tenant imaging wait" in told["decision"]
    assert "(objective 50 ms). No change: The cause is ceph: no quota would cure it." in told["decision"]
    wait_until(lambda: bool(scene.alerts_firing("TrimtabStorageSlow")), "people are told as well")

    submit(scene, "imaging", "train", 4)  # 16 GPUs: more than its own 12, while crawl borrows
    wait_until(lambda: bool(scene.alerts_firing("TrimtabTenantStarved")), "imaging is short of GPUs")
    wait_until(lambda: starving(scene)["cause"] == "ceph", "the same demand, seen beside its cause")
    assert starving(scene)["refusal"] == "NOT_SCHEDULING"
    ticks_go_by(scene, 5)
    assert starving(scene)["cause"] == "ceph"
    assert scene.changes() == []
    assert scene.floats() == scene.baseline()
    assert writes_to_own_cohorts(scene) == before, "not even tried"

    busy_volume.unthrottle_osd(1)  # now it is a matter of quota, and quota moves
    change = scene.wait_for_change()
    assert change["destination"] == "trimtab-imaging"
    assert "Ceph" not in change["finding"]


def submit(scene: Scene, tenant: str, names: str, count: int) -> None:
    """Jobs of four GPUs that run until they are deleted."""
    for number in range(count):
        scene.bed.kubernetes.api.create(gpu_job(f"{names}-{number}", tenant, 4, queue=tenant))


def starving(scene: Scene) -> dict[str, Any]:
    """What the loop says of imaging's shortfall; all empty while it sees none."""
    found = [one for one in scene.status()["findings"] if one["tenant"] == "imaging" and one["shortfall_gpus"] > 0]
    return found[0] if found else {"cause": "", "refusal": ""}


def ticks_go_by(scene: Scene, count: int) -> None:
    """Waits while the loop looks so many times more."""
    for _ in range(count):
        next_tick(scene, scene.status()["at"])


def next_tick(scene: Scene, after: str) -> None:
    """Waits for a tick that is not the one `after`."""
    wait_until(lambda: scene.status()["at"] != after, "the next tick")


def writes_to_own_cohorts(scene: Scene) -> int:
    """How often the controller tried to write to its own Cohorts so far, by the API server's audit log."""
    own = scene.baseline()
    events = scene.bed.kubernetes.writes("trimtab-controller")
    return sum(one["objectRef"]["resource"] == "cohorts" and one["objectRef"].get("name") in own for one in events)
