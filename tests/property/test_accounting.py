"""Random histories, looked at whenever, written twice, in any order, cut by crashes: the same rows, and true ones."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.accounting.address import read_address
from collector.accounting.schema.clock_text import clock_text, read_clock, resumed
from collector.accounting.schema.derive import BREAK_SECONDS
from collector.accounting.schema.hours import Span, pool_hours
from collector.accounting.schema.rows import ENDS, HOLDS, Batch, Memory, State, Transition
from collector.accounting.store import Store, Wanted
from collector.assemble.clocks import WaitClocks
from tests.unit.collector.accounting.lives import CLUSTER, START, Life, Looker

LONGEST = 600
_AFTER = {
    State.PENDING: (State.ADMITTED, State.GONE),
    State.ADMITTED: (State.RUNNING, State.EVICTED, State.FAILED, State.GONE),
    State.RUNNING: (State.EVICTED, State.FINISHED, State.FAILED, State.GONE),
    State.EVICTED: (State.ADMITTED, State.GONE),
}


@st.composite
def lives(draw: st.DrawFn) -> list[Life]:
    return [draw(_life(f"w{number}")) for number in range(draw(st.integers(1, 4)))]


@st.composite
def _life(draw: st.DrawFn, uid: str) -> Life:
    states = [State.PENDING]
    for _ in range(draw(st.integers(0, 7))):
        if states[-1] in ENDS:
            break
        states.append(draw(st.sampled_from(_AFTER[states[-1]])))
    moments = accumulate(draw(st.lists(st.integers(1, 80), min_size=len(states), max_size=len(states))))
    turns = tuple((state, START + at) for state, at in zip(states, moments, strict=True))
    return Life(uid, turns, draw(st.sampled_from(["vision", "nlp"])), gpus=draw(st.integers(1, 16)))


moments = st.lists(st.integers(0, LONGEST), min_size=1, max_size=12).map(sorted)


@contextmanager
def a_store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(read_address(str(Path(folder) / "history.db")))
        store.begin_writing()
        try:
            yield store
        finally:
            store.close()


def looked(world: list[Life], at: list[int]) -> Looker:
    looker = Looker(world)
    for after in at:
        looker.look(after)
    return looker


@settings(max_examples=25)
@given(lives(), moments, st.data())
def test_batches_written_twice_in_any_order_give_the_same_rows(
    world: list[Life], at: list[int], data: st.DataObject
) -> None:
    looker = looked(world, at)
    with a_store() as store:
        for batch in data.draw(st.permutations([*looker.batches, *looker.batches])):
            store.write(replace(batch, standings={}))
        found = sorted(store.transitions(Wanted()), key=lambda row: (row.uid, row.step))
        assert found == sorted(looker.rows, key=lambda row: (row.uid, row.step))
        assert store.looks(CLUSTER, START, START + LONGEST) == spans(looker.batches)


def spans(batches: list[Batch]) -> tuple[object, ...]:
    merged = Batch()
    for batch in batches:
        merged = merged.then(batch)
    return merged.looks


@settings(max_examples=40)
@given(lives(), moments, st.sets(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_a_crash_at_any_moment_loses_and_doubles_nothing_that_was_written(
    world: list[Life], at: list[int], crashes: set[int], unwritten: set[int]
) -> None:
    """Killed after some looks, before or after their batch was written: as if the unwritten looks had not been."""
    lost = crashes & unwritten
    whole = looked(world, [after for number, after in enumerate(at) if number not in lost])
    with a_store() as store:
        looker = Looker(world)
        for number, after in enumerate(at):
            batch = looker.look(after)
            if number not in lost:
                store.write(batch)
            if number in crashes:
                memory = store.memory(CLUSTER)
                looker = Looker(world, memory, resumed(WaitClocks(), memory))
        kept = list(store.transitions(Wanted()))
    assert sorted(kept, key=_order) == sorted(whole.rows, key=_order)


def _order(row: Transition) -> tuple[str, int]:
    return row.uid, row.step


@given(lives(), moments)
def test_what_a_row_claims_to_know_is_true(world: list[Life], at: list[int]) -> None:
    by_uid = {life.uid: life for life in world}
    rows = looked(world, at).rows
    for row in rows:
        life = by_uid[row.uid]
        if row.state is not State.GONE and row.seen_before is None:
            assert (row.state, row.at) in life.turns
        if not row.waited_is_lower_bound and row.state is not State.GONE:
            assert row.waited_seconds == pytest.approx(life.waited(row.at), abs=0.01)
        assert row.waited_seconds <= life.waited(row.at) + 0.01
    for before, after in pairwise(sorted(rows, key=_order)):
        if before.uid == after.uid:
            assert (before.step + 1, before.at <= after.at) == (after.step, True)


@settings(max_examples=15)
@given(lives())
def test_who_looks_each_second_misses_nothing(world: list[Life]) -> None:
    last = max(int(life.turns[-1][1] - START) for life in world)
    rows = looked(world, list(range(last + 1))).rows
    for life in world:
        assert [(row.state, row.at) for row in rows if row.uid == life.uid] == list(life.turns)
    assert not any(row.unseen or row.seen_before is not None for row in rows)


@given(lives(), moments)
def test_gpu_hours_close_against_the_capacity_and_hold_at_most_the_truth(world: list[Life], at: list[int]) -> None:
    looker = looked(world, at)
    window = Span(START, START + LONGEST)
    capacities = [one for batch in looker.batches for one in batch.capacities]
    (pool,) = pool_hours(looker.rows, capacities, spans(looker.batches), window)  # type: ignore[arg-type]  # of Looks
    assert pool.difference == pytest.approx(0, abs=1e-9)
    until = START + at[-1]
    for name, hours in pool.tenants.items():
        truth = sum(_held(life, until) for life in world if life.tenant == name)
        vanished = sum(row.gpus for row in looker.rows if row.state is State.GONE and row.tenant == name)
        assert hours.running + hours.starting <= truth + vanished * BREAK_SECONDS / 3600 + 1e-6


def _held(life: Life, until: float) -> float:
    ends = [at for _, at in life.turns[1:]] + [until]
    spans = ((begin, min(end, until)) for (state, begin), end in zip(life.turns, ends, strict=True) if state in HOLDS)
    return life.gpus * sum(max(0.0, end - begin) for begin, end in spans) / 3600


@given(lives(), moments)
def test_a_clock_survives_its_text(world: list[Life], at: list[int]) -> None:
    for clock in looked(world, at).clocks.clocks.values():
        assert read_clock(clock_text(clock)) == clock


def test_nothing_is_remembered_of_nothing() -> None:
    with a_store() as store:
        assert store.memory("nowhere") == Memory()
