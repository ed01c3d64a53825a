"""Whatever an API server sends, one object at a time is understood or counted; nothing else ever happens."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from collector.parse.extended_resources import pod_devices
from collector.parse.kubernetes import template_fingerprint
from collector.sources.kubernetes_kinds import KINDS, Kind
from collector.sources.kubernetes_lists import project

GPU = "nvidia.com/gpu"
FIELDS = [
    "metadata",
    "spec",
    "status",
    "name",
    "namespace",
    "uid",
    "labels",
    "annotations",
    "creationTimestamp",
    "ownerReferences",
    "containers",
    "initContainers",
    "resources",
    "requests",
    "limits",
    "template",
    "conditions",
    "type",
    "podSets",
    "priorityClassRef",
    "resourceGroups",
    "flavors",
    "admission",
    "taints",
    "allocatable",
    "hard",
    "used",
    "managedFields",
    "fieldsV1",
    "scopeSelector",
    "matchExpressions",
    "involvedObject",
    "reason",
    "message",
    "series",
    "replicas",
    "tasks",
    "minResources",
    "guarantee",
    "deserved",
    "gpu",
    "quota",
    "schedulingConditions",
    "resourcesStatus",
    "selector",
]

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
keys = st.sampled_from((*FIELDS, GPU)) | st.text(max_size=4)
documents = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6), max_leaves=40
)


def whole_object(parts: tuple[Any, Any, Any]) -> dict[str, Any]:
    """An object that looks right from afar, so that the parsers go deep."""
    metadata, spec, status = parts
    named = {"name": "n", "namespace": "a", "uid": "u", "creationTimestamp": "2026-03-01T12:00:00Z"}
    return {"metadata": {**(metadata if isinstance(metadata, dict) else {}), **named}, "spec": spec, "status": status}


@given(kind=st.sampled_from(KINDS), raw=documents | st.tuples(documents, documents, documents).map(whole_object))
def test_no_object_breaks_a_look(kind: Kind, raw: object) -> None:
    found = project(kind, raw)
    assert found.problem is None or found.projection is None


@given(
    containers=st.lists(st.integers(0, 16), max_size=4),
    init=st.lists(st.tuples(st.integers(0, 16), st.booleans()), max_size=4),
)
def test_a_pod_never_reserves_less_than_what_runs_at_one_time(
    containers: list[int], init: list[tuple[int, bool]]
) -> None:
    def wants(gpus: int, sidecar: bool = False) -> dict[str, Any]:
        return {"resources": {"requests": {GPU: gpus}}, "restartPolicy": "Always" if sidecar else None}

    spec = {
        "containers": [wants(gpus) for gpus in containers],
        "initContainers": [wants(gpus, sidecar) for gpus, sidecar in init],
    }
    started, moments = 0, []
    for gpus, sidecar in init:
        moments.append(started + gpus)
        started += gpus if sidecar else 0
    moments.append(started + sum(containers))
    assert pod_devices(spec).get(GPU, 0) == max(moments)


@given(labels=st.dictionaries(st.text(max_size=5), st.text(max_size=5)), order=st.randoms())
def test_a_fingerprint_does_not_depend_on_the_order_of_keys(labels: dict[str, str], order: Any) -> None:
    shuffled = list(labels.items())
    order.shuffle(shuffled)
    first, second = ({"metadata": {"labels": found}, "spec": {}} for found in (labels, dict(shuffled)))
    assert template_fingerprint(first) == template_fingerprint(second)
