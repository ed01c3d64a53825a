"""What tells of pods that could not be made: ReplicaSets and events of whoever tried."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model.objects import OwnerRef
from collector.model.quantities import parse_time
from collector.parse.json_fields import ParseProblem
from collector.parse.refusals import failed_create, replica_set

GPU = "nvidia.com/gpu"
AT = "2026-03-01T12:00:00Z"
QUOTA = (
    'Error creating: pods "train-worker-0" is forbidden: exceeded quota: gpus, requested: '
    "limits.cpu=4,requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8"
)


def event(**more: Any) -> dict[str, Any]:
    about = {"kind": "PyTorchJob", "name": "train", "namespace": "vision", "uid": "u1"}
    return {
        "metadata": {"name": "train.1", "namespace": "vision", "uid": "e1", "creationTimestamp": AT},
        "involvedObject": about,
        "reason": "FailedCreatePod",
        "message": QUOTA,
        "firstTimestamp": AT,
        "lastTimestamp": "2026-03-01T13:00:00Z",
    } | more


def test_an_operators_event_says_whose_pod_was_refused_and_what_it_asked_for() -> None:
    found = failed_create(event())
    assert found is not None
    assert (found.namespace, found.owner, found.gpus) == ("vision", OwnerRef("PyTorchJob", "train", "u1"), {GPU: 8})
    assert (found.first_at, found.last_at) == (parse_time(AT), parse_time("2026-03-01T13:00:00Z"))
    assert "exceeded quota: gpus" in found.message


def test_an_event_of_the_newer_kind_has_its_times_elsewhere() -> None:
    series = {"count": 3, "lastObservedTime": "2026-03-01T14:00:00Z"}
    found = failed_create(event(firstTimestamp=None, lastTimestamp=None, eventTime=AT, series=series))
    assert found is not None
    assert (found.first_at, found.last_at) == (parse_time(AT), parse_time("2026-03-01T14:00:00Z"))


@pytest.mark.parametrize(
    "message",
    [
        "",
        'admission webhook "x" denied the request: no',
        "exceeded quota: q, requested: requests.nvidia.com/gpu=many, used: pods=1, limited: pods=1",
    ],
)
def test_a_refusal_that_names_no_gpus_is_kept_without_them(message: str) -> None:
    found = failed_create(event(message=message))
    assert found is not None
    assert found.gpus == {}


def test_other_warnings_do_not_matter() -> None:
    assert failed_create(event(reason="FailedMount")) is None


def test_an_event_about_nothing_is_a_problem() -> None:
    with pytest.raises(ParseProblem, match="involvedObject"):
        failed_create(event(involvedObject={}))


def replicas(**status: Any) -> dict[str, Any]:
    container = {"resources": {"limits": {GPU: "1"}}}
    return {
        "metadata": {"name": "serve-1", "namespace": "vision", "uid": "r1", "creationTimestamp": AT},
        "spec": {"replicas": 4, "template": {"spec": {"containers": [container], "priorityClassName": "borrow"}}},
        "status": status,
    }


def test_a_replica_set_tells_how_many_pods_could_not_be_made_and_since_when() -> None:
    failure = {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": "FailedCreate",
        "message": "exceeded quota",
        "lastTransitionTime": AT,
    }
    found = replica_set(replicas(replicas=1, conditions=[failure]))
    assert found is not None
    assert (found.replicas, found.existing, found.gpus_per_pod, found.priority_class) == (4, 1, {GPU: 1}, "borrow")
    assert found.failure is not None
    assert (found.failure.message, found.failure.since) == ("exceeded quota", parse_time(AT))


def test_a_replica_set_that_wants_nothing_or_no_gpus_does_not_matter() -> None:
    old = replicas()
    old["spec"]["replicas"] = 0
    plain = replicas()
    plain["spec"]["template"]["spec"]["containers"] = [{}]
    assert replica_set(old) is None
    assert replica_set(plain) is None
