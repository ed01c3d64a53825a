"""Devices that the scheduler reserves for a pod."""

from __future__ import annotations

from typing import Any

import pytest

from collector.parse.extended_resources import device_count, is_extended, pod_devices
from collector.parse.json_fields import ParseProblem

GPU = "nvidia.com/gpu"


def wants(gpus: int | str, **more: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": "500m", GPU: gpus}}, **more}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {}),
        ({"containers": [wants(8)]}, {GPU: 8}),
        ({"containers": [wants("2"), wants(1)]}, {GPU: 3}),
        ({"containers": [wants(0)]}, {}),
        ({"containers": [wants(1)], "initContainers": [wants(4), wants(2)]}, {GPU: 4}),
        ({"containers": [wants(4)], "initContainers": [wants(1, restartPolicy="Always")]}, {GPU: 5}),
        ({"containers": [wants(1)], "initContainers": [wants(2, restartPolicy="Always"), wants(3)]}, {GPU: 5}),
        ({"containers": [wants(1)], "initContainers": [wants(3), wants(2, restartPolicy="Always")]}, {GPU: 3}),
        ({"initContainers": [wants(2)]}, {GPU: 2}),
    ],
    ids=[
        "no containers",
        "one container",
        "containers add up",
        "zero is nothing",
        "the largest init container counts",
        "a sidecar adds to the containers",
        "a sidecar adds to later init containers",
        "an init container before a sidecar stands alone",
        "init containers only",
    ],
)
def test_a_pod_reserves(spec: dict[str, Any], expected: dict[str, int]) -> None:
    assert pod_devices(spec) == expected


def test_a_limit_counts_where_the_request_is_missing() -> None:
    container = {"resources": {"limits": {GPU: 4, "rdma/hca": 1}, "requests": {GPU: 2}}}
    assert pod_devices({"containers": [container]}) == {GPU: 2, "rdma/hca": 1}


def test_a_hundred_pods_that_ask_for_the_same_share_one_mapping() -> None:
    first, second = (pod_devices({"containers": [wants(8)]}) for _ in range(2))
    assert first is second


@pytest.mark.parametrize("name", ["cpu", "memory", "hugepages-2Mi", "kubernetes.io/x", "batch.kubernetes.io/x"])
def test_what_belongs_to_kubernetes_is_no_extended_resource(name: str) -> None:
    assert not is_extended(name)


@pytest.mark.parametrize(
    "quantity", ["half", "500m", "-1", -1, 1.5, True, None, [], {}, "1e999999999", "1e99999999999"]
)
def test_a_count_that_is_no_count_is_a_problem_that_names_the_place(quantity: object) -> None:
    with pytest.raises(ParseProblem, match=r"^spec\.x: expected a whole number of devices"):
        device_count(quantity, "spec.x")


def test_an_unreadable_request_names_the_resource() -> None:
    with pytest.raises(ParseProblem, match=GPU):
        pod_devices({"containers": [wants("many")]})
