"""The picture of a cluster against a real API server: what happens in it is seen, and when it is away that is said."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from collector.model.objects import Picture
from collector.sources.errors import Conflict, Gone, Invalid, NotFound
from collector.sources.kubernetes_api import KubernetesApi, connect
from collector.sources.kubernetes_lists import look_once
from collector.sources.kubernetes_watch import ClusterWatch, WatchSettings
from controller.demo.processes import wait_until
from tests.testbed import Testbed
from tests.testbed.cluster import Site, SiteTenant, build_site, gpu_job, remove_site

QUICK = WatchSettings(watch_seconds=3, longest_pause_seconds=1.0)
YOUNG_SECONDS = QUICK.watch_seconds + 10
SITE = Site("picture", nodes=1, tenants=(SiteTenant("picture-a", floor=4, floating=2),), shared=1)
APPLY = "application/apply-patch+yaml"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    """A control plane of this module's own, since it is stopped on the way; without Kueue."""
    with Testbed(tmp_path_factory.mktemp("plain")) as bed:
        bed.start("kubernetes")
        yield bed


@contextmanager
def watching(api: KubernetesApi) -> Iterator[ClusterWatch]:
    watch = ClusterWatch(api, QUICK)
    watch.start()
    try:
        assert watch.wait_ready(180)
        yield watch
    finally:
        assert watch.stop()
        api.close()


def now_of(watch: ClusterWatch) -> Picture:
    return watch.picture(time.time())


