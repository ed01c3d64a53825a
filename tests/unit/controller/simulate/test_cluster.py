"""The simulated cluster: order of the queue, reclaim, gangs on nodes, restarts, faults, and what is refused."""

from __future__ import annotations

import pytest

from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec, JobSpec, SimulatedTenant, Timings
from controller.simulate.faults import Fault, HungGang, NetworkNoise, SickGpu, StorageFault
from controller.simulate.gang import Gang, GangPhase
from controller.simulate.quota import QuotaNode

QUICK = Timings(start_seconds=0.0, restart_seconds=10.0, keep_finished_seconds=1e9)


def cluster(nodes: int = 4, shared: int = 16, timings: Timings = QUICK) -> Cluster:
    """Tenants a (floor 8, float 4) and b (floor 4)."""
    tenants = (SimulatedTenant("a", 8, 4), SimulatedTenant("b", 4))
    return Cluster(ClusterSpec("site", nodes, tenants, shared, timings=timings), start=0.0)


def job(name: str, tenant: str, gpus: int = 8, run_seconds: float = 100.0, pods: int = 1, priority: int = 0) -> JobSpec:
    return JobSpec(name, tenant, pods, gpus, run_seconds, priority)


def gang(of: Cluster, name: str) -> Gang:
    return next(one for one in of.gangs.values() if one.spec.name == name)


def phases(of: Cluster, *names: str) -> list[GangPhase]:
    return [gang(of, name).phase for name in names]


def test_a_job_starts_runs_and_ends() -> None:
    site = cluster(timings=Timings(start_seconds=5.0, keep_finished_seconds=20.0))
    site.submit(job("one", "a"))
    assert phases(site, "one") == [GangPhase.ADMITTED]
    site.advance(5.0)
    assert (gang(site, "one").phase, gang(site, "one").ready_at) == (GangPhase.RUNNING, 5.0)
    site.advance(105.0)
    assert (gang(site, "one").phase, gang(site, "one").finished_at) == (GangPhase.FINISHED, 105.0)
    assert site.tree.held("a") == 0
    site.advance(125.0)
    assert site.gangs == {}


def test_the_owner_reclaims_its_floor_from_who_borrows_the_youngest_first() -> None:
    site = cluster()
    for number in range(3):
        site.advance(float(number))
        site.submit(job(f"borrowed{number}", "b"))
    site.submit(job("own", "a", gpus=4), at=10.0)
    site.submit(job("more", "a", gpus=8), at=11.0)
    site.advance(11.0)
    assert phases(site, "own", "more") == [GangPhase.RUNNING] * 2
    assert phases(site, "borrowed0", "borrowed1", "borrowed2") == [
        GangPhase.RUNNING,
        GangPhase.RUNNING,
        GangPhase.PENDING,
    ]
    eviction = gang(site, "borrowed2").eviction
    assert eviction is not None
    assert eviction.preemptor_uid == gang(site, "more").uid
    assert (eviction.preemptor_path, eviction.preemptee_path) == ("/site/tenant-a/a", "/site/tenant-b/b")


def test_who_would_borrow_waits_and_evicts_nobody() -> None:
    site = cluster()
    site.submit(job("borrowed", "b", gpus=8))
    site.submit(job("lent", "b", gpus=8))
    site.submit(job("third", "b", gpus=4))
    site.submit(job("large", "a", gpus=8, pods=2))
    assert gang(site, "large").phase is GangPhase.PENDING, "16 is more than a's entitlement of 12"
    assert gang(site, "borrowed").evictions == 0


def test_a_higher_leaf_lets_the_owner_reclaim() -> None:
    site = cluster()
    for name in ("one", "two", "three"):
        site.submit(job(name, "b"))
    site.submit(job("large", "a", gpus=8, pods=2))
    site.apply_leaf("trimtab-shared", 12, {})
    assert gang(site, "large").phase is GangPhase.PENDING
    site.apply_leaf("trimtab-a", 8, {"mark": "one"})
    assert gang(site, "large").phase is GangPhase.ADMITTED
    assert sum(gang(site, name).evictions for name in ("one", "two", "three")) == 1
    assert site.leaf("trimtab-a").annotations == {"mark": "one"}


def test_an_applied_leaf_gets_a_new_version_only_when_it_changes() -> None:
    site = cluster()
    first = site.apply_leaf("trimtab-a", 5, {})
    assert site.apply_leaf("trimtab-a", 5, {}) == first
    assert site.apply_leaf("trimtab-a", 6, {}) > first


