"""What the simulated cluster shows: the objects of a real one, read by the collector's own code."""

from __future__ import annotations

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.model.snapshot import Evidence, Snapshot, WaitingName, Work, WorkPhase
from controller.api.documents import parse_documents
from controller.demo.scenery import DEMO_SITE
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import GPU, JobSpec, Timings
from controller.simulate.picture import picture_of

START = 1_750_000_000.4


def cluster() -> Cluster:
    return Cluster(DEMO_SITE.cluster_spec(1.0), START)


def look(site: Cluster, clocks: WaitClocks) -> tuple[Snapshot, WaitClocks]:
    agreed = parse_documents(DEMO_SITE.documents_text(), "documents.yaml", DEMO_SITE.name).site
    return assemble(picture_of(site, site.now), agreed, Evidence(), clocks, site.now)


def work(snapshot: Snapshot, title: str) -> Work:
    return next(one for one in snapshot.works if one.title == title)


def test_times_are_whole_seconds_and_uids_are_those_of_kubernetes() -> None:
    site = cluster()
    site.submit(JobSpec("train", "vision", 1, 2, 1000.0))
    picture = picture_of(site, site.now)
    (workload,) = picture.workloads.values()
    assert workload.created_at == 1_750_000_000.0
    assert [len(part) for part in workload.uid.split("-")] == [8, 4, 4, 4, 12]
    assert {pod.gpus[GPU] for pod in picture.pods.values()} == {2}


def test_work_waits_starts_runs_is_evicted_and_tells_by_whom() -> None:
    site, clocks = cluster(), WaitClocks()
    for number in range(28):
        site.submit(JobSpec(f"grid-{number}", "research", 1, 2, 1e6))
    site.advance(START + 60)
    snapshot, clocks = look(site, clocks)
    assert {one.phase for one in snapshot.works} == {WorkPhase.RUNNING, WorkPhase.WAITING}
    site.submit(JobSpec("burst", "vision", 2, 7, 1e6))
    site.submit(JobSpec("own", "vision", 1, 8, 1e6))
    site.advance(site.now + 700)
    snapshot, clocks = look(site, clocks)
    assert work(snapshot, "vision/own").phase is WorkPhase.RUNNING
    evicted = [one for one in snapshot.works if one.evictions]
    assert {one.evicted_by for one in evicted} == {"vision"}
    assert {one.tenant for one in evicted} == {"research"}
    waits = work(snapshot, "vision/burst")
    assert (waits.phase, waits.waiting) == (WorkPhase.WAITING, WaitingName.WITHIN_LIMIT)
    site.advance(site.now + 1800)
    snapshot, _ = look(site, clocks)
    assert work(snapshot, "vision/burst").waiting is WaitingName.STARVED
    assert "research borrows" in work(snapshot, "vision/burst").why


def test_quota_adds_up_to_the_nodes() -> None:
    snapshot, _ = look(cluster(), WaitClocks())
    state = snapshot.pools["h100"]
    assert getattr(state.quota_total, "value", None) == state.allocatable == 64


def test_a_finished_job_is_seen_for_a_while() -> None:
    site = cluster()
    site.submit(JobSpec("short", "vision", 1, 1, 5.0))
    site.advance(START + Timings().start_seconds + 6)
    (workload,) = picture_of(site, site.now).workloads.values()
    assert workload.condition("Finished") is not None
    assert picture_of(site, site.now).pods == {}
