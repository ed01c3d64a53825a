"""Story 1. A tenant falls short of its entitled demand while another borrows; a real trace window makes the load.

Virtual cluster ed69ec of the Philly trace (23 jobs of one GPU within an hour) plays `vision`; 6c71a0 (109 jobs, far
more than its share) plays `nlp` and fills the cluster first. Four hours pass in two minutes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from controller.demo.processes import wait_until
from tests.e2e.conftest import SetTheScene
from tests.e2e.scene import Scene, Terms, condition
from tests.testbed.cluster import Site, SiteTenant, clear
from tests.testbed.driver import Driver, plan, read_philly, window_of

pytestmark = [pytest.mark.kubernetes, pytest.mark.kueue, pytest.mark.prometheus]

TIME_SCALE = 120.0
START, END = datetime.fromisoformat("2017-10-16T05:00"), datetime.fromisoformat("2017-10-16T09:00")
SITE = Site("philly", 4, (SiteTenant("vision", floor=8, floating=4), SiteTenant("nlp", floor=8, floating=4)), shared=8)
TERMS = Terms(TIME_SCALE, tick="20m", dwell="20m", ttl="2h", burst={"vision": 24})


@contextmanager
def trace_window(scene: Scene, trace: Path) -> Iterator[Driver]:
    """The window of the trace, submitted at its own times beside the story."""
    window = window_of(read_philly(trace), START, END)
    jobs = plan(window, START, {"ed69ec": "vision", "6c71a0": "nlp"}, TIME_SCALE, max_gpus=8)
    driver = Driver(scene.bed.kubernetes.api, jobs)
    thread = threading.Thread(target=driver.run, name="workload-driver")
    thread.start()
    try:
        yield driver
    finally:
        driver.stop()
        thread.join(180)


def test_starved_behind_lent_quota_is_seen_cured_and_given_back(
    set_the_scene: SetTheScene, shared_folder: Path
) -> None:
    scene = set_the_scene(SITE, TERMS)
    scene.start_collector()
    scene.start_controller()
    scene.watch_with_prometheus()

    with trace_window(scene, shared_folder / "traces" / "philly" / "philly.csv.gz") as driver:
        change = scene.wait_for_change()
        assert (change["source"], change["destination"]) == ("trimtab-shared", "trimtab-vision")
        assert "nlp borrows" in change["finding"], "the finding names who holds the quota"
        assert rung_before(scene, change["created_at"]), "Alertmanager rang before the loop decided"

        named = {work["title"] for work in change["forecast"]["ready"]}
        wait_until(lambda: scene.changes()[0]["verdict"] is not None, "the verdict")
        judged = scene.changes()[0]
        assert judged["verdict"] == "helped", judged["verdict_reason"]
        wait_until(lambda: named <= ready_jobs(scene, "vision"), "the Jobs' own status to say so as well")
        assert scene.floats()["trimtab-vision"] > 4
        assert sum(scene.floats().values()) == sum(scene.baseline().values()), "moved, not made"

        wait_until(lambda: scene.changes()[0]["stage"] in ("returning", "ended"), "the end of its time to live")
        assert driver.report.mean_lag_seconds < 60, f"the trace was replayed at its own pace: {driver.report.as_dict()}"

    admitted = {one["metadata"]["name"] for one in scene.workloads("vision") if condition(one, "QuotaReserved")}
    still_held = scene.floats()["trimtab-vision"]
    assert still_held > 4, "the tap follows usage: what still runs under the change keeps its quota"
    clear(scene.bed.kubernetes.api, "nlp")
    assert not evicted(scene, "vision") & admitted, "the end of the change evicted nobody"

    clear(scene.bed.kubernetes.api, "vision")
    wait_until(lambda: scene.floats() == scene.baseline(), "the baseline, once usage has gone")
    wait_until(lambda: all(one["stage"] == "ended" for one in scene.changes()), "all changes ended")


def rung_before(scene: Scene, moment: float) -> bool:
    """Whether the controller's log tells of a signal from Alertmanager before that moment."""
    for line in scene.service("controller").log.read_text().splitlines():
        entry = json.loads(line) if line.startswith("{") else {}
        if entry.get("event") == "signal" and entry.get("tenant") == "vision":
            return datetime.fromisoformat(entry["timestamp"]).timestamp() <= moment
    return False


def ready_jobs(scene: Scene, tenant: str) -> set[str]:
    """Jobs of a tenant with all pods ready, or already finished."""
    jobs = scene.bed.kubernetes.api.list_objects("batch/v1", "Job", tenant)
    ready = (one["metadata"]["name"] for one in jobs if one["status"].get("ready") or one["status"].get("succeeded"))
    return {f"{tenant}/{name}" for name in ready}


def evicted(scene: Scene, tenant: str) -> set[str]:
    """Workloads of a tenant that were evicted at any time and did not come back."""
    return {one["metadata"]["name"] for one in scene.workloads(tenant) if condition(one, "Evicted")}
