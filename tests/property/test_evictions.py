"""Preemption cycles among any tenants: order means nothing, rings are found at any length, chains never are."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from controller.api.policy import Mode, Policy
from controller.policy.engine import decide
from controller.policy.evictions import AGAIN, OFTEN, Eviction, EvictionMemory, cycles
from controller.policy.finding import Trouble
from controller.policy.ledger import Ledger
from tests.builders import HOUR, agreed
from tests.property.test_decide import shuffled
from tests.world import Steering, World

NAMES = st.sampled_from("abcdef")
ENFORCE = Policy(mode=Mode.ENFORCE)
evictions = st.builds(
    lambda by, victim, work, count: Eviction(0.0, "h100", by, victim, f"{victim}/{work}", count),
    NAMES,
    NAMES,
    st.integers(0, 2),
    st.integers(1, 4),
)


@given(st.lists(evictions, max_size=20), st.integers(0, 2**32))
def test_the_order_of_evictions_means_nothing(found: list[Eviction], seed: int) -> None:
    other = list(found)
    random.Random(seed).shuffle(other)
    assert cycles(EvictionMemory(tuple(found))) == cycles(EvictionMemory(tuple(other)))


@given(st.lists(evictions, max_size=20))
def test_every_cycle_names_hit_work_and_no_tenant_is_in_two(found: list[Eviction]) -> None:
    named = cycles(EvictionMemory(tuple(found)))
    parties = [party for cycle in named for party in cycle.parties]
    assert len(parties) == len(set(parties))
    for cycle in named:
        assert cycle.victims
        assert set(cycle.victims) <= set(cycle.parties)
        assert all(by in cycle.parties and victim in cycle.parties for by, victim in cycle.edges)


@given(st.permutations("abcdef"), st.integers(2, 6), st.integers(AGAIN, 5))
def test_a_ring_of_any_length_is_found_and_cut_anywhere_it_is_a_chain(
    names: list[str], length: int, count: int
) -> None:
    ring = names[:length]
    edges = [
        Eviction(0.0, "h100", by, victim, f"{victim}/job", count)
        for by, victim in zip(ring, (*ring[1:], ring[0]), strict=True)
    ]
    assert [cycle.parties for cycle in cycles(EvictionMemory(tuple(edges)))] == [tuple(sorted(ring))]
    if count < OFTEN:
        assert cycles(EvictionMemory(tuple(edges[1:]))) == ()


@settings(max_examples=settings().max_examples // 4)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=8),
    st.integers(0, 24),
    st.integers(0, 2**32),
)
def test_whatever_thrashes_decide_is_the_same_in_any_order_and_touches_no_stranger(
    hits: list[tuple[int, int, int]], shared: int, seed: int
) -> None:
    names = ("vision", "nlp", "ads")
    world = World(*(agreed(name, 8, burst=32) for name in names), agreed("maps", 8, 8), shared=shared, nodes=8)
    for number, name in enumerate(names):
        world.runs(name, "own", f"n{number}", ago=HOUR)
        world.runs(name, "fought", f"n{number + 3}", ago=60.0 * number)
    snapshot, targets = Steering(world).look()
    keys = {work.tenant: work.key for work in snapshot.works if work.name == "fought"}
    memory = EvictionMemory(
        tuple(
            Eviction(snapshot.taken_at, "h100", names[by], names[victim], keys[names[victim]], count)
            for by, victim, count in hits
        ),
        {},
    )
    confirmed = {(name, "h100", Trouble.THRASHING.value): 9 for name in names}
    ledger, chance = Ledger(confirmations=confirmed, evictions=memory), random.Random(seed)
    one = decide(snapshot, ENFORCE, Mode.ENFORCE, ledger, targets)
    other_targets = list(targets)
    chance.shuffle(other_targets)
    other = decide(shuffled(snapshot, chance), ENFORCE, Mode.ENFORCE, replace(ledger), other_targets)
    assert one == other
    for change in one.ledger.changes:
        assert "trimtab-maps" not in (change.source, change.destination)
        assert change.forecast.evicted == ()
        assert 0 < change.amount <= shared
