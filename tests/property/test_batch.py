"""The engine for whole traces does what the simulated cluster does, and keeps what every scheduler has to keep."""

from __future__ import annotations

from collections import defaultdict
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.simulate.batch_setting import QueueQuota, Rules, Setting, served_by_priority
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec, JobSpec, SimulatedTenant, Submission, Timings
from controller.simulate.gang import Gang
from controller.simulate.job_table import JobTable
from controller.simulate.losses import Checkpoints
from controller.simulate.packing import Packing
from controller.simulate.watched import WatchedBatch

TENANTS = ("a", "b", "c")
SHARED = 6
SPEC = ClusterSpec(
    "site",
    1,
    (SimulatedTenant("a", 8, 4), SimulatedTenant("b", 4, 2), SimulatedTenant("c", 3)),
    shared=SHARED,
    gpus_per_node=1000,  # quota alone decides
    timings=Timings(start_seconds=0.0, restart_seconds=7.0, keep_finished_seconds=1e9),
)
CHECKPOINT_SECONDS = 10.0
RULES = Rules(preempts_within_queue=True, restart_seconds=7.0, requeue_seconds=SPEC.timings.requeue_seconds)

# Moments that never meet: what happens first in one moment is not what this is about.
drawn = st.lists(
    st.tuples(
        st.floats(0.01, 9.0),
        st.sampled_from(TENANTS),
        st.integers(1, 14),
        st.floats(0.5, 60.0),
        st.sampled_from((0, 0, 10)),
    ),
    max_size=25,
)
moves = st.lists(st.tuples(st.sampled_from(("a", "b", "c", "shared")), st.integers(0, 9)), max_size=4)


def submissions(rows: list[tuple[float, str, int, float, int]]) -> list[Submission]:
    at, found = 0.0, []
    for number, (pause, tenant, gpus, run_seconds, priority) in enumerate(rows):
        at += pause + number * 1e-4
        job = JobSpec(f"job-{number}", tenant, 1, gpus, run_seconds, priority, CHECKPOINT_SECONDS)
        found.append(Submission(at, job))
    return found


def setting(nodes: list[Packing] | None = None) -> Setting:
    quotas = [QueueQuota(tenant.floor + tenant.floating, tenant.floating) for tenant in SPEC.tenants]
    return Setting(quotas, range(len(TENANTS)), RULES, nodes, SHARED)


def table(work: list[Submission]) -> JobTable:
    return JobTable(
        TENANTS,
        [one.at for one in work],
        [one.job.run_seconds for one in work],
        [one.job.gpus for one in work],
        [TENANTS.index(one.job.tenant) for one in work],
        [one.job.priority for one in work],
        [float("inf")] * len(work),
    )


class Numbered(Cluster):
    """Whose uids say the order in which queues serve: between equals a uid decides, and to the batch its position."""

    def __init__(self, work: list[Submission]) -> None:
        super().__init__(SPEC, 0.0)
        self.position = {row: place for place, row in enumerate(served_by_priority(table(work)))}
        for one in work:
            self.submit(one.job, one.at)

    def _uid(self, kind: str, number: int) -> str:
        return f"{self.position[number - 1]:05}-{kind}"


def gangs_of(site: Cluster) -> list[Gang]:
    return sorted(site.gangs.values(), key=lambda gang: gang.number)


def move(site: Cluster, batch: WatchedBatch, name: str, gpus: int) -> None:
    site.apply_leaf(f"trimtab-{name}", gpus, {})
    if name == "shared":
        batch.set_shared(gpus)
    else:
        floor = next(tenant.floor for tenant in SPEC.tenants if tenant.name == name)
        batch.set_quota(TENANTS.index(name), QueueQuota(floor + gpus, gpus))


