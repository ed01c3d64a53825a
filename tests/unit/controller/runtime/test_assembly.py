"""How the parts are put together, and own objects as they are listed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from collector.sources.kubernetes_watch import ClusterWatch
from controller.api.policy import Mode
from controller.runtime.assembly import (
    ListedOwnObjects,
    Settings,
    evidence_source,
    lease_for,
    loop_for,
    steering_limits,
)
from controller.runtime.doorbell import Doorbell
from tests.builders import agreed, site_of
from tests.pictures import NOW
from tests.unit.controller.runtime.memory_api import MemoryApi

SETTINGS = Settings((), "test", "home", Mode.OBSERVE, 1.0)


def quota(namespace: str, gpus: str) -> dict[str, Any]:
    metadata = {"name": "trimtab-cap", "namespace": namespace, "uid": namespace, "resourceVersion": "1"}
    return {"metadata": metadata, "spec": {"hard": {"requests.nvidia.com/gpu": gpus}}, "status": {}}


def test_a_cap_that_somebody_wrote_nonsense_into_hides_no_other() -> None:
    api = MemoryApi()
    for space, gpus in (("ads", "4"), ("maps", "1500m"), ("news", "many")):
        api.objects[f"/api/v1/resourcequotas/{space}"] = quota(space, gpus)
    assert [(cap.namespace, cap.hard) for cap in ListedOwnObjects(api).caps()] == [("ads", {"nvidia.com/gpu": 4})]


def test_without_a_prometheus_it_is_always_blind() -> None:
    evidence = evidence_source(SETTINGS)(site_of(agreed("ads", 8)), NOW)
    assert evidence.blind == ("no Prometheus is configured",)


def test_every_start_is_a_holder_of_its_own() -> None:
    first, second = (lease_for(SETTINGS, MemoryApi()).identity for _ in range(2))
    assert first != second


def test_the_status_speaks_of_the_cluster_that_is_steered() -> None:
    api = MemoryApi()
    assert loop_for(replace(SETTINGS, cluster="east"), api, ClusterWatch(api), Doorbell("")).board.cluster == "east"


def test_no_request_of_who_steers_outlasts_what_is_left_of_its_lease() -> None:
    limits = steering_limits(30)
    assert limits.connect_seconds + limits.read_seconds == limits.answer_seconds == 10.0
