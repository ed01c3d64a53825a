"""What is remembered of evictions, and which of them are a preemption cycle."""

from __future__ import annotations

from dataclasses import replace

from collector.model.snapshot import Snapshot
from controller.policy.evictions import Cycle, Eviction, EvictionMemory, cycles
from tests.builders import HOUR, MINUTE, agreed
from tests.world import Steering, World


def eviction(by: str, victim: str, work: str = "job", count: int = 1, at: float = 0.0) -> Eviction:
    return Eviction(at, "h100", by, victim, f"{victim}/{work}", count)


def found(*evictions: Eviction) -> list[tuple[tuple[str, ...], dict[str, tuple[str, ...]]]]:
    return [(cycle.parties, dict(cycle.victims)) for cycle in cycles(EvictionMemory(evictions))]


def snapshot_with(**evictions_by: dict[str, int]) -> Snapshot:
    """Work of vision, by name, with what was counted so far."""
    world = World(agreed("vision", 8), agreed("nlp", 8), shared=0, nodes=2)
    for name in evictions_by:
        world.submits("vision", name, ago=HOUR)
    snapshot = Steering(world).look()[0]
    works = tuple(replace(work, evictions_by=evictions_by[work.name]) for work in snapshot.works)
    return replace(snapshot, works=works)


def test_what_was_counted_before_the_first_look_is_held_against_nobody() -> None:
    memory = EvictionMemory().advance(snapshot_with(old={"nlp": 40}), HOUR)
    assert memory.recent == ()
    again = memory.advance(snapshot_with(old={"nlp": 42}), HOUR)
    assert [(one.by, one.victim, one.count) for one in again.recent] == [("nlp", "vision", 2)]


def test_work_that_is_new_counts_from_nothing() -> None:
    memory = EvictionMemory().advance(snapshot_with(old={}), HOUR).advance(snapshot_with(old={}, new={"nlp": 1}), HOUR)
    assert [one.key.split("/")[2] for one in memory.recent] == ["new"]


def test_what_is_old_and_what_is_gone_is_forgotten() -> None:
    snapshot = snapshot_with(job={"nlp": 1})
    memory = EvictionMemory((), {}).advance(snapshot, HOUR)
    later = replace(snapshot, taken_at=snapshot.taken_at + HOUR - 1)
    assert len(memory.advance(later, HOUR).recent) == 1
    assert memory.advance(replace(later, taken_at=later.taken_at + 1), HOUR).recent == ()
    assert memory.advance(replace(later, works=()), HOUR).recent == ()


def test_two_that_evict_each_other_twice_are_a_cycle_and_once_are_not() -> None:
    assert found(eviction("a", "b"), eviction("b", "a")) == []
    assert found(eviction("a", "b", count=2), eviction("b", "a")) == []
    again = found(eviction("a", "b"), eviction("b", "a"), eviction("a", "b", at=1.0), eviction("b", "a", at=1.0))
    assert again == [(("a", "b"), {"a": ("a/job",), "b": ("b/job",)})]


def test_other_work_each_time_is_no_cycle() -> None:
    one_way = [eviction("a", "b", f"job-{number}") for number in range(9)]
    other_way = [eviction("b", "a", f"job-{number}") for number in range(9)]
    assert found(*one_way, *other_way) == []


def test_a_ring_of_three_is_a_cycle_and_a_chain_is_none() -> None:
    ring = [eviction("a", "b", count=2), eviction("b", "c", count=2), eviction("c", "a", count=2)]
    assert [parties for parties, _ in found(*ring)] == [("a", "b", "c")]
    assert found(*ring[:2]) == []


def test_work_that_is_hit_too_often_is_thrashing_whoever_does_it() -> None:
    assert found(eviction("a", "c", count=3), eviction("b", "c", count=2)) == []
    often = found(eviction("a", "c", count=3), eviction("b", "c", count=2), eviction("a", "c"))
    assert often == [(("a", "b", "c"), {"c": ("c/job",)})]
    assert found(eviction("c", "c", count=6)) == [(("c",), {"c": ("c/job",)})]


def test_cycles_apart_stay_apart_and_strangers_stay_out() -> None:
    apart = [eviction(by, victim, count=2) for by, victim in (("a", "b"), ("b", "a"), ("x", "y"), ("y", "x"))]
    assert [parties for parties, _ in found(*apart, eviction("a", "stranger"))] == [("a", "b"), ("x", "y")]


def test_edges_count_all_evictions_among_the_parties() -> None:
    (cycle,) = cycles(EvictionMemory((eviction("a", "b", count=3), eviction("b", "a", count=2), eviction("a", "z"))))
    assert cycle == Cycle("h100", ("a", "b"), {"a": ("a/job",), "b": ("b/job",)}, {("a", "b"): 3, ("b", "a"): 2})


def test_after_something_was_done_the_parties_begin_anew_and_others_do_not() -> None:
    memory = EvictionMemory((eviction("a", "b", count=3), eviction("x", "y", count=3), eviction("a", "y")))
    assert memory.without("h100", ("a", "b")).recent == (eviction("x", "y", count=3), eviction("a", "y"))
    assert memory.without("other", ("a", "b")) == memory
    assert (memory.hits("b/job"), memory.hits("y/job"), memory.hits("z")) == (3, 4, 0)


def test_the_loop_forgets_what_is_older_than_an_hour() -> None:
    world = World(agreed("vision", 8), agreed("nlp", 8), shared=0, nodes=2)
    world.runs("vision", "job", "n0", ago=HOUR)
    world.submits("nlp", "other", ago=MINUTE)
    steers = Steering(world)
    steers.tick()
    world.passes(30)
    world.is_evicted("vision/job", by="nlp/other")
    assert len(steers.tick().ledger.evictions.recent) == 1
    world.passes(HOUR)
    assert steers.tick().ledger.evictions.recent == ()
