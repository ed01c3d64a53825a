"""Work that is no pod: what a quota or a webhook refuses is seen, whoever wanted it, with its age."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from collector.model.gangs import WorkspaceQuota
from collector.model.objects import Condition, FailedCreate, OwnerRef, Picture, ReplicaSet
from collector.model.snapshot import WaitingName, WorkPhase
from collector.model.tenancy import Engine, Pool
from tests.builders import HOUR, agreed, look, pool_of, site_of, work_of
from tests.pictures import GPU, NOW, PRODUCT, PictureMaker

NATIVE = Pool("h100", GPU, {PRODUCT: "H100"}, Engine.NATIVE, borrow_class="borrow")
SITE = site_of(agreed("vision", 16, burst=64, tier="critical"), pools=(NATIVE,))
WHY = "exceeded quota: gpus, requested: requests.nvidia.com/gpu=8"


def cluster(nodes: int = 4) -> PictureMaker:
    maker = PictureMaker()
    for number in range(nodes):
        maker.node(f"n{number}")
    maker.namespace("vision")
    return maker


def refused(kind: str = "PyTorchJob", name: str = "train", ago: float = 2 * HOUR, last: float = 60.0) -> FailedCreate:
    return FailedCreate("vision", OwnerRef(kind, name, f"uid-{name}"), NOW - ago, NOW - last, WHY, {GPU: 8})


def told(maker: PictureMaker, *events: FailedCreate, **more: Any) -> Picture:
    return maker.picture(failed_creates={f"e{number}": event for number, event in enumerate(events)}, **more)


def test_an_operators_job_whose_pods_were_refused_waits_and_is_refused_with_its_age() -> None:
    snapshot = look(told(cluster(), refused()), SITE)
    work = work_of(snapshot, "vision/train")
    assert (work.kind, work.phase, work.pods_missing, work.gpus) == ("PyTorchJob", WorkPhase.WAITING, 1, 8)
    assert (work.waiting, work.waited_seconds, work.waited_is_lower_bound) == (WaitingName.REFUSED, 2 * HOUR, True)
    assert WHY in work.why
    assert (pool_of(snapshot, "vision").waiting, pool_of(snapshot, "vision").overdue) == (8, 8)


def test_several_events_of_one_owner_are_one_refusal_since_the_first_of_them() -> None:
    work = work_of(look(told(cluster(), refused(ago=HOUR), refused(ago=3 * HOUR, last=900)), SITE), "vision/train")
    assert work.waited_seconds == 3 * HOUR


def test_a_refusal_that_nobody_repeats_is_over() -> None:
    assert look(told(cluster(), refused(last=1900.0)), SITE).works == ()


def test_an_operators_gang_of_which_a_pod_was_refused_waits_whole() -> None:
    maker = cluster()
    maker.pod("vision", "train-0", "n0", owner=OwnerRef("PyTorchJob", "train", "uid-train"))
    work = work_of(look(told(maker, refused()), SITE), "vision/train")
    assert (work.phase, work.pods, work.gpus, work.pods_missing) == (WorkPhase.WAITING, 2, 16, 1)


def test_the_clock_of_refused_work_goes_on_once_its_pods_are_made() -> None:
    maker = cluster()
    before = work_of(look(told(maker, refused()), SITE), "vision/train")
    maker.pod("vision", "train-0", None, owner=OwnerRef("PyTorchJob", "train", "uid-train"))
    after = work_of(look(maker, SITE), "vision/train")
    assert (before.uid, before.key) == (after.uid, after.key)


def replicas(existing: int, **more: Any) -> ReplicaSet:
    failure = Condition(True, "FailedCreate", WHY, NOW - HOUR)
    return replace(ReplicaSet("rs", "vision", "serve", NOW - 5 * HOUR, 4, existing, {GPU: 8}, failure=failure), **more)


def test_replicas_that_were_refused_wait_and_the_others_run() -> None:
    maker = cluster()
    maker.pod("vision", "serve-0", "n0", owner=OwnerRef("ReplicaSet", "serve", "rs"))
    works = look(maker.picture(replica_sets={"rs": replicas(1)}), SITE).works
    assert {(work.phase, work.gpus, work.uid) for work in works} == {
        (WorkPhase.RUNNING, 8, "rs"),
        (WorkPhase.WAITING, 24, "rs/missing"),
    }
    missing = next(work for work in works if work.pods_missing)
    assert (missing.waited_seconds, missing.waiting) == (HOUR, WaitingName.REFUSED)


def test_a_replica_set_none_of_whose_pods_was_made_waits_since_it_was_created() -> None:
    work = work_of(look(cluster().picture(replica_sets={"rs": replicas(0)}), SITE), "vision/serve")
    assert (work.uid, work.gpus, work.waited_seconds) == ("rs", 32, 5 * HOUR)


def test_a_replica_set_that_only_starts_is_not_refused() -> None:
    assert look(cluster().picture(replica_sets={"rs": replicas(1, failure=None)}), SITE).works == ()


def test_a_refused_pod_of_a_stateful_set_does_not_stop_those_that_run() -> None:
    maker = cluster()
    maker.pod("vision", "serve-0", "n0", owner=OwnerRef("StatefulSet", "serve", "uid-serve"))
    works = look(told(maker, refused("StatefulSet", "serve")), SITE).works
    assert sorted((work.phase, work.gpus) for work in works) == [(WorkPhase.RUNNING, 8), (WorkPhase.WAITING, 8)]


def test_a_job_that_no_quota_refuses_any_more_tells_what_its_controller_was_told() -> None:
    maker = cluster()
    job = maker.job("vision", "train", pods=2)
    event = FailedCreate("vision", OwnerRef("Job", "train", job.uid), NOW - HOUR, NOW - 60, "denied by webhook", {})
    snapshot = look(told(maker, event), SITE)
    work = work_of(snapshot, "vision/train")
    assert (work.waiting, len(snapshot.works)) == (WaitingName.REFUSED, 1)
    assert "denied by webhook" in work.why


@pytest.mark.parametrize(("workspace", "waiting"), [("ws", WaitingName.REFUSED), ("other", WaitingName.BROKEN)])
def test_the_quota_of_a_workspace_refuses_pods_in_its_namespaces(workspace: str, waiting: WaitingName) -> None:
    maker = cluster()
    maker.namespace("vision", kubesphere_io__workspace="ws")
    maker.job("vision", "train", pods=2)
    quota = WorkspaceQuota("ws-gpus", workspace, {GPU: 8}, {GPU: 8})
    work = work_of(look(maker.picture(workspace_quotas=(quota,)), SITE), "vision/train")
    assert work.waiting is waiting
    assert ("ws-gpus of workspace ws (8 of 8 in use)" in work.why) is (waiting is WaitingName.REFUSED)
