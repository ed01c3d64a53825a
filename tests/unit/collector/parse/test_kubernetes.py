"""Objects of Kubernetes as the API server sends them, and what is kept of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from collector.model.objects import Job, Namespace, Node, OwnerRef, Pod, PriorityClass, ResourceQuota
from collector.parse import kubernetes
from collector.parse.json_fields import ParseProblem

GPU = "nvidia.com/gpu"
CREATED = "2026-03-01T12:00:00Z"
CREATED_SECONDS = 1772366400.0

POD: dict[str, Any] = {
    "metadata": {
        "name": "train-0",
        "namespace": "vision",
        "uid": "u1",
        "creationTimestamp": CREATED,
        "ownerReferences": [
            {"kind": "Note", "name": "n", "uid": "u8"},
            {"kind": "Job", "name": "train", "uid": "u9", "controller": True},
        ],
    },
    "spec": {
        "nodeName": "node-1",
        "priority": 1000,
        "priorityClassName": "borrow",
        "containers": [{"name": "main", "resources": {"requests": {GPU: "8", "cpu": "not looked at"}}}],
    },
    "status": {
        "phase": "Running",
        "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": CREATED},
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-03-01T12:01:00Z"},
        ],
    },
}

JOB: dict[str, Any] = {
    "metadata": {
        "name": "train",
        "namespace": "vision",
        "uid": "u9",
        "creationTimestamp": CREATED,
        "labels": {"kueue.x-k8s.io/queue-name": "vision", "trimtab.io/interactive": "true"},
    },
    "spec": {
        "parallelism": 4,
        "suspend": True,
        "template": {
            "metadata": {"labels": {"app": "train"}},
            "spec": {"priorityClassName": "borrow", "containers": [{"resources": {"limits": {GPU: 2}}}]},
        },
    },
    "status": {},
}


def changed(raw: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy of `raw` with `value` at `path`."""
    copy = deepcopy(raw)
    *parents, last = path.split(".")
    place = copy
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return copy


def pod_with_condition(**condition: str) -> Pod | None:
    return kubernetes.pod(changed(POD, "status.conditions", [condition]))


def job_template(**metadata_and_spec: Any) -> str:
    template = deepcopy(JOB["spec"]["template"])
    for part, fields in metadata_and_spec.items():
        template[part].update(fields)
    return kubernetes.job(changed(JOB, "spec.template", template)).template


def test_a_running_pod() -> None:
    assert kubernetes.pod(POD) == Pod(
        uid="u1",
        namespace="vision",
        name="train-0",
        phase="Running",
        gpus={GPU: 8},
        created_at=CREATED_SECONDS,
        node="node-1",
        priority=1000,
        priority_class="borrow",
        owner=OwnerRef("Job", "train", "u9"),
        ready_at=CREATED_SECONDS + 60,
    )


def test_a_pod_without_devices_is_left_out() -> None:
    assert kubernetes.pod(changed(POD, "spec.containers", [{"resources": {"requests": {"cpu": 1}}}])) is None


def test_a_pod_that_is_not_ready_has_no_ready_time() -> None:
    pod = pod_with_condition(type="Ready", status="False", lastTransitionTime=CREATED)
    assert pod is not None
    assert pod.ready_at is None


def test_a_pod_that_fits_nowhere_keeps_the_words_of_the_scheduler() -> None:
    words = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."
    pod = pod_with_condition(type="PodScheduled", status="False", reason="Unschedulable", message=words)
    assert pod is not None
    assert pod.unschedulable == words


def test_a_gated_pod_is_not_unschedulable() -> None:
    pod = pod_with_condition(type="PodScheduled", status="False", reason="SchedulingGated", message="gated")
    assert pod is not None
    assert pod.unschedulable is None


def test_a_preempted_pod_says_by_whom() -> None:
    pod = pod_with_condition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")
    assert pod is not None
    assert pod.disruption_reason == "PreemptionByScheduler"


def test_a_pod_being_deleted_has_a_time() -> None:
    pod = kubernetes.pod(changed(POD, "metadata.deletionTimestamp", CREATED))
    assert pod is not None
    assert pod.deleted_at == CREATED_SECONDS


def test_a_waiting_job() -> None:
    assert kubernetes.job(JOB) == Job(
        uid="u9",
        namespace="vision",
        name="train",
        created_at=CREATED_SECONDS,
        parallelism=4,
        gpus_per_pod={GPU: 2},
        suspended=True,
        queue="vision",
        interactive=True,
        priority_class="borrow",
        template=kubernetes.template_fingerprint(JOB["spec"]["template"]),
    )


@pytest.mark.parametrize("kind", ["Complete", "Failed"])
def test_a_job_is_finished_when_it_completed_or_failed(kind: str) -> None:
    condition = {"type": kind, "status": "True", "lastTransitionTime": CREATED}
    job = kubernetes.job(changed(JOB, "status.conditions", [condition]))
    assert (job.finished_at, job.failed) == (CREATED_SECONDS, kind == "Failed")


