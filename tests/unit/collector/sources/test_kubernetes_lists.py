"""One look at a cluster by lists alone."""

from __future__ import annotations

import pytest

from collector.model.objects import Bystander
from collector.sources.errors import Forbidden, NotFound, SourceError, Throttled, Unreachable
from collector.sources.kubernetes_kinds import KINDS
from collector.sources.kubernetes_lists import look_once
from tests.unit.collector.sources.fake_cluster import FakeReader, pod

NODES_PATH, PODS_PATH = "/api/v1/nodes", "/api/v1/pods"
CORE = [kind for kind in KINDS if len(kind.versions) == 1 and kind.always_served]


def plain_cluster() -> FakeReader:
    """A cluster with one pod and without Kueue."""
    reader = FakeReader()
    reader.lists = {kind.path("v1"): [] for kind in CORE}
    reader.lists[PODS_PATH] = [pod("u1"), pod("u2", gpus="many")]
    return reader


def test_a_plain_cluster_is_seen_without_kueue() -> None:
    picture = look_once(plain_cluster(), now=5.0)
    assert set(picture.pods) == {"u1"}
    assert len(picture.malformed["pods"]) == 1
    assert "workloads" in picture.unserved
    assert (picture.unreadable, picture.age_seconds, picture.taken_at) == ({}, 0.0, 5.0)


def test_an_engine_that_is_absent_is_asked_for_by_its_group_alone() -> None:
    reader = plain_cluster()
    picture = look_once(reader, now=5.0)
    assert {"queues.scheduling.volcano.sh", "podgroups.scheduling.run.ai"} <= picture.unserved
    assert [asked for asked in reader.asked if "volcano" in asked and asked.startswith("list")] == []


def test_an_engine_that_is_there_is_read_by_its_own_path() -> None:
    reader = plain_cluster()
    reader.objects["/apis/scheduling.volcano.sh"] = {"versions": [{"version": "v1beta1"}]}
    queue = {"metadata": {"name": "research", "uid": "q1"}, "spec": {"deserved": {"nvidia.com/gpu": "8"}}}
    reader.lists["/apis/scheduling.volcano.sh/v1beta1/queues"] = [queue]
    picture = look_once(reader, now=5.0)
    assert [queue.name for queue in picture.share_queues.values()] == ["research"]
    assert "podgroups.scheduling.volcano.sh" in picture.unserved, "the group is there, this kind of it is not"


def test_of_all_events_only_warnings_about_other_things_than_pods_are_asked_for() -> None:
    reader = plain_cluster()
    look_once(reader, now=5.0)
    assert reader.queries["/api/v1/events"] == {"fieldSelector": "type=Warning,involvedObject.kind!=Pod"}


def test_pods_without_gpus_are_told_apart_and_those_that_belong_everywhere_left_out() -> None:
    reader = plain_cluster()
    lone = {**pod("u3", gpus=0), "spec": {"nodeName": "n0", "containers": []}}
    everywhere = {"kind": "DaemonSet", "name": "d", "uid": "d1", "controller": True}
    daemon = {**pod("u4"), "spec": {"nodeName": "n0", "containers": []}}
    daemon["metadata"] = {**daemon["metadata"], "ownerReferences": [everywhere]}
    ended = {**pod("u5"), "spec": {"nodeName": "n0", "containers": []}, "status": {"phase": "Succeeded"}}
    reader.lists[PODS_PATH] = [pod("u1"), lone, daemon, ended]
    picture = look_once(reader, now=5.0)
    assert set(picture.pods) == {"u1"}
    assert picture.bystanders == (Bystander("a", "n0"),)


def test_a_kind_that_may_not_be_read_does_not_hide_the_others() -> None:
    reader = plain_cluster()
    reader.lists[NODES_PATH] = Forbidden("GET", NODES_PATH, "nodes is forbidden", status=403)
    picture = look_once(reader, now=5.0)
    assert set(picture.unreadable) == {"nodes"}
    assert set(picture.pods) == {"u1"}


@pytest.mark.parametrize("problem", [Unreachable, Throttled])
def test_a_server_that_is_away_or_busy_is_asked_only_once(problem: type[SourceError]) -> None:
    reader = plain_cluster()
    reader.lists[NODES_PATH] = problem("GET", NODES_PATH, "not now")
    with pytest.raises(problem):
        look_once(reader, now=5.0)
    assert reader.asked == [f"list {NODES_PATH}"]


def test_a_user_who_may_read_nothing_is_told_so() -> None:
    reader = FakeReader()
    reader.lists = {kind.path("v1"): Forbidden("GET", kind.path("v1"), "no", status=403) for kind in CORE}
    with pytest.raises(SourceError, match="no"):
        look_once(reader, now=5.0)


def test_a_server_that_knows_no_nodes_and_pods_is_no_empty_cluster() -> None:
    with pytest.raises(NotFound):
        look_once(FakeReader(), now=5.0)


def test_pods_that_are_not_found_are_not_read_instead_of_none() -> None:
    reader = plain_cluster()
    del reader.lists[PODS_PATH]
    picture = look_once(reader, now=5.0)
    assert set(picture.unreadable) == {"pods"}
    assert "pods" not in picture.unserved