def test_who_does_not_borrow_is_served_before_who_has_waited_longer() -> None:
    site = cluster()
    site.submit(job("all", "a", gpus=8, pods=4, run_seconds=50.0))
    site.submit(job("borrows", "b", gpus=8, pods=3), at=1.0)
    site.submit(job("own", "a", gpus=6, pods=2), at=2.0)
    site.advance(60.0)
    assert phases(site, "borrows", "own") == [GangPhase.PENDING, GangPhase.RUNNING]
    assert gang(site, "borrows").evictions == 0, "it was never let in before its turn"


def test_within_a_queue_priority_comes_before_age() -> None:
    site = cluster()
    site.submit(job("all", "a", gpus=8, pods=4, run_seconds=50.0))
    site.submit(job("old", "b", gpus=8, pods=2), at=1.0)
    site.submit(job("young", "b", gpus=8, pods=2, priority=5), at=2.0)
    site.advance(60.0)
    assert phases(site, "old", "young") == [GangPhase.PENDING, GangPhase.RUNNING]


def test_a_gang_starts_when_all_its_pods_have_a_node() -> None:
    site = cluster(nodes=3, shared=16)
    site.submit(job("half", "a", gpus=4, run_seconds=50.0))
    site.submit(job("gang", "b", gpus=8, pods=3, run_seconds=10.0))
    assert gang(site, "gang").phase is GangPhase.ADMITTED
    assert len(gang(site, "gang").bound) == 2, "quota is free, and whole nodes are not"
    site.advance(50.0)
    assert gang(site, "gang").phase is GangPhase.RUNNING


def test_an_evicted_job_goes_back_to_its_checkpoint_and_pays_for_the_restart() -> None:
    site = cluster()
    for name in ("one", "two", "three"):
        site.submit(JobSpec(name, "b", 1, 8, 100.0, checkpoint_seconds=25.0))
    site.submit(job("own", "a", gpus=4), at=60.0)
    site.submit(job("more", "a", gpus=8, run_seconds=20.0), at=60.0)
    site.advance(60.0)
    victim = next(gang(site, name) for name in ("one", "two", "three") if gang(site, name).evictions)
    assert (victim.done_seconds, victim.lost_gpu_seconds, victim.left_seconds) == (50.0, 10.0 * 8, 60.0)
    site.advance(200.0)
    assert victim.finished_at == 60.0 + 20.0 + 60.0


@pytest.mark.parametrize(
    ("fault", "slowed"),
    [
        (StorageFault("a", 0.25), "small"),
        (NetworkNoise(0.25), "wide"),
        (SickGpu("site-2", 0, 0.25), "small"),
    ],
)
def test_a_fault_slows_those_it_is_about(fault: Fault, slowed: str) -> None:
    site = cluster()
    site.submit(job("wide", "b", gpus=8, pods=2))
    site.submit(job("small", "a", gpus=4))
    site.advance(20.0)
    site.begin_fault(fault)
    site.advance(60.0)
    site.end_fault(fault)
    site.advance(1000.0)
    ends = {name: gang(site, name).finished_at for name in ("wide", "small")}
    assert ends == {name: 130.0 if name == slowed else 100.0 for name in ("wide", "small")}