@given(drawn, moves)
def test_it_starts_ends_and_evicts_as_the_simulated_cluster_does(
    rows: list[tuple[float, str, int, float, int]], leaves: list[tuple[str, int]]
) -> None:
    work = submissions(rows)
    site, jobs = Numbered(work), table(work)
    batch = WatchedBatch(jobs, setting(), served_by_priority(jobs), lambda row: Checkpoints(CHECKPOINT_SECONDS))
    for number, (name, gpus) in enumerate(leaves):
        at = 20.0 * (number + 1) + 0.05
        site.advance(at)
        batch.advance(at)
        move(site, batch, name, gpus)
    site.advance(1e5)
    batch.advance(1e5)
    fates, gangs = batch.fates, gangs_of(site)
    assert fates.evictions == [gang.evictions for gang in gangs]
    assert [-1.0 if gang.finished_at is None else gang.finished_at for gang in gangs] == pytest.approx(
        fates.end_seconds
    )
    assert [gang.lost_gpu_seconds for gang in gangs] == pytest.approx(fates.lost_gpu_seconds)


@given(drawn, st.booleans())
def test_no_gpu_is_used_twice_and_whoever_ends_has_done_its_work(
    rows: list[tuple[float, str, int, float, int]], on_nodes: bool
) -> None:
    work = submissions(rows)
    nodes = Packing(4, 8)
    batch = WatchedBatch(table(work), setting([nodes] * len(TENANTS) if on_nodes else None), range(len(work)))
    batch.advance()
    changes: dict[float, int] = defaultdict(int)
    held = [0.0] * len(work)
    for row, begin, end in batch.fates.stays:
        changes[begin] += work[row].job.gpus
        changes[end] -= work[row].job.gpus
        held[row] += end - begin
    used = 0
    for at in sorted(changes):
        used += changes[at]
        assert 0 <= used <= 27, "quotas and what is shared"
    assert nodes.fits(32), "every node is empty again"
    for row, one in enumerate(work):
        if batch.fates.end_seconds[row] >= 0:
            assert held[row] >= one.job.run_seconds - 1e-6
            spent = batch.fates.wait_seconds[row] + held[row]
            assert batch.fates.end_seconds[row] - one.at == pytest.approx(spent, abs=1e-6)


@given(drawn, st.lists(st.floats(0.0, 200.0), max_size=20))
def test_looking_more_often_changes_no_fate(rows: list[tuple[float, str, int, float, int]], looks: list[float]) -> None:
    work = submissions(rows)
    often, once = (WatchedBatch(table(work), setting(), range(len(work))) for _ in range(2))
    for at in sorted(looks):
        often.advance(at)
    often.advance()
    once.advance()
    assert often.fates == once.fates


@given(drawn, st.lists(st.floats(0.0, 90.0), min_size=1, max_size=20))
def test_what_is_kept_for_who_watches_is_what_counting_anew_gives(
    rows: list[tuple[float, str, int, float, int]], looks: list[float]
) -> None:
    work, limit, seen = submissions(rows), 7.0, [set[int]() for _ in TENANTS]
    jobs = table(work)
    limits = [dict.fromkeys(range(1, 10), limit), {}, dict.fromkeys(range(1, 15), limit)]
    batch = WatchedBatch(jobs, setting(), served_by_priority(jobs), lambda row: Checkpoints(5.0), limits)
    for at in sorted(looks):
        batch.advance(at)
        for queue, changed in batch.touched().items():
            seen[queue] = {row for row in seen[queue] | changed if batch.runs(row)}
        for queue in range(len(TENANTS)):
            line = batch.line(queue, len(rows))
            waits = {row: batch.sighting(row).waited_seconds for row, _ in line}
            late = {row for row, waited in waits.items() if waited > limits[queue].get(jobs.gpus[row], inf)}
            assert batch.waiting_gpus(queue) == sum(jobs.gpus[row] for row in waits)
            assert batch.late_gpus(queue) == sum(jobs.gpus[row] for row in late)
            assert {row for row, is_late in line if is_late} == late
            assert seen[queue] == {row for row in range(len(rows)) if jobs.tenant[row] == queue and batch.runs(row)}
            assert all(batch.sighting(row).began_seconds is not None for row in seen[queue])
        assert batch.anybody_late() == any(batch.late_gpus(queue) for queue in range(len(TENANTS)))
        assert batch.late_next() >= batch.now
