"""Work that is no pod, on a real API server: a quota refuses replicas, an operator says so, a gang has no pods yet."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from collector.model.gangs import Scheduler
from collector.model.objects import Picture
from collector.model.snapshot import WorkPhase
from collector.model.tenancy import Engine, Pool
from collector.sources.kubernetes_api import connect
from collector.sources.kubernetes_lists import look_once
from controller.demo.processes import wait_until
from tests.builders import agreed, look, site_of
from tests.testbed import Testbed
from tests.testbed.api import KubeApi
from tests.testbed.cluster import GPU, namespace

pytestmark = pytest.mark.kubernetes

SPACE = "refused"
SITE = site_of(agreed(SPACE, 8), pools=(Pool("h100", GPU, {}, Engine.NATIVE),))
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "serve", "namespace": SPACE},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "serve"}},
        "template": {
            "metadata": {"labels": {"app": "serve"}},
            "spec": {"containers": [{"name": "serve", "image": "none", "resources": {"limits": {GPU: "2"}}}]},
        },
    },
}
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "gpus", "namespace": SPACE},
    "spec": {"hard": {f"requests.{GPU}": "2"}},
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    """A control plane of this module's own, with definitions that no other test should meet."""
    with Testbed(tmp_path_factory.mktemp("refused")) as bed:
        bed.start("kubernetes")
        bed.kubernetes.api.create(namespace(SPACE))
        yield bed


def seen(bed: Testbed) -> Picture:
    api = connect(bed.kubernetes.kubeconfig)
    try:
        return look_once(api, time.time())
    finally:
        api.close()


def test_replicas_that_a_quota_refused_wait_although_no_pod_of_them_exists(plain: Testbed) -> None:
    api = plain.kubernetes.api
    api.create(QUOTA)
    wait_until(lambda: "hard" in api.get("v1", "ResourceQuota", "gpus", SPACE).get("status", {}), "the quota to count")
    api.create(DEPLOYMENT)
    wait_until(lambda: any(one.failure for one in seen(plain).replica_sets.values()), "two pods to be refused")
    picture = seen(plain)
    assert "events" not in picture.unreadable
    assert any(event.gpus == {GPU: 2} for event in picture.failed_creates.values())
    snapshot = look(picture, SITE, now=picture.taken_at)
    missing = [work for work in snapshot.works if work.pods_missing]
    assert [(work.kind, work.pods_missing, work.gpus) for work in missing] == [("ReplicaSet", 2, 4)]
    assert "exceeded quota: gpus" in missing[0].refused


def test_what_an_operator_says_of_a_refused_pod_is_work_that_waits(plain: Testbed) -> None:
    message = f'pods "train-worker-0" is forbidden: exceeded quota: gpus, requested: requests.{GPU}=8, used: x=1'
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    event: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "train.1", "namespace": SPACE},
        "involvedObject": {"kind": "PyTorchJob", "name": "train", "namespace": SPACE, "uid": "u1"},
        "type": "Warning",
        "reason": "FailedCreatePod",
        "message": f"Error creating: {message}",
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
    }
    plain.kubernetes.api.create(event)
    picture = seen(plain)
    works = look(picture, SITE, now=picture.taken_at).works
    assert [(work.phase, work.gpus) for work in works if work.kind == "PyTorchJob"] == [(WorkPhase.WAITING, 8)]


def test_gangs_and_queues_of_volcano_are_seen_as_soon_as_they_are_served(plain: Testbed) -> None:
    api = plain.kubernetes.api
    assert {"queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh"} <= seen(plain).unserved
    _define(api, "scheduling.volcano.sh", "v1beta1", "Queue", "queues", scope="Cluster")
    _define(api, "scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", scope="Namespaced")
    wait_until(lambda: "podgroups.scheduling.volcano.sh" not in seen(plain).unserved, "the definitions to be served")
    kind: dict[str, Any] = {"apiVersion": "scheduling.volcano.sh/v1beta1"}
    api.create({**kind, "kind": "Queue", "metadata": {"name": "research"}, "spec": {"deserved": {GPU: "8"}}})
    spec = {"queue": "research", "minMember": 2, "minResources": {GPU: "16"}}
    api.create({**kind, "kind": "PodGroup", "metadata": {"name": "train", "namespace": SPACE}, "spec": spec})
    picture = seen(plain)
    assert picture.share_queues[Scheduler.VOLCANO, "research"].deserved == {GPU: 8.0}
    works = look(picture, SITE, now=picture.taken_at).works
    assert [(work.queue, work.gpus) for work in works if work.kind == "PodGroup"] == [("research", 16)]


def _define(api: KubeApi, group: str, version: str, kind: str, plural: str, scope: str) -> None:
    """A definition that takes anything: what is tried is how its objects are found and read."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    api.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "scope": scope,
                "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
                "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
            },
        }
    )
