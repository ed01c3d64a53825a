"""Probes become series; an edge that fails has none, and the others do not notice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from collector.assemble.fabric import LEAST_PROBES
from collector.exporter.fabric_families import FabricCollector
from collector.exporter.families import Published
from collector.exporter.health import Health
from collector.exporter.rdma import RdmaProbes
from collector.model.fabric import Edge, ProbePlan, ProbeTarget
from collector.model.reading import Known, Unknown
from collector.model.snapshot import WorkPhase
from collector.model.tenancy import Objective, ObjectiveKind
from collector.sources.rdma_probe import Probed, ProbeFailed, ProbeFault
from tests.unit.collector.exporter.published import NOW, SITE, Samples, published, samples, snapshot, work

GOOD, BAD = ProbeTarget(Edge("n1", "n2"), "10.0.0.2", 1), ProbeTarget(Edge("n3", "n4"), "10.0.0.4", 1)
PLAN = ProbePlan((BAD, GOOD), interval_seconds=60.0, timeout_seconds=10.0)
FABRIC = Objective("fabric", ObjectiveKind.RDMA_LATENCY, 0.99, 3600.0, quantile=0.99, within_baseline_factor=3.0)


@dataclass
class ScriptedProber:
    """Answers from a script; the edge BAD has no server."""

    p99: Iterator[float]
    closed: bool = False
    asked: list[ProbeTarget] = field(default_factory=list)

    def probe(self, target: ProbeTarget) -> Probed:
        self.asked.append(target)
        if target is BAD:
            reason = "the server ended"
            gone = ProbeFailed(ProbeFault.NO_SERVER, reason)
            return Probed({0.5: Unknown(reason), 0.99: Unknown(reason)}, gone)
        return Probed({0.5: Known(10e-6), 0.99: Known(next(self.p99))})


def shown(probes: RdmaProbes, seen: Published, now: float = NOW) -> Samples:
    return samples(FabricCollector(lambda: seen, lambda: probes.memory, lambda: now, 90.0).collect())


def busy() -> Published:
    """The tenant vision promises itself a fabric, and runs a gang across n1 and n2."""
    site = replace(SITE, tenants=(replace(SITE.tenants[0], objectives=(FABRIC,)),))
    works = [work("train", WorkPhase.RUNNING, nodes={"n1": 8, "n2": 8})]
    return published(replace(snapshot(works), site=site))


def test_edges_latencies_baselines_and_verdicts_are_shown_and_a_failed_edge_is_left_out() -> None:
    health = Health()
    probes = RdmaProbes(PLAN, ScriptedProber(iter([20e-6] * LEAST_PROBES + [600e-6] * 2)), health, lambda: NOW - 5)
    for _ in range(LEAST_PROBES + 2):
        assert probes.read() == {"n3 to n4": "n3 to n4: the server ended"}
    found = shown(probes, busy())
    edge = ("c1", "n1", "n2")
    assert found["trimtab_rdma_latency_seconds"] == {(*edge, "0.5"): 10e-6, (*edge, "0.99"): 600e-6}
    assert found["trimtab_rdma_baseline_seconds"] == {(*edge, "0.5"): 10e-6, (*edge, "0.99"): 20e-6}
    assert found["trimtab_rdma_probe_age_seconds"] == {edge: 5.0}
    assert found["trimtab_tenant_rdma_latency_ratio"] == {("c1", "vision", "fabric", "n1", "n2"): pytest.approx(10.0)}
    assert health.state().errors == {("rdma", "n3 to n4", "no_server"): LEAST_PROBES + 2}
    assert health.state().last_success_at == {}, "decisions do not need probes: their failure is no blindness"


def test_an_old_probe_keeps_its_age_only() -> None:
    probes = RdmaProbes(PLAN, ScriptedProber(iter([20e-6])), Health(), lambda: NOW)
    probes.read()
    later = NOW + PLAN.stale_after_seconds + 1
    assert shown(probes, busy(), later) == {
        "trimtab_rdma_probe_age_seconds": {("c1", "n1", "n2"): PLAN.stale_after_seconds + 1}
    }


def test_without_a_fresh_picture_nobody_is_judged() -> None:
    probes = RdmaProbes(PLAN, ScriptedProber(iter([20e-6] * LEAST_PROBES)), Health(), lambda: NOW)
    for _ in range(LEAST_PROBES):
        probes.read()
    judged = "trimtab_tenant_rdma_latency_ratio"
    assert judged in shown(probes, busy())
    assert judged not in shown(probes, busy(), NOW + 91)
    assert judged not in shown(probes, replace(busy(), unreadable=frozenset({"pods"})))
    assert judged not in shown(probes, Published("c1"))


def test_a_round_that_is_cut_off_remembers_nothing_of_the_probe_under_way() -> None:
    prober = ScriptedProber(iter([20e-6]), closed=True)
    probes = RdmaProbes(PLAN, prober, Health(), lambda: NOW)
    assert probes.read() == {}
    assert prober.asked == [BAD]
    assert probes.memory.edges == {}


def test_edges_without_a_past_are_counted_for_the_tenant_that_uses_them() -> None:
    probes = RdmaProbes(PLAN, ScriptedProber(iter([20e-6] * LEAST_PROBES)), Health(), lambda: NOW - 5)
    counts = []
    for _ in range(LEAST_PROBES):
        probes.read()
        found = shown(probes, busy())
        counts += [value for labels, value in found["trimtab_tenant_rdma_new_links"].items()]
    assert counts == [1.0] * (LEAST_PROBES - 1) + [0.0]
