"""Whatever happened on a cluster, and whatever of it was seen: the parts of the report are the whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model.reading import Known
from controller.reports.samples import CAPACITY, FLOATING, FREE, GUARANTEE, HELD, IDLE_HELD, RUNNING, UNJUDGED, UNUSABLE
from tests.unit.controller.reports.histories import report

SLOTS = 12
TENANTS = ("vision", "nlp", "unassigned")
Rows = dict[tuple[str, ...], list[float | None]]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, Rows], int]:
    """Two replicas that each miss some moments of one pool that changes; and how many slots neither saw."""
    moments = SLOTS + 1
    few = st.integers(0, 8)
    held = {tenant: [draw(few) for _ in range(moments)] for tenant in TENANTS}
    free, broken = ([draw(few) for _ in range(moments)] for _ in range(2))
    capacity = [sum(held[t][m] for t in TENANTS) + free[m] + broken[m] for m in range(moments)]
    seen = {source: [draw(st.booleans()) for _ in range(moments)] for source in ("a", "b")}
    partly = {name: draw(st.lists(st.booleans(), min_size=moments, max_size=moments)) for name in TENANTS}
    series: dict[str, Rows] = {name: {} for name in (CAPACITY, FREE, UNUSABLE, HELD, GUARANTEE, FLOATING)}
    series |= {name: {} for name in (RUNNING, IDLE_HELD, UNJUDGED)}

    def put(name: str, source: str, key: tuple[str, ...], row: list[int], also: list[bool] | None = None) -> None:
        shown = [seen[source][m] and (also is None or also[m]) for m in range(moments)]
        series[name][source, *key] = [float(row[m]) if shown[m] else None for m in range(moments)]

    for source in seen:
        put(CAPACITY, source, ("h100",), capacity)
        put(FREE, source, ("h100",), free)
        put(UNUSABLE, source, ("h100", "cordoned"), broken)
        for tenant in TENANTS:
            put(HELD, source, (tenant, "h100"), held[tenant])
            for name in (GUARANTEE, FLOATING, RUNNING, IDLE_HELD, UNJUDGED):
                put(name, source, (tenant, "h100"), [draw(few) for _ in range(moments)], partly[tenant])
    return series, sum(1 for m in range(1, moments) if not any(seen[source][m] for source in seen))


@settings(max_examples=15)
@given(worlds())
def test_the_parts_of_a_pool_are_its_capacity_and_nothing_is_left_over(world: tuple[dict[str, Rows], int]) -> None:
    series, blind = world
    pool = report(SLOTS, series).pools[0]
    assert pool.seen_hours == SLOTS - blind
    assert pool.misfit == pytest.approx(0.0, abs=1e-6)
    if isinstance(pool.capacity, Known):
        assert pool.parts + pool.difference == pytest.approx(pool.capacity.value, abs=1e-6)
        assert (pool.not_seen == 0.0) or blind


@settings(max_examples=15)
@given(worlds())
def test_what_a_tenant_held_is_split_without_rest(world: tuple[dict[str, Rows], int]) -> None:
    made = report(SLOTS, world[0])
    held = sum(use.held for tenant in made.tenants for use in tenant.uses)
    assert held == pytest.approx(made.pools[0].held)
    for tenant in made.tenants:
        for use in tenant.uses:
            agreed = use.within_guarantee + use.floating + use.borrowed + use.agreement_unknown
            assert agreed == pytest.approx(use.held)
            assert use.running + use.starting + use.phase_unknown == pytest.approx(use.held)
            idle = use.idle_held.value if isinstance(use.idle_held, Known) else 0.0
            assert 0.0 <= idle + use.unjudged <= use.held + 1e-9
            assert min(use.within_guarantee, use.floating, use.borrowed, use.agreement_unknown) >= 0.0


@settings(max_examples=15)
@given(worlds(), st.integers(1, SLOTS), st.integers(1, 8))
def test_what_is_counted_wrong_is_seen_as_just_that_much(
    world: tuple[dict[str, Rows], int], slot: int, excess: int
) -> None:
    series, _ = world
    found = 0.0
    for row in (series[FREE]["a", "h100"], series[FREE]["b", "h100"]):
        value: Any = row[slot]
        if value is not None:
            row[slot] = value + excess
            found = float(excess)
    pool = report(SLOTS, series).pools[0]
    assert pool.misfit == pytest.approx(found)
    assert pool.difference == pytest.approx(-found)
