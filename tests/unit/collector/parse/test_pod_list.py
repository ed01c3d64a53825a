"""A list of pods decoded no further than anybody looks, and when it has to be decoded whole."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from collector.parse import kubernetes
from collector.parse.pod_list import fields_in_use

GPU = "nvidia.com/gpu"
CREATED = "2026-03-01T12:00:00Z"

# In every field that is looked at a value of its own, however unlikely together.
POD: dict[str, Any] = {
    "metadata": {
        "name": "train-0",
        "namespace": "vision",
        "uid": "u1",
        "creationTimestamp": CREATED,
        "deletionTimestamp": "2026-03-01T13:00:00Z",
        "labels": {"app": "train"},
        "annotations": {"scheduling.k8s.io/group-name": "gang", "note": 7},
        "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
        "ownerReferences": [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u9", "controller": True}
        ],
    },
    "spec": {
        "nodeName": "node-1",
        "priority": 1000,
        "priorityClassName": "borrow",
        "containers": [{"name": "main", "resources": {"requests": {"cpu": "8", GPU: "3"}, "limits": {GPU: "2"}}}],
        "initContainers": [{"restartPolicy": "Always", "resources": {"limits": {GPU: "1"}}}],
        "volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "b", "emptyDir": {}}],
    },
    "status": {
        "phase": "Running",
        "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"},
            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"},
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-03-01T12:01:00Z", "lastProbeTime": None},
        ],
    },
}


def decoded(*pods: object, **metadata: object) -> Any:
    return fields_in_use(json.dumps({"kind": "PodList", "metadata": metadata, "items": pods}).encode())


def test_every_field_of_a_pod_is_decoded() -> None:
    (raw,) = decoded(POD)["items"]
    pod = kubernetes.pod(raw)
    assert pod is not None
    assert pod == kubernetes.pod(POD)
    assert pod.gpus == {GPU: 4}
    fields = [(field.name, field.default) for field in dataclasses.fields(pod)]
    assert [name for name, default in fields if getattr(pod, name) in (None, default)] == []


def test_nothing_else_is_decoded() -> None:
    (raw,) = decoded(POD)["items"]
    assert not {"labels", "managedFields"} & raw["metadata"].keys()
    assert raw["spec"]["containers"] == [{"resources": POD["spec"]["containers"][0]["resources"]}]


def test_where_the_list_stands_and_goes_on_is_decoded() -> None:
    found = decoded(resourceVersion="7", **{"continue": "more"})
    assert found == {"metadata": {"resourceVersion": "7", "continue": "more"}, "items": []}


@pytest.mark.parametrize(
    "place", [b'"priority":%s', b'"containers":[{"resources":{"requests":{"nvidia.com/gpu":%s}}}]']
)
@pytest.mark.parametrize(
    "number", [b"1.0", b"1e2", b"true", b"9223372036854775808", b"1180591620717411303424", b"1e400"]
)
def test_a_number_that_libraries_read_in_different_ways_is_left_to_the_other(place: bytes, number: bytes) -> None:
    assert fields_in_use(b'{"items":[{"spec":{%s}}]}' % (place % number)) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'{"items":[{"status":{"phase":"Running"}}',
        b'{"items":[null]}',
        b'{"items":[{"metadata":{"name":"\xff"}}]}',
        b'{"items":[{"spec":{"containers":{}}}]}',
        b'{"items":' + b"[" * 100_000,
        b'{"more":' + b"[" * 100_000,
    ],
    ids=["empty", "null", "a list", "cut", "a pod that is null", "no UTF-8", "another type", "deep", "deep elsewhere"],
)
def test_what_is_not_as_normal_is_left_to_the_other(body: bytes) -> None:
    assert fields_in_use(body) is None


def test_of_a_field_given_twice_the_last_counts_as_in_any_json() -> None:
    body = b'{"items":[{"spec":{"nodeName":"a"},"spec":{"priority":1,"priority":2}}]}'
    assert fields_in_use(body) == json.loads(body)
