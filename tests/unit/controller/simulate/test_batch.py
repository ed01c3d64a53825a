"""The engine for whole traces, case by case: borrowing, reclaim, priority, nodes, reserves, ceilings, losses."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from controller.simulate.batch_setting import NEVER, QueueQuota, Rules, Setting, served_by_priority
from controller.simulate.losses import Checkpoints
from controller.simulate.packing import Packing
from controller.simulate.watched import WatchedBatch
from tests.traces import Row, table

RULES = Rules(restart_seconds=10.0, requeue_seconds=1.0)


def played(
    rows: Sequence[Row],
    quotas: Sequence[QueueQuota],
    rules: Rules = RULES,
    queue_of: Sequence[int] = (0, 1, 2),
    nodes: Packing | None = None,
    checkpoints: Checkpoints | None = None,
) -> WatchedBatch:
    jobs = table(rows)
    setting = Setting(quotas, queue_of, rules, None if nodes is None else [nodes] * len(quotas))
    batch = WatchedBatch(jobs, setting, served_by_priority(jobs), lambda row: checkpoints)
    batch.advance()
    return batch


def test_idle_quota_of_others_is_borrowed_and_reclaimed_newest_first() -> None:
    rows = [Row(0, 1000, 4, "b"), Row(1, 1000, 4, "b"), Row(2, 1000, 4, "b"), Row(100, 50, 4, "a")]
    fates = played(rows, [QueueQuota(4), QueueQuota(4), QueueQuota(4)]).fates
    assert fates.first_start_seconds == [0, 1, 2, 100]
    assert fates.evictions == [0, 0, 1, 0]
    assert fates.wait_seconds[2] == 50, "from its eviction until a's job ended"
    assert fates.end_seconds[2] == 150 + 1000 + 10, "all of its work again, and the restart"
    assert fates.lost_gpu_seconds[2] == 98 * 4


def test_who_stays_within_its_quota_is_served_before_higher_priority_that_borrows() -> None:
    rows = [Row(0, 100, 8, "a"), Row(1, 10, 4, "b", priority=9), Row(2, 10, 4, "a")]
    fates = played(rows, [QueueQuota(8), QueueQuota(0)], queue_of=(0, 1)).fates
    assert fates.first_start_seconds == [0, 100, 100]
    rows = [Row(0, 100, 8, "a"), Row(1, 10, 8, "b", priority=9), Row(2, 10, 4, "a")]
    assert played(rows, [QueueQuota(8), QueueQuota(0)], queue_of=(0, 1)).fates.first_start_seconds == [0, 110, 100]


def test_those_that_turn_out_not_to_be_needed_are_spared() -> None:
    rows = [Row(0, 900, 6, "b"), Row(1, 900, 1, "b"), Row(2, 900, 1, "b"), Row(10, 5, 6, "a")]
    assert played(rows, [QueueQuota(6), QueueQuota(2)], queue_of=(0, 1)).fates.evictions == [1, 0, 0, 0]


def test_a_reserve_is_not_lent_and_a_ceiling_is_not_passed() -> None:
    rows = [Row(0, 100, 2, "b"), Row(0, 100, 2, "b"), Row(1, 10, 4, "a")]
    kept = played(rows, [QueueQuota(4, reserve=4), QueueQuota(2)], queue_of=(0, 1)).fates
    assert kept.first_start_seconds == [0, 100, 1]
    capped = played(rows[:2], [QueueQuota(4), QueueQuota(2, ceiling=3)], queue_of=(0, 1)).fates
    assert capped.first_start_seconds == [0, 100]


def test_without_reclaim_and_lending_each_queue_lives_by_itself() -> None:
    rows = [Row(0, 100, 4, "a"), Row(1, 10, 4, "a"), Row(2, 10, 2, "b"), Row(3, 10, 1, "a")]
    quotas = [QueueQuota(4, 4), QueueQuota(8, 8)]
    fates = played(rows, quotas, Rules(reclaims=False), (0, 1)).fates
    assert fates.first_start_seconds == [0, 100, 2, 110]
    assert fates.evictions == [0, 0, 0, 0]


def test_within_one_queue_higher_priority_evicts_lower_and_goes_back_to_its_checkpoint() -> None:
    rows = [Row(0, 100, 8), Row(50, 10, 8, priority=1)]
    rules = Rules(reclaims=False, preempts_within_queue=True, restart_seconds=5.0, requeue_seconds=1.0)
    fates = played(rows, [QueueQuota(8)], rules, (0, 0, 0), checkpoints=Checkpoints(20.0, 10.0)).fates
    assert fates.first_start_seconds == [0, 50]
    assert fates.lost_gpu_seconds[0] == 0, "saved at 10, 30, 50"
    assert fates.end_seconds == [60 + 50 + 5, 60]


def test_on_nodes_victims_are_taken_until_a_whole_node_is_free() -> None:
    rows = [Row(0, 900, 4, "b"), Row(1, 900, 8, "b"), Row(2, 900, 4, "b"), Row(10, 5, 8, "a")]
    fates = played(rows, [QueueQuota(8), QueueQuota(8)], queue_of=(0, 1), nodes=Packing(2, 8)).fates
    assert fates.evictions == [0, 1, 0, 0], "the newest alone frees no node, and is spared again"
    assert fates.first_start_seconds[3] == 10


def test_quota_may_change_on_the_way_and_evicts_nobody() -> None:
    jobs = table([Row(0, 100, 4, "a"), Row(1, 10, 4, "a")])
    batch = WatchedBatch(jobs, Setting([QueueQuota(4)], [0, 0, 0], RULES), [0, 1])
    batch.advance(10.0)
    batch.set_quota(0, QueueQuota(2))
    assert (batch.now, batch.used(0), batch.unfinished()) == (10.0, 4, 2)
    batch.set_shared(6)
    assert batch.used(0) == 8
    batch.advance()
    assert batch.fates.end_seconds == [100, 20]


def test_a_job_that_never_fits_never_starts_and_stops_nobody() -> None:
    fates = played([Row(0, 1, 9), Row(1, 1, 8)], [QueueQuota(8)], queue_of=(0, 0, 0)).fates
    assert fates.first_start_seconds == [NEVER, 1]


@pytest.mark.parametrize(("requeue", "restart"), [(0.0, 30.0), (5.0, -1.0)])
def test_times_that_can_not_be_are_refused(requeue: float, restart: float) -> None:
    with pytest.raises(ValueError, match="expected above 0, and 0 or more"):
        Rules(requeue_seconds=requeue, restart_seconds=restart)
