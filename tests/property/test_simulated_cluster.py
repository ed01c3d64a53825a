"""Whatever is handed in, applied and broken: quota is conserved, no GPU is given twice, equal seeds are equal runs."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec, JobSpec, SimulatedTenant, Submission, Timings
from controller.simulate.faults import StorageFault
from controller.simulate.gang import GangPhase
from controller.simulate.picture import picture_of

TENANTS = ("a", "b", "c")
SPEC = ClusterSpec(
    "site",
    4,
    (SimulatedTenant("a", 8, 4), SimulatedTenant("b", 4, 2), SimulatedTenant("c", 0)),
    shared=14,
    timings=Timings(2.0, 5.0, 20.0),
)
HOLDS = (GangPhase.ADMITTED, GangPhase.RUNNING)

jobs = st.builds(
    Submission,
    st.floats(0, 100).map(lambda at: round(at, 1)),
    st.builds(
        JobSpec,
        st.integers(0, 10**6).map("job-{}".format),
        st.sampled_from(TENANTS),
        pods=st.integers(1, 3),
        gpus_per_pod=st.integers(1, 8),
        run_seconds=st.floats(0.5, 60),
        priority=st.sampled_from((0, 0, 10)),
        checkpoint_seconds=st.sampled_from((None, 10.0)),
    ),
)
works = st.lists(jobs, max_size=25, unique_by=lambda one: (one.job.tenant, one.job.name))
leaves = st.tuples(
    st.sampled_from(("trimtab-a", "trimtab-b", "trimtab-c", "trimtab-shared")), st.integers(0, 14), st.integers(1, 110)
)


def play(work: list[Submission], moves: list[tuple[str, int, int]]) -> tuple[Cluster, list[str]]:
    """Run it in steps, checking at each, and tell what was seen."""
    site, seen = Cluster(SPEC, 0.0, seed=7), []
    for submission in work:
        site.submit(submission.job, submission.at)
    fault = StorageFault("a", 0.3)
    for second in range(0, 130, 2):
        site.advance(float(second))
        for name, gpus, _ in (move for move in moves if move[2] // 2 == second // 2):
            site.apply_leaf(name, gpus, {})
        if second == 40:
            site.begin_fault(fault)
        if second == 80:
            site.end_fault(fault)
        check(site)
        seen.append(repr(picture_of(site, site.now)))
    return site, seen


def check(site: Cluster) -> None:
    for tenant in TENANTS:
        held = sum(gang.spec.gpus for gang in site.of_phase(*HOLDS) if gang.spec.tenant == tenant)
        assert site.tree.held(tenant) == held, "quota in use is what admitted gangs ask for"
    pods = Counter(pod for slots in site.nodes.slots.values() for pod in slots if pod)
    for gang in site.gangs.values():
        for pod in gang.bound:
            assert pods.pop(gang.pod_key(pod)) == gang.spec.gpus_per_pod, "a pod has all its GPUs, on one node"
        assert gang.phase not in (GangPhase.PENDING, GangPhase.FINISHED) or not gang.bound
        assert gang.phase is not GangPhase.RUNNING or len(gang.bound) == gang.spec.pods
    assert not pods, "no GPU is held by who does not exist"


@given(works, st.lists(leaves, max_size=4))
def test_quota_is_conserved_and_no_gpu_is_given_twice(
    work: list[Submission], moves: list[tuple[str, int, int]]
) -> None:
    site, _ = play(work, moves)
    for gang in site.of_phase(GangPhase.FINISHED):
        total = gang.spec.run_seconds + gang.owed_seconds
        assert gang.left_seconds < 1e-6 * max(1.0, total), "who has finished has done all of it"


@given(works, st.lists(leaves, max_size=3))
def test_the_same_calls_give_the_same_cluster(work: list[Submission], moves: list[tuple[str, int, int]]) -> None:
    assert play(work, moves)[1] == play(work, moves)[1]


@given(works)
def test_without_a_lowered_leaf_nobody_uses_what_is_not_there(work: list[Submission]) -> None:
    site, _ = play(work, [])
    assert site.tree.usage("site") <= site.tree.quota("site")


@given(works)
def test_looking_more_often_changes_nothing(work: list[Submission]) -> None:
    often, once = Cluster(SPEC, 0.0), Cluster(SPEC, 0.0)
    for submission in work:
        often.submit(submission.job, submission.at)
        once.submit(submission.job, submission.at)
    for step in range(301):
        often.advance(step / 2)
    once.advance(150.0)
    assert picture_of(often, 150.0) == picture_of(once, 150.0)