def test_what_room_was_made_for_stays_the_head_of_its_queue() -> None:
    site = cluster(nodes=3, shared=8)
    for number in range(2):
        site.submit(job(f"borrowed{number}", "b", gpus=8))
    site.submit(job("base", "a", gpus=6))
    site.submit(job("wide", "a", gpus=7), at=1.0)
    site.submit(job("own", "a", gpus=5), at=2.0)
    site.advance(3.0)
    assert phases(site, "wide", "own") == [GangPhase.PENDING, GangPhase.RUNNING], "wide would fit into the room too"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (job("x", "nobody"), "'nobody' is no tenant"),
        (job("x", "a", gpus=9), "1 pods of 9 GPUs"),
        (job("x", "a", pods=0), "0 pods"),
        (job("x", "a", run_seconds=0.0), "runs 0.0 s"),
        (job("x", "a", run_seconds=float("nan")), "runs nan s"),
    ],
)
def test_what_can_never_start_is_refused_at_the_door(wrong: JobSpec, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        cluster().submit(wrong)


def test_higher_priority_evicts_in_its_own_queue_only_as_far_as_the_quota_of_its_tenant_covers_it() -> None:
    site = cluster(shared=0)
    site.submit(job("low", "b", gpus=2, pods=6, run_seconds=1e6))
    site.submit(job("more", "b", gpus=4, priority=10))
    assert phases(site, "low", "more") == [GangPhase.RUNNING, GangPhase.PENDING], (
        "b has 4 and uses 12: nothing covers it"
    )
    site.withdraw("b", "low")
    assert phases(site, "more") == [GangPhase.RUNNING]


def test_who_was_just_evicted_takes_its_place_before_those_passed_over_are_looked_at_again() -> None:
    quick = Timings(start_seconds=0.0, requeue_seconds=0.1, look_again_seconds=1.0)
    site = Cluster(ClusterSpec("site", 4, (SimulatedTenant("a", 4, 4), SimulatedTenant("b", 4)), 4, timings=quick), 0.0)
    site.submit(job("borrows", "b", gpus=4, pods=3, run_seconds=1e6))
    site.submit(job("behind", "b", gpus=2), at=1.0)
    site.submit(job("owner", "a", gpus=6), at=2.0)
    site.advance(2.5)
    assert phases(site, "owner", "borrows", "behind") == [GangPhase.RUNNING, GangPhase.PENDING, GangPhase.PENDING]
    site.advance(4.0)
    assert phases(site, "borrows", "behind") == [GangPhase.PENDING, GangPhase.RUNNING]


def test_quota_may_stand_in_cohorts_as_deep_as_one_likes() -> None:
    tree = (
        QuotaNode("all", None),
        QuotaNode("research", "all", lending_limit=4),
        QuotaNode("vision", "research", 4),
        QuotaNode("team", "vision", 2, is_queue=True),
        QuotaNode("lab", "vision", 2, is_queue=True),
        QuotaNode("sales", "all", 4, is_queue=True),
    )
    tenants = tuple(SimulatedTenant(node.name, 0) for node in tree if node.is_queue)
    site = Cluster(ClusterSpec("site", 2, tenants, timings=QUICK, tree=tree), 0.0)
    site.submit(job("wide", "sales", gpus=8, run_seconds=1e6))
    site.submit(job("held", "lab", gpus=4, run_seconds=1e6))
    assert phases(site, "wide", "held") == [GangPhase.RUNNING, GangPhase.RUNNING], "research keeps 4 of its 8"
    site.submit(job("next", "team", gpus=4))
    assert phases(site, "wide", "held", "next") == [GangPhase.PENDING, GangPhase.RUNNING, GangPhase.RUNNING]


def test_gangs_that_come_back_at_once_are_refused() -> None:
    with pytest.raises(ValueError, match=r"requeue_seconds is 0, expected more than 0"):
        Timings(requeue_seconds=0)


def test_a_name_is_taken_once() -> None:
    site = cluster()
    site.submit(job("x", "a"))
    with pytest.raises(ValueError, match="a has one of that name already"):
        site.submit(job("x", "a"), at=50.0)


def test_time_does_not_run_backwards() -> None:
    site = cluster()
    site.advance(5.0)
    with pytest.raises(ValueError, match="backwards"):
        site.advance(4.0)


def test_a_job_that_is_withdrawn_leaves_its_place_to_the_next_and_its_name_is_free() -> None:
    site = cluster(nodes=1, shared=0)
    site.submit(job("first", "a", run_seconds=1e6))
    site.submit(job("second", "a", run_seconds=50.0))
    site.withdraw("a", "first")
    assert phases(site, "second") == [GangPhase.RUNNING]
    site.submit(job("first", "a"))
    site.withdraw("a", "first")
    site.withdraw("a", "first")
    site.advance(100.0)
    assert phases(site, "second") == [GangPhase.FINISHED]
    assert site.tree.held("a") == 0


def test_a_hung_gang_gets_nowhere_and_holds_its_place() -> None:
    site = cluster()
    site.submit(job("hangs", "a", run_seconds=100.0))
    site.submit(job("works", "b", gpus=4, run_seconds=100.0))
    site.begin_fault(HungGang("a", "hangs"))
    site.advance(10_000.0)
    assert phases(site, "hangs", "works") == [GangPhase.RUNNING, GangPhase.FINISHED]
