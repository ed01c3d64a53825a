"""GPU-hours out of the history: they close against the capacity, and what nobody saw is not free."""

from __future__ import annotations

import pytest

from collector.accounting.schema.hours import PoolHours, Span, gaps, pool_hours
from collector.accounting.schema.rows import Look, State
from tests.unit.collector.accounting.lives import CLUSTER, START, Life, Looker, turns

HOUR = 3600


def hours_of(looker: Looker, begin: float, end: float) -> PoolHours:
    looks: dict[float, Look] = {}
    for batch in looker.batches:
        for look in batch.looks:
            looks[look.begin] = look
    capacities = [one for batch in looker.batches for one in batch.capacities]
    window = Span(START + begin * HOUR, START + end * HOUR)
    (pool,) = pool_hours(looker.rows, capacities, looks.values(), window)
    assert pool.difference == pytest.approx(0, abs=1e-9)
    return pool


def looked_every_minute(*lives: Life, spans: tuple[tuple[int, int], ...] = ((0, 4),)) -> Looker:
    looker = Looker(lives)
    for begin, end in spans:
        for minute in range(begin * 60, end * 60 + 1):
            looker.look(minute * 60)
    return looker


def test_a_window_closes_against_its_capacity() -> None:
    ran = Life("a", turns((State.PENDING, 0), (State.ADMITTED, HOUR), (State.RUNNING, 1.5 * HOUR)))
    other = Life("b", turns((State.PENDING, 0), (State.ADMITTED, 0), (State.RUNNING, 0), (State.FINISHED, HOUR)), "nlp")
    pool = hours_of(looked_every_minute(ran, other), 0, 4)
    assert (pool.capacity, pool.not_seen, pool.beyond, pool.unknown) == (256, 0, 0, 0)
    assert (pool.tenants["vision"].starting, pool.tenants["vision"].running) == (4, 20)
    assert pool.tenants["nlp"].running == 8
    assert pool.free == 256 - 32


def test_a_gap_is_not_seen_and_what_ran_through_it_is_known() -> None:
    ran = Life("a", turns((State.PENDING, 0), (State.ADMITTED, 0), (State.RUNNING, 0), (State.FINISHED, 2.5 * HOUR)))
    pool = hours_of(looked_every_minute(ran, spans=((0, 1), (3, 4))), 0, 4)
    assert pool.tenants["vision"].running == 20, "its object tells when it ended"
    assert pool.not_seen == 2 * 64 - 12
    assert pool.free == 2 * 64 - 8


def test_of_work_that_vanished_in_a_gap_nobody_knows() -> None:
    ran = Life("a", turns((State.PENDING, 0), (State.ADMITTED, 0), (State.RUNNING, 0), (State.GONE, 2 * HOUR)))
    pool = hours_of(looked_every_minute(ran, spans=((0, 1), (3, 4))), 0, 4)
    assert (pool.tenants["vision"].running, pool.tenants["vision"].unknown) == (8, 16)


def test_quota_beyond_the_nodes_is_said_and_not_hidden() -> None:
    looker = looked_every_minute(Life("a", turns((State.PENDING, 0), (State.ADMITTED, 0)), gpus=80))
    pool = hours_of(looker, 0, 1)
    assert (pool.beyond, pool.free, pool.tenants["vision"].starting) == (16, 0, 80)


def test_gaps_are_what_no_span_covers() -> None:
    looks = [Look(CLUSTER, 10, 20), Look(CLUSTER, 40, 50), Look(CLUSTER, 15, 30)]
    assert gaps(looks, Span(0, 60)) == (Span(0, 10), Span(30, 40), Span(50, 60))
    assert gaps([], Span(0, 60)) == (Span(0, 60),)
    assert gaps([Look(CLUSTER, 0, 90)], Span(10, 60)) == ()
