"""Objects of Kueue in both of its served versions, and what is kept of them."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model.objects import (
    ClusterQueue,
    Cohort,
    Condition,
    FlavorQuota,
    KueueWorkload,
    LocalQueue,
    OwnerRef,
    PodSet,
    ResourceFlavor,
)
from collector.parse import kueue
from collector.parse.json_fields import ParseProblem

GPU = "nvidia.com/gpu"
SINCE = "2026-03-01T12:00:00Z"
SINCE_SECONDS = 1772366400.0

RESOURCE_GROUPS: list[dict[str, Any]] = [
    {
        "coveredResources": ["cpu", GPU],
        "flavors": [
            {
                "name": "h100",
                "resources": [
                    {"name": "cpu", "nominalQuota": "500m"},
                    {"name": GPU, "nominalQuota": "16", "borrowingLimit": "8", "lendingLimit": "0"},
                ],
            }
        ],
    }
]
QUOTAS = {("h100", GPU): FlavorQuota(nominal=16, borrowing_limit=8, lending_limit=0)}


def workload(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"resources": {"requests": {GPU: 8}}}]}}
    return {
        "metadata": {
            "name": "job-train",
            "namespace": "vision",
            "uid": "u1",
            "creationTimestamp": SINCE,
            "labels": {"kueue.x-k8s.io/job-uid": "u9"},
            "ownerReferences": [{"kind": "Job", "name": "train", "uid": "u9", "controller": True}],
        },
        "spec": {
            "queueName": "vision",
            "priority": 100,
            "active": True,
            "podSets": [{"name": "main", "count": 4, "minCount": 2, "template": template}],
            **spec,
        },
        "status": {
            "admission": {
                "clusterQueue": "vision",
                "podSetAssignments": [{"name": "main", "flavors": {"cpu": "default", GPU: "h100"}}],
            },
            "conditions": [
                {
                    "type": "Evicted",
                    "status": "True",
                    "reason": "Preempted",
                    "message": "by u7",
                    "lastTransitionTime": SINCE,
                }
            ],
            "schedulingStats": {
                "evictions": [
                    {"reason": "Preempted", "underlyingCause": "", "count": 2},
                    {"reason": "PodsReadyTimeout", "underlyingCause": "", "count": 1},
                ]
            },
        },
    }


@pytest.mark.parametrize(
    "spec",
    [
        {"priorityClassName": "high", "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"},
        {"priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}},
    ],
    ids=["v1beta1", "v1beta2"],
)
def test_a_workload_in_both_versions(spec: dict[str, Any]) -> None:
    assert kueue.workload(workload(**spec)) == KueueWorkload(
        uid="u1",
        namespace="vision",
        name="job-train",
        queue="vision",
        created_at=SINCE_SECONDS,
        pod_sets=(PodSet(4, {GPU: 8}, 2),),
        priority=100,
        priority_class="high",
        active=True,
        owner=OwnerRef("Job", "train", "u9"),
        labels={"kueue.x-k8s.io/job-uid": "u9"},
        cluster_queue="vision",
        flavors={GPU: "h100"},
        conditions={"Evicted": Condition(True, "Preempted", "by u7", SINCE_SECONDS)},
        eviction_count=3,
    )


def test_a_workload_that_waits_holds_no_queue() -> None:
    raw = workload()
    del raw["status"]
    waiting = kueue.workload(raw)
    assert (waiting.cluster_queue, waiting.flavors, waiting.conditions, waiting.eviction_count) == (None, {}, {}, 0)


@pytest.mark.parametrize("field", ["cohort", "cohortName"], ids=["v1beta1", "v1beta2"])
def test_a_cluster_queue_in_both_versions(field: str) -> None:
    raw = {
        "metadata": {"name": "vision"},
        "spec": {
            field: "site",
            "resourceGroups": RESOURCE_GROUPS,
            "queueingStrategy": "StrictFIFO",
            "stopPolicy": "Hold",
            "preemption": {
                "reclaimWithinCohort": "Any",
                "withinClusterQueue": "LowerPriority",
                "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 10},
            },
        },
        "status": {
            "conditions": [
                {
                    "type": "Active",
                    "status": "False",
                    "reason": "Stopped",
                    "message": "is stopped",
                    "lastTransitionTime": SINCE,
                }
            ],
            "flavorsReservation": [
                {"name": "h100", "resources": [{"name": "cpu", "total": "1"}, {"name": GPU, "total": "12"}]}
            ],
        },
    }
    assert kueue.cluster_queue(raw) == ClusterQueue(
        name="vision",
        cohort="site",
        quotas=QUOTAS,
        reclaim_within_cohort="Any",
        within_cluster_queue="LowerPriority",
        borrow_within_cohort="LowerPriority",
        strategy="StrictFIFO",
        stop_policy="Hold",
        active=False,
        inactive_reason="Stopped: is stopped",
        reserved={("h100", GPU): 12},
    )


def test_a_new_cluster_queue_without_status_has_the_defaults_of_kueue() -> None:
    assert kueue.cluster_queue({"metadata": {"name": "new"}, "spec": {}}) == ClusterQueue("new", None, {})


def test_a_cohort_says_who_owns_its_spec() -> None:
    raw = {
        "metadata": {
            "name": "trimtab-vision",
            "resourceVersion": "12",
            "annotations": {"trimtab.io/change": "c1"},
            "managedFields": [
                {"manager": "trimtab", "fieldsV1": {"f:metadata": {}, "f:spec": {}}},
                {"manager": "kueue", "subresource": "status", "fieldsV1": {"f:status": {}}},
            ],
        },
        "spec": {"parentName": "tenant-vision", "resourceGroups": RESOURCE_GROUPS},
    }
    assert kueue.cohort(raw) == Cohort(
        name="trimtab-vision",
        parent="tenant-vision",
        quotas=QUOTAS,
        resource_version="12",
        annotations={"trimtab.io/change": "c1"},
        spec_managers=frozenset({"trimtab"}),
    )


@pytest.mark.parametrize(("policy", "stopped"), [(None, False), ("None", False), ("Hold", True)])
def test_a_local_queue(policy: str | None, stopped: bool) -> None:
    raw = {"metadata": {"name": "q", "namespace": "a"}, "spec": {"clusterQueue": "vision", "stopPolicy": policy}}
    assert kueue.local_queue(raw) == LocalQueue("a", "q", "vision", stopped)


def test_a_flavor() -> None:
    raw = {"metadata": {"name": "h100"}, "spec": {"nodeLabels": {"gpu": "h100"}}}
    assert kueue.resource_flavor(raw) == ResourceFlavor("h100", {"gpu": "h100"})


def test_a_malformed_quota_names_flavor_and_resource() -> None:
    group = {"flavors": [{"name": "h100", "resources": [{"name": GPU, "nominalQuota": "1.5"}]}]}
    with pytest.raises(ParseProblem, match=r"flavors\[h100\]\.resources\[nvidia\.com/gpu\]\.nominalQuota"):
        kueue.cluster_queue({"metadata": {"name": "q"}, "spec": {"resourceGroups": [group]}})