def namespace(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def test_a_gang_is_seen_from_its_queue_to_its_pods(control_plane: Testbed) -> None:
    cluster = control_plane.kubernetes.api
    build_site(cluster, SITE)
    try:
        with watching(connect(control_plane.kubernetes.kubeconfig)) as watch:
            assert (now_of(watch).unreadable, now_of(watch).unserved, now_of(watch).malformed) == ({}, frozenset(), {})
            cluster.create(gpu_job("train", "picture-a", gpus_per_pod=2, pods=2, run_seconds=60, queue="picture-a"))
            wait_until(lambda: _ready_pods(now_of(watch)) == 2, "two ready pods in the picture")
            picture = now_of(watch)
            (workload,) = picture.workloads.values()
            (job,) = picture.jobs.values()
            assert (workload.queue, workload.cluster_queue, workload.owner) == (
                "picture-a",
                "picture-a",
                next(iter(picture.pods.values())).owner,
            )
            assert (job.queue, job.gpus_per_pod, job.suspended) == ("picture-a", {"nvidia.com/gpu": 2}, False)
            assert picture.nodes["picture-0"].allocatable == {"nvidia.com/gpu": 8}
            assert picture.cohorts["tenant-picture-a"].spec_managers == {"git"}
            assert look_once(connect(control_plane.kubernetes.kubeconfig), time.time()).cohorts == picture.cohorts
    finally:
        remove_site(cluster, SITE)


def test_a_job_keeps_its_fingerprint_when_kueue_admits_it(control_plane: Testbed) -> None:
    cluster = control_plane.kubernetes.api
    build_site(cluster, SITE)
    try:
        with watching(connect(control_plane.kubernetes.kubeconfig)) as watch:
            for name in ("runs", "waits"):
                cluster.create(gpu_job(name, "picture-a", gpus_per_pod=6, run_seconds=60, queue="picture-a"))
            wait_until(lambda: {job.active for job in now_of(watch).jobs.values()} == {0, 1}, "one of two to run")
            assert len({job.template for job in now_of(watch).jobs.values()}) == 1
    finally:
        remove_site(cluster, SITE)


def test_a_creation_and_a_deletion_are_seen(plain: Testbed) -> None:
    with watching(connect(plain.kubernetes.kubeconfig)) as watch:
        assert "comes" not in now_of(watch).namespaces
        assert "workloads" in now_of(watch).unserved
        plain.kubernetes.api.create(namespace("comes"))
        wait_until(lambda: "comes" in now_of(watch).namespaces, "the namespace to come")
        plain.kubernetes.api.delete("v1", "Namespace", "comes")
        wait_until(lambda: "comes" not in now_of(watch).namespaces, "the namespace to go")


def test_bookmarks_and_new_watches_keep_a_quiet_picture_young(plain: Testbed) -> None:
    with watching(connect(plain.kubernetes.kubeconfig)) as watch:
        oldest = 0.0
        until = time.monotonic() + 1.5 * YOUNG_SECONDS
        while time.monotonic() < until:
            oldest = max(oldest, now_of(watch).age_seconds)
            time.sleep(0.1)
        assert 0 < oldest < YOUNG_SECONDS


def test_an_api_server_that_stops_makes_the_picture_old_and_its_return_young(plain: Testbed) -> None:
    with watching(connect(plain.kubernetes.kubeconfig)) as watch:
        before = now_of(watch)
        plain.kubernetes.api_server.stop()
        try:
            wait_until(lambda: len(now_of(watch).unreadable) >= 6, "every core kind to be unreadable")
            wait_until(lambda: "refused" in now_of(watch).unreadable["nodes"], "the reason to be told")
            wait_until(lambda: now_of(watch).age_seconds > 2, "the picture to grow old")
            assert now_of(watch).namespaces.keys() == before.namespaces.keys()
        finally:
            plain.kubernetes.api_server.start()
        wait_until(lambda: not now_of(watch).unreadable, "the picture to be readable")
        assert now_of(watch).age_seconds < YOUNG_SECONDS
        plain.kubernetes.api.create(namespace("later"))
        wait_until(lambda: "later" in now_of(watch).namespaces, "the watch to go on")


def test_a_version_older_than_the_server_is_gone(plain: Testbed) -> None:
    plain.kubernetes.api_server.stop()
    plain.kubernetes.api_server.start()
    api = connect(plain.kubernetes.kubeconfig)
    with pytest.raises(Gone):
        list(api.watch("/api/v1/namespaces", "1", 5))
    api.close()


def test_a_user_without_rights_is_told_which_kinds(plain: Testbed) -> None:
    rules = [{"apiGroups": [""], "resources": ["nodes", "namespaces"], "verbs": ["get", "list", "watch"]}]
    user = plain.kubernetes.user("half-blind", rules)
    api = connect(user.kubeconfig)
    picture = look_once(api, time.time())
    assert {"default"} <= picture.namespaces.keys()
    assert {"pods", "jobs", "resourcequotas", "priorityclasses"} == picture.unreadable.keys()
    assert "403 Forbidden: pods is forbidden" in picture.unreadable["pods"]
    with watching(api) as watch:
        wait_until(lambda: now_of(watch).unreadable.keys() == picture.unreadable.keys(), "the watch to say the same")
        assert now_of(watch).age_seconds < YOUNG_SECONDS


def test_a_list_in_pages_is_the_whole_list(plain: Testbed) -> None:
    api = connect(plain.kubernetes.kubeconfig)
    pages = list(api.list_pages("/apis/rbac.authorization.k8s.io/v1/clusterroles", limit=7))
    assert len(pages) > 5
    names = [item["metadata"]["name"] for page in pages for item in page.items]
    assert (
        len(names)
        == len(set(names))
        == len(plain.kubernetes.api.list_objects("rbac.authorization.k8s.io/v1", "ClusterRole"))
    )
    api.close()


def test_writes_are_taken_or_refused_for_a_reason(plain: Testbed) -> None:
    api = connect(plain.kubernetes.kubeconfig)
    path = "/api/v1/namespaces/default/configmaps/note"

    def apply(value: str, manager: str, key: str = "note") -> dict[str, object]:
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}, "data": {key: value}}
        return api.request("PATCH", path, manifest, APPLY, {"fieldManager": manager})

    assert apply("mine", "trimtab")["data"] == {"note": "mine"}
    with pytest.raises(Conflict, match="409 Conflict"):
        apply("theirs", "other")
    with pytest.raises(Invalid, match="422 Invalid"):
        apply("mine", "trimtab", key="not a key")
    api.request("DELETE", path)
    with pytest.raises(NotFound):
        api.get(path)
    api.close()


def _ready_pods(picture: Picture) -> int:
    return sum(pod.ready_at is not None for pod in picture.pods.values() if pod.namespace == "picture-a")
