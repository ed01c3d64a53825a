"""The part of the report that comes from the history of workloads: it closes, and says its gaps."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce

import pytest

from collector.accounting.schema.rows import Batch, Capacity, Look, State, Transition
from controller.reports.compute import Sources, report_of
from controller.reports.history import Told, history_part
from controller.reports.model import EvictionEdge, ReportModel
from controller.reports.render_html import report_html
from controller.reports.render_json import report_json
from tests.unit.collector.accounting.lives import START as LIVES_START
from tests.unit.collector.accounting.lives import Life, Looker
from tests.unit.controller.reports.histories import EMPTY_LEDGER, HOUR, START, report, samples, steady, window

SLOTS = 10


def told() -> Told:
    """vision holds 8 GPUs for eight hours, with an eviction; from the fourth to the sixth hour nobody looked."""
    shift = START - LIVES_START
    begins = ((State.PENDING, 0), (State.ADMITTED, 0), (State.RUNNING, 1), (State.EVICTED, 8), (State.ADMITTED, 9))
    life = Life("w", tuple((state, START + hour * HOUR) for state, hour in begins))
    looker = Looker([life], capacity=16)
    for minute in range(SLOTS * 60 + 1):
        if not 4 * 60 < minute < 6 * 60:
            looker.look(shift + minute * 60)
    whole = reduce(Batch.then, looker.batches)
    return Told(whole.rows, whole.capacities, whole.looks)


def with_history(told: Told) -> ReportModel:
    shown = window(SLOTS)
    sources = Sources("c1", samples(SLOTS, steady(SLOTS, held=8.0)), EMPTY_LEDGER, told=told)
    return report_of(sources, shown, shown.end + HOUR, "0.1.0")


def test_gpu_hours_by_state_close_against_the_capacity_and_gaps_are_said() -> None:
    part = history_part(told(), window(SLOTS))
    (pool,) = part.pools
    assert pool.capacity == 16 * SLOTS
    assert pool.difference == pytest.approx(0)
    assert (pool.tenants["vision"].running, pool.tenants["vision"].starting) == (7 * 8, 2 * 8)
    assert (part.gap_hours, pool.not_seen) == (2, 2 * 8)
    assert part.evictions == (EvictionEdge("vision", "nlp", 1, 7 * 8),)
    assert (part.finished, part.failed, part.gone) == (0, 0, 0)


def test_page_and_json_tell_the_same() -> None:
    report = with_history(told())
    accounting = json.loads(report_json(report))["accounting"]
    assert accounting["pools"][0]["tenants"] == [
        {
            "tenant": "vision",
            "running_gpu_hours": 56.0,
            "starting_gpu_hours": 16.0,
            "held_not_known_gpu_hours": 0.0,
        }
    ]
    assert accounting["gap_hours"] == 2.0
    assert accounting["evictions"] == [
        {"tenant": "vision", "by": "nlp", "count": 1, "ran_before_gpu_hours": 56.0},
    ]
    page = report_html(report)
    assert "Nobody looked for 2 h" in page
    assert "160 GPU-hours" in page.replace("\n", " ")


def test_quota_beyond_the_nodes_stands_on_the_page() -> None:
    row = Transition("c1", "w", 0, START, State.RUNNING, "k", "vision", "w", "Job", "vision", "", "h100", "", 24, 3)
    found = Told((row,), (Capacity("c1", "h100", START, 16),), (Look("c1", START, START + SLOTS * HOUR),))
    page = report_html(with_history(found))
    assert "80 were given to work beyond what the nodes have" in page
    assert "No gaps." in page


def test_without_a_history_nothing_is_said_of_it() -> None:
    plain = report(SLOTS, steady(SLOTS, held=8.0))
    assert json.loads(report_json(plain))["accounting"] is None
    assert "history of workloads" not in report_html(replace(plain, history=None))
