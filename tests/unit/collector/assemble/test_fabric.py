"""An edge is measured against itself, over two probes, and blamed on nobody who does not use it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.assemble.fabric import (
    LEAST_PROBES,
    REMEMBERED_PROBES,
    FabricMemory,
    Usual,
    edge_verdicts,
    edges_used,
    slow_edges_sentence,
)
from collector.model.fabric import Edge, EdgeProbe
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import Snapshot, Work, WorkPhase
from collector.model.tenancy import Objective, ObjectiveKind, Tenant
from tests.unit.collector.exporter.published import NOW, SITE, snapshot, work

EDGE = Edge("n1", "n2")
OTHER = Edge("n3", "n4")
STALE_SECONDS = 200.0
FABRIC = Objective("fabric", ObjectiveKind.RDMA_LATENCY, 0.99, 3600.0, quantile=0.99, within_baseline_factor=3.0)


def probe(p50: float | str, p99: float | str | None = None, at: float = NOW) -> EdgeProbe:
    """Latencies in microseconds; a text is the reason why there is none."""

    def reading(value: float | str) -> Reading[float]:
        return Unknown(value) if isinstance(value, str) else Known(value / 1e6)

    return EdgeProbe(at, {0.5: reading(p50), 0.99: reading(p50 if p99 is None else p99)})


def remembered(probes: Iterable[EdgeProbe], edge: Edge = EDGE) -> FabricMemory:
    memory = FabricMemory(STALE_SECONDS)
    for one in probes:
        memory = memory.advance(edge, one)
    return memory


def microseconds(reading: Reading[float]) -> float | str:
    return reading.reason if isinstance(reading, Unknown) else round(reading.value * 1e6, 6)


def gang(name: str, nodes: Mapping[str, int], phase: WorkPhase = WorkPhase.RUNNING, tenant: str = "vision") -> Work:
    return work(name, phase, nodes=nodes, tenant=tenant)


def watched(works: Iterable[Work], *objectives: Objective) -> Snapshot:
    tenant = replace(SITE.tenants[0], objectives=objectives or (FABRIC,))
    return replace(snapshot(works), site=replace(SITE, tenants=(tenant, Tenant("guest", "critical"))))


QUIET = [probe(10.0, 20.0)] * LEAST_PROBES


# The baseline


def test_there_is_no_baseline_before_five_probes() -> None:
    assert remembered(QUIET[:-1]).baseline_seconds(EDGE, 0.5) == Unknown("4 of the 5 probes that make a baseline")
    assert microseconds(remembered(QUIET).baseline_seconds(EDGE, 0.99)) == 20.0
    assert remembered([]).baseline_seconds(EDGE, 0.5) == Unknown("not probed yet")


def test_the_baseline_is_the_median_of_what_is_usual() -> None:
    memory = remembered([probe(value) for value in (10.0, 12.0, 11.0, 29.0, 10.5)])
    assert microseconds(memory.baseline_seconds(EDGE, 0.5)) == 11.0


def test_a_long_fault_does_not_become_usual() -> None:
    memory = remembered([*QUIET, *[probe(500.0)] * 100])
    assert microseconds(memory.baseline_seconds(EDGE, 0.5)) == 10.0


def test_what_lasts_as_long_as_the_memory_is_the_new_usual() -> None:
    usual = Usual((10e-6,) * LEAST_PROBES)
    for _ in range(REMEMBERED_PROBES + LEAST_PROBES - 1):
        usual = usual.advance(50e-6)
    assert usual.baseline == Known(50e-6)


def test_one_usual_probe_starts_the_count_of_slow_ones_over() -> None:
    assert Usual((10e-6,) * LEAST_PROBES, slow_in_a_row=7).advance(12e-6).slow_in_a_row == 0


@given(st.lists(st.floats(min_value=1e-7, max_value=1.0), max_size=60))
def test_a_baseline_lies_within_what_was_measured_and_the_memory_is_bounded(latencies: list[float]) -> None:
    usual = Usual()
    for latency in latencies:
        usual = usual.advance(latency)
    assert len(usual.values) <= REMEMBERED_PROBES
    if isinstance(usual.baseline, Known):
        assert min(latencies) <= usual.baseline.value <= max(latencies)


# Readings


def test_a_reading_has_the_age_of_its_probe_and_ends_with_it() -> None:
    memory = remembered([probe(10.0, at=NOW - 100)])
    assert memory.latency_seconds(EDGE, 0.5, NOW) == Known(10e-6, 100.0)
    assert memory.latency_seconds(EDGE, 0.5, NOW + 101) == Unknown("the last probe is 201 s old (limit 200 s)")


def test_a_failed_probe_hides_the_one_before_it_and_keeps_the_time_of_its_success() -> None:
    memory = remembered([probe(10.0, at=NOW - 60), probe("the server ended")])
    assert memory.latency_seconds(EDGE, 0.5, NOW) == Unknown("the server ended")
    assert memory.edges[EDGE].succeeded_at == NOW - 60


def test_other_quantiles_than_the_probed_are_unknown() -> None:
    assert remembered(QUIET).latency_seconds(EDGE, 0.999, NOW) == Unknown("probes do not measure quantile 0.999")


def test_lasting_is_the_better_of_the_last_two_probes() -> None:
    memory = remembered([*QUIET, probe(500.0)])
    assert microseconds(memory.lasting_seconds(EDGE, 0.5, NOW)) == 10.0
    memory = memory.advance(EDGE, probe(400.0))
    assert microseconds(memory.lasting_seconds(EDGE, 0.5, NOW)) == 400.0
    assert remembered(QUIET[:1]).lasting_seconds(EDGE, 0.5, NOW) == Unknown("not probed twice yet")


def test_a_failure_between_two_slow_probes_does_not_hide_that_the_edge_is_slow() -> None:
    memory = remembered([*QUIET, probe(500.0, at=NOW - 30), probe(450.0, at=NOW - 20), probe("no result", at=NOW - 10)])
    assert memory.lasting_seconds(EDGE, 0.5, NOW) == Unknown("no result"), "nothing is said while it fails"
    memory = memory.advance(EDGE, probe(400.0))
    assert microseconds(memory.lasting_seconds(EDGE, 0.5, NOW)) == 400.0


def test_a_success_that_is_long_ago_is_nothing_to_compare_with() -> None:
    memory = remembered([probe(500.0, at=NOW - STALE_SECONDS - 1), probe("no result"), probe(400.0)])
    assert memory.lasting_seconds(EDGE, 0.5, NOW) == Unknown("the success before the last probe is too old to compare")


# Who uses an edge, and who suffers


def test_an_edge_is_used_by_a_running_gang_of_several_nodes_at_either_end() -> None:
    edges = (EDGE, OTHER)
    assert edges_used([gang("both", {"n1": 8, "n2": 8})], edges) == (EDGE,)
    assert edges_used([gang("one-end", {"n2": 8, "n9": 8})], edges) == (EDGE,)
    assert edges_used([gang("starting", {"n4": 8, "n9": 8}, WorkPhase.STARTING)], edges) == (OTHER,)
    assert edges_used([gang("alone", {"n1": 8})], edges) == ()
    assert edges_used([gang("waiting", {"n1": 8, "n2": 8}, WorkPhase.WAITING)], edges) == ()


def test_a_slow_edge_is_the_trouble_of_whose_gang_uses_it() -> None:
    memory = remembered([*QUIET, probe(10.0, 600.0), probe(10.0, 720.0)])
    (verdict,) = edge_verdicts(memory, watched([gang("train", {"n1": 8, "n2": 8})]), NOW)
    assert (verdict.tenant, verdict.objective, verdict.edge) == ("vision", "fabric", EDGE)
    assert isinstance(verdict.ratio, Known)
    assert verdict.ratio.value == pytest.approx(600 / 60)
    assert edge_verdicts(memory, watched([gang("alone", {"n1": 8})]), NOW) == ()
    guest = gang("guest", {"n1": 8, "n2": 8}, tenant="guest")
    assert edge_verdicts(memory, watched([guest]), NOW) == (), "without an objective nothing was promised"


def test_an_objective_in_seconds_needs_no_baseline() -> None:
    absolute = replace(FABRIC, within_baseline_factor=None, within_seconds=100e-6, quantile=0.5)
    memory = remembered([probe(150.0), probe(150.0)])
    (verdict,) = edge_verdicts(memory, watched([gang("train", {"n1": 8, "n2": 8})], absolute), NOW)
    assert isinstance(verdict.ratio, Known)
    assert verdict.ratio.value == pytest.approx(1.5)


def test_an_objective_of_one_pool_looks_at_the_gangs_of_that_pool() -> None:
    snapshot_of = watched([gang("train", {"n1": 8, "n2": 8})], replace(FABRIC, pool="a100"))
    assert edge_verdicts(remembered(QUIET), snapshot_of, NOW) == ()


@pytest.mark.parametrize(
    ("probes", "objective", "reason"),
    [
        (QUIET[:2], FABRIC, "2 of the 5 probes that make a baseline"),
        ([*QUIET, probe("no server")], FABRIC, "no server"),
        (QUIET, replace(FABRIC, quantile=0.9), "probes do not measure quantile 0.9"),
        (QUIET, replace(FABRIC, quantile=None), "the objective names no quantile"),
        (QUIET, replace(FABRIC, within_baseline_factor=None), "the objective sets no limit"),
    ],
)
def test_what_can_not_be_judged_says_why(probes: list[EdgeProbe], objective: Objective, reason: str) -> None:
    taken = watched([gang("train", {"n1": 8, "n2": 8})], objective)
    (verdict,) = edge_verdicts(remembered(probes), taken, NOW)
    assert verdict.ratio == Unknown(reason)


def test_the_sentence_names_the_slowest_edge_and_counts_the_others() -> None:
    assert slow_edges_sentence("fabric", {EDGE: 12.34}) == (
        "RDMA from n1 to n2 takes 12.3 times as long as its objective fabric allows, and its running gangs use it"
    )
    assert slow_edges_sentence("fabric", {EDGE: 2.0, OTHER: 9.0}).endswith("use it (1 more are slow)")
    assert "n3 to n4 takes 9.0" in slow_edges_sentence("fabric", {EDGE: 2.0, OTHER: 9.0})
