"""A pod is the same whether a list shows it or a watch, whatever the API server sends."""

from __future__ import annotations

import json
from typing import Any

import orjson
from hypothesis import event, given
from hypothesis import strategies as st

from collector.parse.pod_list import fields_in_use
from collector.sources.kubernetes_kinds import KINDS
from collector.sources.kubernetes_lists import Projected, project
from collector.sources.kubernetes_pages import pages

PODS = next(kind for kind in KINDS if kind.name == "pods")
GPU = "nvidia.com/gpu"

leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
)
documents = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
words = st.sampled_from(["a", "b", ""]) | st.text(max_size=4)
times = st.sampled_from(["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.5+01:00", "yesterday", ""])
quantities = st.dictionaries(
    st.sampled_from([GPU, "amd.com/gpu", "cpu", "memory"]),
    st.sampled_from(["8", "0", "1k", "0.5", "500m", "many", "-1"]),
)


def thing(required: dict[str, Any] | None = None, /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object in which each of `fields` may be absent, null or there, beside fields that nobody looks at."""
    optional = {name: st.none() | values for name, values in fields.items()}
    return st.fixed_dictionaries(required or {}, optional={**optional, "nobodyLooks": documents})


owners = thing(kind=words, name=words, uid=words, controller=st.booleans())
resources = thing(limits=quantities, requests=quantities)
containers = thing(name=words, resources=resources, restartPolicy=st.sampled_from(["Always", "Never"]))
conditions = thing(
    type=st.sampled_from(["Ready", "PodScheduled", "DisruptionTarget", "Other"]),
    status=st.sampled_from(["True", "False", "Unknown"]),
    reason=st.sampled_from(["Unschedulable", "Other", ""]),
    message=words,
    lastTransitionTime=times,
)
metadata = thing(
    {"uid": words, "name": words, "namespace": words, "creationTimestamp": times},
    deletionTimestamp=times,
    ownerReferences=st.lists(owners, max_size=2),
)
spec = thing(
    {"containers": st.lists(containers, max_size=2)},
    initContainers=st.lists(containers, max_size=2),
    nodeName=words,
    priority=st.integers(-(2**31), 2**31 - 1),
    priorityClassName=words,
)
status = thing(phase=words, conditions=st.lists(conditions, max_size=3))
pods = thing({"metadata": metadata, "spec": spec}, status=status)


@st.composite
def odd_pods(draw: st.DrawFn) -> Any:
    """A pod with anything at all in one place."""
    pod = draw(pods)
    place: Any = pod
    while True:
        inner = [key for key, value in _entries(place) if value and isinstance(value, dict | list)]
        if not inner or draw(st.booleans()):
            break
        place = place[draw(st.sampled_from(inner))]
    keys = [key for key, _ in _entries(place)]
    if keys:
        place[draw(st.sampled_from(keys))] = draw(documents)
    return pod


def _entries(place: Any) -> list[tuple[Any, Any]]:
    return list(place.items() if isinstance(place, dict) else enumerate(place))


def text_of(found: list[Any], as_ascii: bool) -> bytes:
    listed = {"kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": found}
    return json.dumps(listed, ensure_ascii=as_ascii).encode()


def seen_in_a_list(body: bytes) -> list[Projected]:
    (page,) = pages(lambda _: body, PODS.path("v1"), PODS.decode_list)
    assert page.resource_version == "7"
    return [project(PODS, raw) for raw in page.items]


def seen_in_a_watch(body: bytes) -> list[Projected]:
    return [project(PODS, raw) for raw in orjson.loads(body)["items"]]


@given(found=st.lists(pods, max_size=3), as_ascii=st.booleans())
def test_a_list_and_a_watch_show_the_same_pods(found: list[Any], as_ascii: bool) -> None:
    body = text_of(found, as_ascii)
    assert fields_in_use(body) is not None
    assert seen_in_a_list(body) == seen_in_a_watch(body)


@given(odd=odd_pods() | documents, others=st.lists(pods, max_size=2))
def test_an_odd_pod_is_as_odd_in_a_list_as_in_a_watch_and_the_others_are_seen(odd: Any, others: list[Any]) -> None:
    body = text_of([odd, *others], as_ascii=True)
    event("decoded whole" if fields_in_use(body) is None else "decoded no further than needed")
    assert seen_in_a_list(body) == seen_in_a_watch(body)
