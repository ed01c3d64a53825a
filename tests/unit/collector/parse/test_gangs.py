"""Objects of Volcano, KAI and KubeSphere: what their gangs, queues and quotas of workspaces say about devices."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.model.gangs import Scheduler, VolcanoTask, WorkspaceQuota
from collector.model.quantities import parse_time
from collector.parse import kai, kubesphere, volcano
from collector.parse.json_fields import ParseProblem
from collector.sources.kubernetes_kinds import KINDS

GPU = "nvidia.com/gpu"
AT = "2026-03-01T12:00:00Z"
OWNER = {"apiVersion": "v1", "kind": "Job", "name": "train", "uid": "j1", "controller": True}


def named(spec: Any = None, status: Any = None, **metadata: Any) -> dict[str, Any]:
    base = {"name": "train", "namespace": "vision", "uid": "u1", "creationTimestamp": AT}
    return {"metadata": base | metadata, "spec": spec or {}, "status": status or {}}


def test_a_volcano_queue_tells_its_share_its_limit_and_what_it_uses() -> None:
    spec = {
        "parent": "root",
        "weight": 1,
        "guarantee": {"resource": {GPU: "4", "cpu": "8"}},
        "deserved": {GPU: "8"},
        "capability": {GPU: "16"},
        "reclaimable": False,
    }
    found = volcano.queue(named(spec, {"allocated": {GPU: "12", "memory": "1Gi"}, "state": "Open"}))
    assert (found.scheduler, found.parent, found.open, found.reclaimable) == (Scheduler.VOLCANO, "root", True, False)
    assert (found.guaranteed, found.deserved, found.ceiling) == ({GPU: 4.0}, {GPU: 8.0}, {GPU: 16.0})
    assert (found.allocated, found.borrowed(GPU)) == ({GPU: 12.0}, 4.0)


def test_weights_alone_give_no_share_and_nothing_is_borrowed() -> None:
    found = volcano.queue(named({"weight": 3}, {"allocated": {GPU: "12"}, "state": "Closing"}))
    assert (found.deserved, found.borrowed(GPU), found.open) == ({}, 0.0, False)


def test_a_volcano_group_tells_what_it_needs_and_why_it_waits() -> None:
    conditions = [
        {"type": "Scheduled", "status": "True", "message": "ok", "lastTransitionTime": AT},
        {
            "type": "Unschedulable",
            "status": "True",
            "message": "2/2 tasks in gang unschedulable",
            "lastTransitionTime": "2026-03-01T13:00:00Z",
        },
    ]
    spec = {"minMember": 2, "queue": "research", "minResources": {f"requests.{GPU}": "16", "cpu": "4"}}
    found = volcano.pod_group(named(spec, {"phase": "Pending", "conditions": conditions}, ownerReferences=[OWNER]))
    assert (found.queue, found.min_member, found.min_gpus) == ("research", 2, {GPU: 16})
    assert (found.owner_uid, found.owner_kind, found.owner_name) == ("j1", "Job", "train")
    assert (found.ended, found.message) == (False, "2/2 tasks in gang unschedulable")


def test_a_volcano_group_that_was_scheduled_since_says_nothing() -> None:
    conditions = [
        {"type": "Unschedulable", "status": "True", "message": "no room", "lastTransitionTime": AT},
        {"type": "Scheduled", "status": "True", "lastTransitionTime": "2026-03-01T13:00:00Z"},
    ]
    found = volcano.pod_group(named({}, {"phase": "Completed", "conditions": conditions}))
    assert (found.message, found.queue, found.ended, found.owner_kind) == ("", "default", True, "PodGroup")


def test_a_volcano_job_tells_its_shape_before_any_pod_exists() -> None:
    container = {"resources": {"limits": {GPU: "8"}}}
    worker = {"spec": {"containers": [container]}}
    tasks = [{"replicas": 1, "template": {"spec": {}}}, {"replicas": 4, "template": worker}]
    status = {"state": {"phase": "Pending", "lastTransitionTime": AT}}
    found = volcano.job(named({"minAvailable": 5, "tasks": tasks, "queue": "research"}, status))
    assert found.tasks == (VolcanoTask(1, {}), VolcanoTask(4, {GPU: 8}))
    assert (found.min_available, found.queue) == (5, "research")
    assert (found.phase, found.phase_since) == ("Pending", parse_time(AT))


def test_a_kai_queue_without_limit_has_none_and_a_limit_of_zero_allows_nothing() -> None:
    gpu = {"quota": 2.5, "limit": -1, "overQuotaWeight": 1}
    found = kai.queue(named({"resources": {"gpu": gpu}, "parentQueue": "root"}, {"allocated": {GPU: "3500m"}}))
    assert (found.scheduler, found.parent) == (Scheduler.KAI, "root")
    assert (found.guaranteed, found.deserved, found.ceiling) == ({GPU: 2.5}, {GPU: 2.5}, {})
    assert found.borrowed(GPU) == 1.0
    nothing = kai.queue(named({"resources": {"gpu": {"quota": 0, "limit": 0}}}))
    assert (nothing.deserved, nothing.ceiling) == ({GPU: 0.0}, {GPU: 0.0})


@pytest.mark.parametrize("quota", [-2, "8", True, [1]])
def test_a_kai_quota_that_is_no_number_of_gpus_is_a_problem(quota: object) -> None:
    with pytest.raises(ParseProblem, match=r"spec\.resources\.gpu\.quota"):
        kai.queue(named({"resources": {"gpu": {"quota": quota}}}))


def test_a_kai_group_has_ended_when_no_pod_of_it_is_left_to_run() -> None:
    waiting = kai.pod_group(named({"minMember": 2, "queue": "a"}, {"pending": 2}))
    done = kai.pod_group(named({}, {"pending": 0, "running": 0, "succeeded": 2}))
    failed = kai.pod_group(named({}, {"running": 0, "succeeded": 1, "failed": 1}))
    assert [(one.ended, one.failed) for one in (waiting, done, failed)] == [(False, False), (True, False), (True, True)]


def test_a_kai_group_passes_on_the_words_of_its_scheduler_and_takes_an_owner_that_does_not_control() -> None:
    condition = {"type": "UnschedulableOnNodePool", "status": "True", "message": "OverLimit"}
    conditions = [condition | {"lastTransitionTime": AT}]
    status = {"schedulingConditions": conditions}
    found = kai.pod_group(named({}, status, ownerReferences=[{**OWNER, "controller": None}]))
    assert (found.message, found.owner_uid, found.owner_kind) == ("OverLimit", "j1", "Job")


def test_a_quota_of_a_workspace_speaks_of_devices_by_their_own_names() -> None:
    spec = {"selector": {"kubesphere.io/workspace": "ws"}, "quota": {"hard": {f"requests.{GPU}": "8", "pods": "9"}}}
    found = kubesphere.workspace_quota(named(spec, {"total": {"used": {f"requests.{GPU}": "5"}}}))
    assert found == WorkspaceQuota("train", "ws", {GPU: 8}, {GPU: 5})
    assert kubesphere.workspace_quota(named({"selector": {"team": "a"}})) is None


@pytest.mark.parametrize("amount", ["1e400", "-1", "many", True, None])
def test_an_amount_that_nobody_can_mean_is_a_problem(amount: object) -> None:
    with pytest.raises(ParseProblem, match="an amount of devices"):
        volcano.queue(named({"deserved": {GPU: amount}}))


ENGINE_KINDS = [kind for kind in KINDS if not kind.always_served and kind.versions != ("v1beta2", "v1beta1")]


@pytest.mark.parametrize("kind", ENGINE_KINDS, ids=lambda kind: kind.name)
def test_the_versions_that_are_read_are_those_of_the_published_definitions(kind: Any, shared_folder: Path) -> None:
    file = shared_folder / "fixtures" / "crds" / f"{kind.group}_{kind.name.partition('.')[0]}.yaml.gz"
    definition = yaml.safe_load(gzip.decompress(file.read_bytes()))
    served = {version["name"] for version in definition["spec"]["versions"] if version["served"]}
    assert set(kind.versions) <= served
