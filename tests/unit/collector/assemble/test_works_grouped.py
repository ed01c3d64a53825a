"""Gangs of Volcano and KAI: their phase and shape, and why they wait by the shares of their queues."""

from __future__ import annotations

from typing import Any

import pytest

from collector.assemble.gangs import queue_key
from collector.model.gangs import PodGroup, Scheduler, ShareQueue, VolcanoJob, VolcanoTask
from collector.model.objects import OwnerRef, Picture
from collector.model.snapshot import Snapshot, WaitingName, Work, WorkPhase
from collector.model.tenancy import Engine, Pool
from tests.builders import HOUR, agreed, look, site_of, work_of
from tests.pictures import GPU, NOW, PRODUCT, PictureMaker

NATIVE = Pool("h100", GPU, {PRODUCT: "H100"}, Engine.NATIVE)
SITE = site_of(agreed("vision", 16, tier="critical"), pools=(NATIVE,))


def cluster(nodes: int = 4) -> PictureMaker:
    maker = PictureMaker()
    for number in range(nodes):
        maker.node(f"n{number}")
    maker.namespace("vision")
    return maker


def group(**more: Any) -> PodGroup:
    fields: dict[str, Any] = {"scheduler": Scheduler.VOLCANO, "uid": "pg", "namespace": "vision", "name": "train"}
    fields |= {"queue": "research", "created_at": NOW - 3 * HOUR, "min_member": 2, "min_gpus": {GPU: 16}}
    return PodGroup(**(fields | more))


def queue(name: str = "research", deserved: float | None = 8, used: float = 0, **more: Any) -> ShareQueue:
    shares = {} if deserved is None else {GPU: deserved}
    fields: dict[str, Any] = {"deserved": shares, "allocated": {GPU: used}, "parent": "root"}
    return ShareQueue(Scheduler.VOLCANO, name, **(fields | more))


def seen(maker: PictureMaker, found: PodGroup, *queues: ShareQueue, **more: Any) -> Snapshot:
    picture: Picture = maker.picture(
        pod_groups={found.uid: found}, share_queues={(one.scheduler, one.name): one for one in queues}, **more
    )
    return look(picture, SITE)


def train(snapshot: Snapshot) -> Work:
    return work_of(snapshot, "vision/train")


def test_a_group_without_pods_waits_for_what_it_asks_for_at_least() -> None:
    work = train(seen(cluster(), group(), queue(deserved=32)))
    assert (work.phase, work.pods, work.gpus_per_pod, work.gpus) == (WorkPhase.WAITING, 2, 8, 16)
    assert (work.tenant, work.pool, work.waited_seconds) == ("vision", "h100", 3 * HOUR)
    assert queue_key(work) == ("vision", "critical", "research")


def test_a_volcano_job_without_pods_has_the_shape_of_its_tasks() -> None:
    job = VolcanoJob(
        uid="vj",
        namespace="vision",
        name="train",
        queue="research",
        created_at=NOW - 4 * HOUR,
        tasks=(VolcanoTask(1, {}), VolcanoTask(3, {GPU: 4})),
        min_available=4,
        phase="Pending",
        phase_since=NOW,
    )
    owned = group(min_gpus={}, owner_uid="vj", owner_kind="Job", owner_name="train")
    work = train(seen(cluster(), owned, queue(deserved=32), volcano_jobs={"vj": job}))
    assert (work.kind, work.pods, work.gpus, work.created_at) == ("Job", 3, 12, NOW - 4 * HOUR)


def test_a_group_is_waiting_starting_running_and_then_gone() -> None:
    maker = cluster()
    maker.pod("vision", "train-0", "n0", group="train")
    assert train(seen(maker, group(), queue())).phase is WorkPhase.WAITING
    maker.pod("vision", "train-1", "n1", group="train", ready_at=None)
    assert train(seen(maker, group(), queue())).phase is WorkPhase.STARTING
    maker.pod("vision", "train-1", "n1", group="train", age=60.0)
    running = train(seen(maker, group(), queue()))
    assert (running.phase, running.ready_at, running.nodes) == (WorkPhase.RUNNING, NOW - 60, {"n0": 8, "n1": 8})
    assert seen(maker, group(ended=True), queue()).works == ()


def test_a_plain_job_in_a_group_counts_once_and_lends_the_group_its_name() -> None:
    maker = cluster()
    job = maker.job("vision", "train", pods=2, template="abc")
    maker.pod("vision", "train-0", "n0", owner=OwnerRef("Job", "train", job.uid), group="pg-train")
    found = group(name="pg-train", owner_uid=job.uid, owner_kind="Job", owner_name="train")
    work = train(seen(maker, found, queue()))
    assert (work.kind, work.key, work.scheduler) == ("Job", "vision/Job/train/abc", Scheduler.VOLCANO)


def test_a_group_of_work_that_kueue_holds_counts_once() -> None:
    maker = PictureMaker()
    maker.node("n0")
    maker.tenant("vision", 8)
    maker.work("vision", "train")
    snapshot = look(maker.picture(pod_groups={"pg": group(owner_uid="job-vision-train")}), site_of(agreed("vision", 8)))
    assert [work.queue for work in snapshot.works] == ["gpus"]


@pytest.mark.parametrize(
    ("queues", "waiting", "words"),
    [
        ((queue(used=8), queue("other", 8, 16)), WaitingName.STARVED, "while other borrows 8"),
        ((queue(used=8), queue("other", 8, 8)), WaitingName.SHORT_OF_CAPACITY, "no other queue borrows"),
        ((queue(deserved=32),), WaitingName.BROKEN, "look at the scheduler"),
        ((queue(deserved=None),), WaitingName.BROKEN, "look at the scheduler"),
        ((queue(open=False),), WaitingName.INELIGIBLE, "its queue research is closed"),
        ((queue("else"),), WaitingName.INELIGIBLE, "its queue research does not exist"),
        ((queue(ceiling={GPU: 8.0}),), WaitingName.INELIGIBLE, "above the limit of 8"),
        ((queue(ceiling={GPU: 24.0}, used=16),), WaitingName.INELIGIBLE, "uses 16 of its limit of 24 GPUs"),
    ],
)
def test_why_it_waits_is_named_by_the_shares_of_queues(
    queues: tuple[ShareQueue, ...], waiting: WaitingName, words: str
) -> None:
    work = train(seen(cluster(), group(), *queues))
    assert work.waiting is waiting
    assert words in work.why


def test_a_free_share_without_nodes_is_blocked_and_the_scheduler_is_quoted() -> None:
    maker = cluster(nodes=2)
    maker.pod("vision", "small-0", "n0", gpus=1)
    maker.pod("vision", "small-1", "n1", gpus=1)
    work = train(seen(maker, group(message="0/2 nodes are available"), queue(deserved=32)))
    assert work.waiting is WaitingName.BLOCKED
    assert "fragmentation" in work.why
    assert work.why.endswith("Its scheduler says: 0/2 nodes are available")


def test_a_full_pool_of_queues_with_weights_is_short_of_capacity() -> None:
    maker = cluster(nodes=2)
    maker.pod("vision", "big", "n0", gpus=8)
    assert train(seen(maker, group(), queue(deserved=None))).waiting is WaitingName.SHORT_OF_CAPACITY


def test_a_launcher_without_gpus_is_not_waited_for() -> None:
    maker = cluster()
    maker.pod("vision", "train-0", "n0", group="train")
    maker.pod("vision", "train-1", "n1", group="train")
    assert train(seen(maker, group(min_member=3), queue())).phase is WorkPhase.RUNNING
