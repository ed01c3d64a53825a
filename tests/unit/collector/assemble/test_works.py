"""Gangs out of objects: what one look at Kueue Workloads, Jobs and bare pods says about each piece of work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.objects import Condition, KueueWorkload, OwnerRef, PodSet
from collector.model.snapshot import Snapshot, WorkPhase
from collector.model.tenancy import Engine, Pool, SizeClass
from tests.builders import agreed, look, site_of, work_of
from tests.pictures import GPU, NOW, PRODUCT, PictureMaker

SITE = site_of(agreed("vision", 16, burst=64), agreed("nlp", 8))
ADMITTED = Condition(True, "Admitted", "", NOW - 3000)
BY_NLP = "Preempted to accommodate a workload (UID: 5b1c-77, JobUID: 1-2) due to reclamation within the cohort"


def cluster(nodes: int = 4) -> PictureMaker:
    maker = PictureMaker()
    for number in range(nodes):
        maker.node(f"n{number}")
    maker.tenant("vision", 16)
    maker.tenant("nlp", 8)
    return maker


def queued(maker: PictureMaker, name: str) -> KueueWorkload:
    return maker.picture().workloads[f"wl-vision-{name}"]


def test_a_gang_is_waiting_starting_running_and_then_gone() -> None:
    maker = cluster()
    maker.work("vision", "train", pods=2)
    assert work_of(look(maker, SITE), "vision/train").phase is WorkPhase.WAITING
    maker.work("vision", "train", pods=2, cluster_queue="vision", conditions={"QuotaReserved": ADMITTED})
    owner = OwnerRef("Job", "train", "job-vision-train")
    maker.pod("vision", "train-0", "n0", owner=owner)
    starting = work_of(look(maker, SITE), "vision/train")
    assert (starting.phase, starting.admitted_at, starting.ready_at) == (WorkPhase.STARTING, NOW - 3000, None)
    maker.pod("vision", "train-1", "n1", age=600, owner=owner)
    running = work_of(look(maker, SITE), "vision/train")
    assert (running.phase, running.ready_at, running.nodes) == (WorkPhase.RUNNING, NOW - 600, {"n0": 8, "n1": 8})
    workload = queued(maker, "train")
    done = {**workload.conditions, "Finished": Condition(True, "Succeeded", "", NOW - 10)}
    maker.put("workloads", workload.uid, replace(workload, conditions=done))
    assert look(maker, SITE).works == ()


def test_work_that_its_user_deactivated_is_suspended() -> None:
    maker = cluster()
    maker.work("vision", "train", active=False)
    assert work_of(look(maker, SITE), "vision/train").phase is WorkPhase.SUSPENDED


def test_a_gang_with_a_minimum_is_ready_once_so_many_pods_are() -> None:
    maker = cluster()
    parts = (PodSet(4, {GPU: 8}, min_count=1),)
    maker.work("vision", "train", pod_sets=parts, cluster_queue="vision", conditions={"QuotaReserved": ADMITTED})
    maker.pod("vision", "train-0", "n0", owner=OwnerRef("Job", "train", "job-vision-train"))
    assert work_of(look(maker, SITE), "vision/train").phase is WorkPhase.RUNNING


def test_a_pod_that_is_being_deleted_is_not_ready() -> None:
    maker = cluster()
    maker.work("vision", "train", cluster_queue="vision", conditions={"QuotaReserved": ADMITTED})
    owner = OwnerRef("Job", "train", "job-vision-train")
    maker.pod("vision", "train-0", "n0", owner=owner, deleted_at=NOW)
    assert work_of(look(maker, SITE), "vision/train").phase is WorkPhase.STARTING


@pytest.mark.parametrize("launcher_first", [True, False])
def test_a_launcher_without_gpus_hides_no_gang_and_is_not_waited_for(launcher_first: bool) -> None:
    maker = cluster()
    parts = [PodSet(1, {}), PodSet(2, {GPU: 8})]
    maker.work(
        "vision",
        "mpi",
        pod_sets=tuple(parts if launcher_first else reversed(parts)),
        owner=OwnerRef("MPIJob", "mpi", "mpi-uid"),
        cluster_queue="vision",
        conditions={"QuotaReserved": ADMITTED},
    )
    for number in range(2):
        maker.pod("vision", f"mpi-{number}", f"n{number}", owner=OwnerRef("MPIJob", "mpi", "mpi-uid"))
    work = work_of(look(maker, SITE), "vision/mpi")
    assert (work.kind, work.pods, work.gpus, work.phase) == ("MPIJob", 2, 16, WorkPhase.RUNNING)


def test_the_jobs_of_a_jobset_belong_to_its_one_workload() -> None:
    maker = cluster()
    jobset = OwnerRef("JobSet", "train", "jobset-uid")
    parts = (PodSet(2, {GPU: 8}),)
    workload = KueueWorkload("w", "vision", "jobset-train", "gpus", NOW - 7200, parts, owner=jobset)
    workload = replace(workload, cluster_queue="vision", conditions={"QuotaReserved": ADMITTED})
    maker.put("workloads", "w", workload)
    job = maker.job("vision", "train-workers-0", pods=2, owner=jobset)
    for number in range(2):
        maker.pod("vision", f"w-{number}", f"n{number}", owner=OwnerRef("Job", job.name, job.uid))
    snapshot = look(maker, SITE)
    assert [(work.title, work.phase) for work in snapshot.works] == [("vision/train", WorkPhase.RUNNING)]


def evicted(message: str) -> Snapshot:
    maker = cluster()
    condition = Condition(True, "Preempted", message, NOW - 60)
    maker.work("vision", "train", conditions={"Evicted": condition}, eviction_count=2)
    preemptor = KueueWorkload("5b1c-77", "nlp", "job-urgent", "gpus", NOW - 100, (PodSet(1, {GPU: 8}),))
    maker.put("workloads", preemptor.uid, preemptor)
    return look(maker, SITE)


def test_who_evicted_it_stands_in_the_words_of_its_condition() -> None:
    work = work_of(evicted(BY_NLP), "vision/train")
    assert (work.evictions, work.evicted_by, work.evictions_by) == (2, "nlp", {"nlp": 1})
    assert (work.waited_seconds, work.waited_is_lower_bound) == (60, True)


@pytest.mark.parametrize("message", ["Exceeded the PodsReady timeout vision/train", BY_NLP.replace("5b1c", "gone"), ""])
def test_an_eviction_by_nobody_that_is_known_is_nobodys(message: str) -> None:
    work = work_of(evicted(message), "vision/train")
    assert (work.evictions, work.evicted_by, work.evictions_by) == (2, None, {})


def test_a_job_that_no_queue_holds_is_read_from_its_pods() -> None:
    maker = cluster()
    job = maker.job("vision", "train", pods=2)
    assert work_of(look(maker, SITE), "vision/train").phase is WorkPhase.WAITING
    owner = OwnerRef("Job", "train", job.uid)
    for number in range(2):
        maker.pod("vision", f"train-{number}", f"n{number}", owner=owner, ready_at=None)
    assert work_of(look(maker, SITE), "vision/train").phase is WorkPhase.STARTING
    maker.put("jobs", job.uid, replace(job, ready=2))
    assert work_of(look(maker, SITE), "vision/train").phase is WorkPhase.RUNNING
    maker.put("jobs", job.uid, replace(job, suspended=True, ready=2))
    assert work_of(look(maker, SITE), "vision/train").phase is WorkPhase.SUSPENDED
    maker.put("jobs", job.uid, replace(job, finished_at=NOW))
    assert look(maker, SITE).works == ()


def test_a_job_that_waits_for_its_queue_to_see_it_is_no_work_yet() -> None:
    maker = cluster()
    maker.job("vision", "train", queue="gpus", suspended=True)
    assert look(maker, SITE).works == ()


def test_pods_of_one_owner_are_one_gang_and_a_bare_pod_is_its_own() -> None:
    maker = cluster()
    for number in range(2):
        maker.pod("vision", f"web-{number}", f"n{number}", owner=OwnerRef("ReplicaSet", "web-1", "rs"))
    maker.pod("vision", "shell", None, gpus=1)
    maker.pod("vision", "done", "n3", phase="Succeeded")
    works = {work.title: work for work in look(maker, SITE).works}
    assert set(works) == {"vision/web-1", "vision/shell"}
    assert (works["vision/web-1"].kind, works["vision/web-1"].gpus) == ("ReplicaSet", 16)
    assert (works["vision/shell"].kind, works["vision/shell"].phase) == ("Pod", WorkPhase.WAITING)


def test_work_of_a_namespace_that_nobody_claims_is_unassigned() -> None:
    maker = cluster()
    maker.namespace("lab")
    maker.pod("lab", "probe", "n0")
    probe = work_of(look(maker, SITE), "lab/probe")
    assert (probe.tenant, probe.tier, probe.limit_seconds) == ("unassigned", "", None)


def test_equal_names_in_two_namespaces_are_two_works() -> None:
    maker = cluster()
    maker.work("vision", "train", age=7200)
    maker.work("nlp", "train", age=60)
    snapshot = look(maker, SITE)
    waited = {work.title: (work.tenant, work.waited_seconds) for work in snapshot.works}
    assert waited == {"vision/train": ("vision", 7200), "nlp/train": ("nlp", 60)}


@pytest.mark.parametrize(
    ("gpus", "pods", "interactive", "size"),
    [
        (8, 1, False, SizeClass.SINGLE_NODE),
        (1, 1, True, SizeClass.INTERACTIVE),
        (8, 2, False, SizeClass.SMALL_GANG),
        (8, 8, False, SizeClass.SMALL_GANG),
        (8, 9, False, SizeClass.RESERVATION),
    ],
)
def test_a_gang_is_measured_in_nodes_and_against_burst_and_pool(
    gpus: int, pods: int, interactive: bool, size: SizeClass
) -> None:
    maker = cluster(nodes=10)
    maker.work("vision", "train", gpus, pods)
    job = maker.picture().jobs["job-vision-train"]
    maker.put("jobs", job.uid, replace(job, interactive=interactive))
    assert work_of(look(maker, SITE), "vision/train").size is size


def test_running_work_stands_in_the_pool_of_its_nodes() -> None:
    maker = PictureMaker()
    maker.namespace("vision")
    maker.node("h", labels={PRODUCT: "H100"})
    maker.node("a", labels={PRODUCT: "A100"})
    maker.pod("vision", "on-h", "h")
    maker.pod("vision", "on-a", "a")
    pools = tuple(Pool(name.lower(), GPU, {PRODUCT: name}, Engine.NATIVE) for name in ("A100", "H100"))
    snapshot = look(maker, site_of(agreed("vision", 16), pools=pools))
    assert {work.name: work.pool for work in snapshot.works} == {"on-h": "h100", "on-a": "a100"}


def test_waiting_work_stands_in_the_pool_of_the_first_flavor_that_its_queue_offers() -> None:
    maker = cluster()
    other = {("a100", GPU): maker.quota(8)["h100", GPU], **maker.quota(8)}
    maker.queue("both", None, quotas=other)
    maker.door("vision", "both", name="both")
    maker.work("vision", "train", queue="both")
    a100 = Pool("a100", GPU, {PRODUCT: "A100"}, Engine.KUEUE, flavor="a100")
    assert work_of(look(maker, replace(SITE, pools=(*SITE.pools, a100))), "vision/train").pool == "a100"
    assert work_of(look(maker, SITE), "vision/train").pool == "h100"
