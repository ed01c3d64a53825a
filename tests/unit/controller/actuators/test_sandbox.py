"""The sandbox actuator answers as an API server would, and refuses what it would refuse."""

from __future__ import annotations

from typing import Any

import pytest

from collector.parse.kueue import cohort
from controller.actuators.sandbox import SandboxActuator
from controller.api.errors import ApplyError
from controller.demo.live_cluster import LiveCluster
from controller.demo.scenery import DEMO_SITE
from controller.demo.story import Story
from controller.knobs.kueue import cohort_manifest, manifest_path
from controller.knobs.own import read_baseline

BASELINE = read_baseline(DEMO_SITE.baseline_text(), "baseline")


def live() -> LiveCluster:
    return LiveCluster(DEMO_SITE, Story(()), 120.0, 1, lambda: 1_750_000_000.0)


def manifest(gpus: int, name: str = "trimtab-vision", **annotations: str) -> dict[str, Any]:
    leaf = next(leaf for leaf in BASELINE.leaves if leaf.name == name)
    return cohort_manifest(leaf, dict.fromkeys(leaf.amounts, gpus), annotations)


def test_the_answer_is_the_object_as_it_stands_then() -> None:
    cluster = live()
    actuator = SandboxActuator(cluster)
    answer = cohort(actuator.apply(manifest_path("trimtab-vision"), manifest(9, mark="one")))
    assert answer == cluster.own_cohort("trimtab-vision")
    assert [quota.nominal for quota in answer.quotas.values()] == [9]
    assert answer.annotations == {"mark": "one"}
    assert answer.spec_managers == frozenset({"trimtab"})


def test_an_apply_without_the_annotation_takes_it_away() -> None:
    actuator = SandboxActuator(live())
    first = actuator.apply(manifest_path("trimtab-vision"), manifest(9, mark="one"))
    second = actuator.apply(manifest_path("trimtab-vision"), manifest(4))
    assert cohort(second).annotations == {}
    assert first["metadata"]["resourceVersion"] != second["metadata"]["resourceVersion"]


def test_a_preview_changes_nothing() -> None:
    cluster = live()
    before = cluster.cohorts()
    SandboxActuator(cluster).preview(manifest_path("trimtab-vision"), manifest(9))
    assert cluster.cohorts() == before


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("trimtab-nobody", {}, "NOT_SERVED"),
        ("tenant-vision", {}, "NOT_SERVED"),
        ("trimtab-vision", {"kind": "ResourceQuota"}, "NOT_SERVED"),
        ("trimtab-vision", {"spec": {"parentName": "elsewhere"}}, "REJECTED"),
        ("trimtab-vision", {"spec": {"resourceGroups": [{"flavors": [{"resources": [{}]}]}]}}, "REJECTED"),
        ("trimtab-nlp", {}, "REJECTED"),
    ],
)
def test_what_an_api_server_would_refuse_is_refused(name: str, change: dict[str, Any], code: str) -> None:
    with pytest.raises(ApplyError) as refused:
        SandboxActuator(live()).apply(manifest_path(name), manifest(9) | change)
    assert refused.value.code == code
