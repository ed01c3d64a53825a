"""Forecasts: who would be evicted, what is thrown away, and whether what comes free forms whole nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.snapshot import NodeState, PoolState, Snapshot, Work
from controller.policy.forecast import lost_gpu_hours, usable_quota, victims, whole_nodes
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


def gangs(snapshot: Snapshot, *gpus: int) -> list[Work]:
    """Gangs that wait, of so many GPUs each."""
    some = work_of(snapshot, "vision/own")
    return [replace(some, uid=f"gang-{number}", gpus=count) for number, count in enumerate(gpus)]


def named(world: World, *wanted: int, usable: int = 0, **entitled: int) -> list[str]:
    snapshot = seen(world)
    agreed_now = {"vision": 8, "nlp": 8, "ads": 8, "maps": 8} | entitled
    found = victims(snapshot, pool_of(snapshot, "vision"), gangs(snapshot, *wanted), usable, agreed_now)
    return [work.title for work in found.works]


def test_the_lowest_priority_goes_first_and_then_the_youngest() -> None:
    assert named(borrowing(), 8) == ["nlp/job2"]
    assert named(borrowing(), 16) == ["nlp/job2", "nlp/job1"]


def test_a_tenant_that_no_longer_borrows_is_left_alone() -> None:
    assert named(borrowing(), 24) == ["nlp/job2", "nlp/job1", "ads/job1"]


def test_only_who_borrows_can_be_evicted_and_never_the_beneficiary() -> None:
    snapshot = seen(borrowing())
    entitled = {"vision": 0, "nlp": 8, "ads": 8, "maps": 8}
    found = victims(snapshot, pool_of(snapshot, "vision"), gangs(snapshot, 100), 0, entitled)
    assert [work.tenant for work in found.works] == ["nlp", "nlp", "ads"]
    assert (found.freed, found.enough) == (24, False)


def test_a_lender_is_judged_by_what_it_keeps() -> None:
    assert named(borrowing(), 32, maps=0) == ["maps/own", "nlp/job2", "nlp/job1", "ads/job1"]


def test_who_is_not_needed_is_spared() -> None:
    world = borrowing()
    world.runs("nlp", "tiny", "n7", gpus=2, ago=1)
    assert named(world, 8) == ["nlp/job2"], "the youngest alone would not do, and is not needed beside the next"


def test_room_is_made_for_each_gang_by_itself() -> None:
    world = borrowing()
    for number in range(2):
        world.runs("nlp", f"tiny{number}", "n7", gpus=1, ago=1 + number)
    assert named(world, 2) == ["nlp/tiny0", "nlp/tiny1"]
    assert named(world, 1, 1) == ["nlp/tiny0", "nlp/tiny1"]
    assert named(world, 1, 2) == ["nlp/tiny0", "nlp/job2"], "one is gone, and the other alone would not do"
    assert named(world, 4, 4) == ["nlp/job2"], "what the first victim leaves serves the second gang"


def test_nothing_wanted_evicts_nobody() -> None:
    assert named(borrowing()) == []
    assert named(borrowing(), 8, usable=8) == []


def test_usable_is_what_all_promises_exceed_all_use_by() -> None:
    def usable(world: World, **floats: int) -> int:
        snapshot = seen(world)
        return usable_quota(snapshot, pool_of(snapshot, "vision"), floats)

    assert usable(borrowing()) == 4 * 8 + 24 - 56
    world = borrowing()
    world.ends("nlp/job0")
    assert usable(world) == 8
    world.picture_fields = {"unreadable": {"cohorts": "forbidden"}}
    assert usable(world) == 0


def test_the_float_that_a_tenant_does_not_use_is_its_reserve() -> None:
    world = borrowing()
    world.ends("maps/own")
    snapshot = seen(world)
    vision = pool_of(snapshot, "vision")
    assert usable_quota(snapshot, vision, {}) == 8
    assert usable_quota(snapshot, vision, {"maps": 4}) == 4
    assert usable_quota(snapshot, vision, {"nlp": 4}) == 8, "nlp uses its own"
    assert usable_quota(snapshot, vision, {"vision": 4}) == 8, "one's own reserve is usable"


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