def test_a_job_tells_what_its_name_was_generated_from() -> None:
    assert (kubernetes.job(JOB).stem, kubernetes.job(changed(JOB, "metadata.generateName", "sweep-")).stem) == (
        "",
        "sweep-",
    )


def test_a_template_keeps_its_fingerprint_when_controllers_write_into_it() -> None:
    generated = {"app": "train", "controller-uid": "u9", "batch.kubernetes.io/job-name": "train", "job-name": "train"}
    placement = {"nodeSelector": {"pool": "h100"}, "tolerations": [{"operator": "Exists"}]}
    admitted = job_template(metadata={"labels": generated, "annotations": {"kueue.x-k8s.io/workload": "w"}})
    assert job_template() == admitted == job_template(spec=placement)


def test_a_template_has_another_fingerprint_when_its_owner_changes_it() -> None:
    fingerprints = {
        job_template(),
        job_template(metadata={"labels": {"app": "other"}}),
        job_template(spec={"priorityClassName": "high"}),
        job_template(spec={"containers": [{"image": "new"}]}),
    }
    assert len(fingerprints) == 4


def test_a_node() -> None:
    raw = {
        "metadata": {"name": "node-1", "labels": {"zone": "a"}},
        "spec": {
            "unschedulable": True,
            "taints": [{"key": "gpu", "effect": "NoSchedule"}, {"key": "soft", "effect": "PreferNoSchedule"}],
        },
        "status": {
            "allocatable": {GPU: "8", "cpu": "64", "hugepages-2Mi": "0"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    assert kubernetes.node(raw) == Node("node-1", {"zone": "a"}, {GPU: 8}, True, True, ("gpu",))


def test_a_node_that_nobody_has_heard_of_is_not_ready() -> None:
    silent = {"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    assert not kubernetes.node(silent).ready
    assert not kubernetes.node({"metadata": {"name": "n"}}).ready


@pytest.mark.parametrize(
    ("annotations", "opted_out"),
    [({}, False), ({"trimtab.io/opt-out": "false"}, False), ({"trimtab.io/opt-out": ""}, True)],
)
def test_a_namespace_can_opt_out(annotations: dict[str, str], opted_out: bool) -> None:
    raw = {"metadata": {"name": "a", "labels": {"team": "x"}, "annotations": annotations}}
    assert kubernetes.namespace(raw) == Namespace("a", {"team": "x"}, opted_out)


def test_a_quota_counts_devices_under_their_own_name() -> None:
    raw = {
        "metadata": {
            "name": "trimtab-cap",
            "namespace": "a",
            "resourceVersion": "7",
            "annotations": {"trimtab.io/change": "c1", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
            "managedFields": [
                {"manager": "trimtab", "fieldsV1": {"f:spec": {"f:hard": {}}}},
                {"manager": "kube-controller-manager", "fieldsV1": {"f:status": {}}},
            ],
        },
        "spec": {
            "hard": {f"requests.{GPU}": "8", "requests.cpu": "4", "count/jobs.batch": "3"},
            "scopeSelector": {
                "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["low", "borrow"]}]
            },
        },
        "status": {"used": {f"requests.{GPU}": "2"}},
    }
    assert kubernetes.resource_quota(raw) == ResourceQuota(
        namespace="a",
        name="trimtab-cap",
        hard={GPU: 8},
        used={GPU: 2},
        scope="PriorityClass In [borrow, low]",
        annotations={"trimtab.io/change": "c1"},
        spec_managers=frozenset({"trimtab"}),
        resource_version="7",
    )


def test_a_priority_class() -> None:
    assert kubernetes.priority_class({"metadata": {"name": "low"}, "value": -5}) == PriorityClass("low", -5)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("metadata", None, "metadata.name|metadata.uid"),
        ("metadata", [], r"metadata: expected an object, found \[\]"),
        ("metadata.creationTimestamp", "yesterday", "metadata.creationTimestamp: expected an RFC 3339 time"),
        ("metadata.labels", {"app": 1}, "metadata.labels.app: expected text"),
        ("spec", "text", "spec: expected an object"),
        ("spec.parallelism", "4", "spec.parallelism: expected a whole number"),
        ("spec.suspend", "yes", "spec.suspend: expected true or false"),
        ("spec.template.spec.containers", [1], r"containers\[0\]: expected an object"),
        ("status.conditions", {}, "status.conditions: expected a list"),
    ],
)
def test_a_malformed_job_is_a_problem_that_names_the_field(path: str, value: object, complaint: str) -> None:
    with pytest.raises(ParseProblem, match=complaint):
        kubernetes.job(changed(JOB, path, value))


def test_a_problem_shows_only_the_beginning_of_a_long_value() -> None:
    with pytest.raises(ParseProblem) as raised:
        kubernetes.job(changed(JOB, "spec.parallelism", "9" * 10_000))
    assert len(str(raised.value)) < 200
