"""Random small scenarios through the native engine and the real Kubernetes: after each step the same Jobs hold GPUs.

What is refused by quota, what waits for nodes, who makes way, and what then takes the room. Three scenarios;
`TRIMTAB_NATIVE_SCENARIOS=10` plays ten.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

import pytest

from controller.demo.processes import wait_until
from controller.simulate.native import NativeBatch, NativeSetting, WorkClass
from tests.testbed.api import KubeApi
from tests.testbed.bed import Testbed
from tests.testbed.cluster import BORROW, NativeSite, SiteTenant, build_site, clear, gpu_job, remove_site
from tests.traces import Row, table

pytestmark = pytest.mark.kubernetes

SCENARIOS = int(os.environ.get("TRIMTAB_NATIVE_SCENARIOS", "3"))
TENANTS = (SiteTenant("left", floor=8, floating=24), SiteTenant("right", floor=16, floating=8))
SITE = NativeSite("twin", 3, TENANTS)
NAMES = tuple(tenant.name for tenant in TENANTS)
STEPS, STEP_SECONDS, FOR_EVER = 8, 100.0, 1e9


class Seen(NamedTuple):
    """Where things stand after one step."""

    running: frozenset[str]
    place: int | None
    """The node of the Job that was handed in last, where it found one without an eviction."""


def drawn(seed: int) -> tuple[list[Row], list[WorkClass]]:
    """Jobs of one pod each, one after the other; none ends."""
    chance = Random(seed)
    rows, classes = [], []
    for step in range(STEPS):
        tenant, gpus = chance.choice(NAMES), chance.choice((2, 4, 8))
        rows.append(Row(step * STEP_SECONDS, FOR_EVER, gpus, tenant))
        classes.append(chance.choice((WorkClass.NORMAL, WorkClass.BORROW, WorkClass.BORROW)))
    return rows, classes


def simulated(rows: Sequence[Row], classes: Sequence[WorkClass]) -> Iterator[Seen]:
    """Step by step. A Job that lost its pod does not come back: it may not fail once."""
    quotas, caps = [one.floor for one in TENANTS], [one.floating for one in TENANTS]
    setting = NativeSetting(quotas, caps, 8 * SITE.nodes, classes, 8, requeue_seconds=FOR_EVER)
    batch = NativeBatch(table(rows, NAMES), setting)
    evicted = 0
    for step in range(len(rows)):
        batch.advance(step * STEP_SECONDS + STEP_SECONDS / 2)
        held = batch.places(step)
        place = held[0][0] if held and batch.evictions == evicted else None
        evicted = batch.evictions
        running = frozenset(f"job-{row}" for row in range(step + 1) if batch.places(row))
        yield Seen(running, place)


@pytest.fixture(scope="module")
def api(control_plane: Testbed) -> Iterator[KubeApi]:
    api = control_plane.kubernetes.api
    build_site(api, SITE)
    yield api
    remove_site(api, SITE)


@pytest.mark.parametrize("seed", range(SCENARIOS))
def test_the_native_engine_runs_and_evicts_what_kubernetes_does(api: KubeApi, seed: int) -> None:
    rows, classes = drawn(seed)
    for step, seen in enumerate(simulated(rows, classes)):
        job = gpu_job(
            f"job-{step}",
            rows[step].tenant,
            rows[step].gpus,
            priority_class=BORROW if classes[step] is WorkClass.BORROW else None,
        )
        if seen.place is not None:  # among equal nodes kube-scheduler takes any
            job["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": f"twin-{seen.place}"}
        api.create(job)
        told = f"seed {seed}, step {step} of {list(zip(rows, classes, strict=True))}: {sorted(seen.running)} to run"
        time.sleep(1.1)  # when a pod began is told in whole seconds, and decides who makes way
        wait_until(partial(stands, api, seen.running), told)
    for name in NAMES:
        clear(api, name)


def stands(api: KubeApi, running: frozenset[str]) -> bool:
    """Whether just these Jobs run, and nothing is still to happen."""
    return bound(api) == running and settled(api, running)


def bound(api: KubeApi) -> frozenset[str]:
    """Jobs whose pod has a node and runs."""
    pods = (pod for name in NAMES for pod in api.list_objects("v1", "Pod", name))
    return frozenset(
        pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]
        for pod in pods
        if pod["spec"].get("nodeName") and pod["status"].get("phase") == "Running"
        if "deletionTimestamp" not in pod["metadata"]
    )


def settled(api: KubeApi, running: frozenset[str]) -> bool:
    """Whether every other Job was looked at: refused, told that nothing fits, or failed."""
    for name in NAMES:
        looked_at = {event["involvedObject"]["name"] for event in api.list_objects("v1", "Event", name) if _no(event)}
        for job in api.list_objects("batch/v1", "Job", name):
            title = job["metadata"]["name"]
            if title not in running and not any(one == title or one.startswith(f"{title}-") for one in looked_at):
                return False
    return True


def _no(event: dict[str, object]) -> bool:
    return event["reason"] in ("FailedCreate", "FailedScheduling", "Preempted", "BackoffLimitExceeded")
