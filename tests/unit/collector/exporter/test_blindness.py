"""Each source of the cluster role taken away in turn: what it told is gone and never 0, the rest stays, and it is said.

The node role's sources are taken away in test_node_role; real ones in tests/e2e/test_story_5_blind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from collector.assemble.assemble import NEEDED_KINDS
from collector.assemble.idle_held import GpuUse
from collector.exporter.families import OF_NAMESPACES, OF_NODES, OF_WORK
from collector.exporter.health import DeviceSeen, Health
from collector.exporter.health_families import blindness_families
from collector.exporter.rdma import RdmaProbes
from collector.sources.scrape import ScrapeFault
from tests.unit.collector.exporter.published import NOW, Samples, published, samples, scraped
from tests.unit.collector.exporter.test_cluster_role import OWNED, WAITING, Pictures, picture, role
from tests.unit.collector.exporter.test_gpu_exporters import ONE, TWO, exporters, text
from tests.unit.collector.exporter.test_rdma import PLAN, ScriptedProber

AGE = "trimtab_collector_source_age_seconds"
COVERAGE = "trimtab_collector_source_coverage_ratio"
LAST_ERROR = "trimtab_collector_last_error_timestamp_seconds"


def sight(health: Health, now: float = NOW) -> Samples:
    return samples(blindness_families(health.state(), "c1", "", now))


def of(found: Mapping[tuple[str, ...], float], source: str) -> dict[str, float]:
    return {key[3]: value for key, value in found.items() if key[2] == source}


@pytest.mark.parametrize("kind", NEEDED_KINDS)
def test_a_kind_of_object_that_can_not_be_read_is_said_and_what_is_made_of_it_is_gone(kind: str) -> None:
    pictures = Pictures(picture(WAITING))
    made, health = role(pictures)
    before = scraped(made.tick(OWNED))
    pictures.shown = replace(pictures.shown, unreadable={kind: "forbidden"})
    pictures.now = NOW + 30
    shown = made.tick(OWNED)
    after = scraped(shown, now=NOW + 30)
    assert shown.snapshot is not None
    assert [reason for reason in shown.snapshot.blind if kind in reason]
    made_of = {
        "trimtab_tenant_namespace_info": OF_NAMESPACES,
        "trimtab_pool_capacity_gpus": OF_NODES,
        "trimtab_tenant_entitled_gpus": OF_WORK,
        "trimtab_queue_pending_workloads": OF_WORK,
    }
    for name, kinds in made_of.items():
        assert name in before
        assert (name in after) == (kind not in kinds), name
    assert after["trimtab_tenant_guarantee_gpus"] == before["trimtab_tenant_guarantee_gpus"], "it stands in Git"
    seen = sight(health, NOW + 30)
    assert of(seen[COVERAGE], "kubernetes") == {one: float(one != kind) for one in NEEDED_KINDS}
    assert of(seen[AGE], "kubernetes") == {one: 30.0 if one == kind else 0.0 for one in NEEDED_KINDS}
    assert health.state().last_success_at == {"kubernetes": NOW}, "the source as a whole was last read before"


def test_a_kind_with_objects_that_can_not_be_understood_covers_less() -> None:
    made, health = role(Pictures(picture(malformed={"workloads": ("w1: no spec",)})))
    made.tick(OWNED)
    seen = sight(health)
    assert of(seen[COVERAGE], "kubernetes")["workloads"] == 0
    unknown = seen["trimtab_collector_unknown_readings"]
    assert unknown == {("c1", "", "kubernetes", "workloads", "malformed"): 1}


def test_an_api_server_that_is_away_leaves_ages_and_no_zeros() -> None:
    pictures = Pictures(picture(WAITING))
    made, health = role(pictures)
    made.tick(OWNED)
    pictures.shown, pictures.now = replace(pictures.shown, age_seconds=300.0), NOW + 300
    after = scraped(made.tick(OWNED), now=NOW + 300)
    assert set(after) == {"trimtab_tenant_guarantee_gpus"}
    assert set(of(sight(health, NOW + 300)[AGE], "kubernetes").values()) == {300.0}


def test_a_gpu_exporter_that_is_away_costs_its_own_node_alone() -> None:
    gpus, health = exporters({ONE: text("node-1"), TWO: ScrapeFault.TIMEOUT})
    gpus.read()
    seen = sight(health, NOW + 5)
    assert of(seen[COVERAGE], "dcgm") == {"node-1:9400": pytest.approx(1 / 3), "node-2:9400": 0}
    assert of(seen[AGE], "dcgm") == {"node-1:9400": 5.0}, "one that was never read has no age"
    assert [key for key in seen[LAST_ERROR] if key[2] == "dcgm"] == [("c1", "", "dcgm", "node-2:9400", "timeout")]


def test_an_edge_that_can_not_be_probed_costs_no_other() -> None:
    health = Health(lambda: NOW)
    RdmaProbes(PLAN, ScriptedProber(iter([20e-6])), health, lambda: NOW).read()
    seen = sight(health, NOW + 5)
    assert of(seen[COVERAGE], "rdma") == {"n1 to n2": 1.0, "n3 to n4": 0.0}
    assert of(seen[AGE], "rdma") == {"n1 to n2": 5.0}


def test_a_tenant_is_covered_as_far_as_its_gpus_can_be_judged() -> None:
    uses = {("vision", "h100"): GpuUse(held=8, unknown=2), ("nlp", "h100"): GpuUse(held=4, unknown=4)}
    found = scraped(published(uses=uses))["trimtab_tenant_coverage_ratio"]
    assert found == {("c1", "vision", "h100"): 0.75, ("c1", "nlp", "h100"): 0.0}, "who holds none has no coverage"


def test_what_was_seen_once_keeps_its_age_when_it_vanishes() -> None:
    health = Health(lambda: NOW)
    health.seen("sysfs", "mlx5_0", DeviceSeen(NOW, known=3, unknown={"unreadable": 1}))
    assert sight(health)[COVERAGE] == {("c1", "", "sysfs", "mlx5_0"): 0.75}
    health.unseen("sysfs", "mlx5_0")
    later = sight(health, NOW + 60)
    assert (later[AGE], later[COVERAGE]) == (
        {("c1", "", "sysfs", "mlx5_0"): 60.0},
        {("c1", "", "sysfs", "mlx5_0"): 0.0},
    )
