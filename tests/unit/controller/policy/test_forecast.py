"""Forecasts: who would be evicted, what is thrown away, and whether what comes free forms whole nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.snapshot import NodeState, PoolState, Snapshot
from controller.policy.forecast import lost_gpu_hours, unused_quota, victims, whole_nodes
from tests.builders import H100, HOUR, MINUTE, agreed, pool_of, work_of
from tests.world import Steering, World


def borrowing() -> World:
    """nlp (8) uses 24, ads (8) uses 16, maps (8) uses its own 8; vision (8) uses 8."""
    names = ("vision", "nlp", "ads", "maps")
    world = World(*(agreed(name, 8) for name in names), shared=24, nodes=8)
    world.runs("vision", "own", "n0", ago=HOUR)
    for number in range(3):
        world.runs("nlp", f"job{number}", f"n{number + 1}", ago=HOUR - number * MINUTE)
    for number in range(2):
        world.runs("ads", f"job{number}", f"n{number + 4}", ago=HOUR / 2 - number * MINUTE, priority=5)
    world.runs("maps", "own", "n6", ago=MINUTE)
    return world


def seen(world: World) -> Snapshot:
    return Steering(world).look()[0]


def named(world: World, wanted: int, **entitled: int) -> list[str]:
    snapshot = seen(world)
    agreed_now = {"vision": 8, "nlp": 8, "ads": 8, "maps": 8} | entitled
    found = victims(snapshot, pool_of(snapshot, "vision"), wanted, agreed_now)
    return [work.title for work in found.works]


def test_the_lowest_priority_goes_first_and_then_the_youngest() -> None:
    assert named(borrowing(), 8) == ["nlp/job2"]
    assert named(borrowing(), 16) == ["nlp/job2", "nlp/job1"]


def test_a_tenant_that_no_longer_borrows_is_left_alone() -> None:
    assert named(borrowing(), 24) == ["nlp/job2", "nlp/job1", "ads/job1"]


def test_only_who_borrows_can_be_evicted_and_never_the_beneficiary() -> None:
    snapshot = seen(borrowing())
    found = victims(snapshot, pool_of(snapshot, "vision"), 100, {"vision": 0, "nlp": 8, "ads": 8, "maps": 8})
    assert [work.tenant for work in found.works] == ["nlp", "nlp", "ads"]
    assert (found.freed, found.enough) == (24, False)


def test_a_lender_is_judged_by_what_it_keeps() -> None:
    assert named(borrowing(), 32, maps=0) == ["maps/own", "nlp/job2", "nlp/job1", "ads/job1"]


def test_who_is_not_needed_is_spared() -> None:
    world = borrowing()
    world.runs("nlp", "tiny", "n7", gpus=2, ago=1)
    assert named(world, 8) == ["nlp/job2"], "the youngest alone would not do, and is not needed beside the next"


def test_nothing_wanted_evicts_nobody() -> None:
    assert named(borrowing(), 0) == []


def test_unused_quota_is_what_all_promises_exceed_all_use_by() -> None:
    snapshot = seen(borrowing())
    assert unused_quota(snapshot, "h100") == 4 * 8 + 24 - 56
    world = borrowing()
    world.ends("nlp/job0")
    assert unused_quota(seen(world), "h100") == 8
    world.picture_fields = {"unreadable": {"cohorts": "forbidden"}}
    assert unused_quota(seen(world), "h100") == 0


def test_what_is_lost_is_at_most_the_run_so_far() -> None:
    snapshot = seen(borrowing())
    works = [work_of(snapshot, "nlp/job0"), work_of(snapshot, "ads/job0")]
    assert lost_gpu_hours(works, snapshot.taken_at, 86400.0) == pytest.approx(8 * 1.0 + 8 * 0.5)
    assert lost_gpu_hours(works, snapshot.taken_at, 86400.0 / 60) == pytest.approx(60 * 12.0), "scaled hours"
    assert lost_gpu_hours([replace(works[0], ready_at=None)], snapshot.taken_at, 86400.0) == 0


def pool(*free: int) -> PoolState:
    return PoolState(H100, tuple(NodeState(f"n{number}", 8, 8 - gpus) for number, gpus in enumerate(free)))


def test_a_gang_needs_its_nodes_whole() -> None:
    gang = replace(work_of(seen(borrowing()), "nlp/job0"), pods=2, gpus_per_pod=8, gpus=16, nodes={})
    assert whole_nodes(pool(8, 8), [gang], []) is None
    assert whole_nodes(pool(4, 4, 4, 4), [gang], []) is gang
    freed = [replace(gang, nodes={"n0": 4, "n1": 4})]
    assert whole_nodes(pool(4, 4, 4, 4), [gang], freed) is None
    assert whole_nodes(pool(4, 4, 4, 4), [gang], [replace(gang, nodes={"gone": 16})]) is gang


def test_the_first_gang_that_finds_no_place_is_named() -> None:
    one = replace(work_of(seen(borrowing()), "nlp/job0"), pods=1, gpus_per_pod=8, gpus=8, nodes={})
    other = replace(one, uid="other")
    assert whole_nodes(pool(8), [one, other], []) is other


def test_small_pods_are_packed_so_that_whole_nodes_stay() -> None:
    small = replace(work_of(seen(borrowing()), "nlp/job0"), pods=1, gpus_per_pod=2, gpus=2, nodes={})
    large = replace(small, gpus_per_pod=8, gpus=8)
    assert whole_nodes(pool(8, 2), [small, large], []) is None


def test_an_unusable_node_is_no_place_even_when_it_comes_free() -> None:
    gang = replace(work_of(seen(borrowing()), "nlp/job0"), pods=1, gpus_per_pod=8, gpus=8, nodes={})
    state = PoolState(H100, (NodeState("n0", 8, 8, "cordoned"),))
    assert whole_nodes(state, [gang], [replace(gang, nodes={"n0": 8})]) is gang
