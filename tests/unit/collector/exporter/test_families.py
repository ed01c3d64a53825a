"""What the exporter says: every name from the catalogue, and nothing that it can not vouch for."""

from __future__ import annotations

from itertools import chain

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from collector.assemble.clocks import WaitClocks
from collector.assemble.idle_held import GpuUse
from collector.catalogue.exported import COLLECTOR, HOLDINGS, POOLS, QUEUES, TENANTS
from collector.catalogue.exported_strays import STRAYS
from collector.exporter.families import Published, SnapshotCollector, cluster_families
from collector.exporter.health import Health, HealthState
from collector.exporter.health_families import collector_families
from collector.model.reading import Unknown
from collector.model.snapshot import WaitingName, WorkPhase
from collector.parse.exposition import parse_exposition
from tests.unit.collector.exporter.published import (
    NOW,
    QUEUE,
    published,
    samples,
    scraped,
    snapshot,
    tenant_pool,
    work,
)

OF_EVERY_COLLECTOR = (*QUEUES, *TENANTS, *HOLDINGS, *POOLS, *STRAYS, *COLLECTOR)
KEY = ("c1", "vision", "h100")
IN_QUEUE = ("c1", *QUEUE)
HEALTH = HealthState({("dcgm", "node-1:9400", "timeout"): 3}, {"kubernetes": NOW, "dcgm": 0.0})


def everything() -> str:
    registry = CollectorRegistry()
    collector = SnapshotCollector(published, lambda: HEALTH, lambda: NOW, stale_after_seconds=90, version="1.2.3")
    registry.register(collector)
    return generate_latest(registry).decode()


def test_every_series_is_in_the_catalogue_with_exactly_its_labels_and_nothing_is_left_out() -> None:
    exposition = parse_exposition(everything())
    assert exposition.problems == ()
    exported = {sample.name: frozenset(sample.labels) for sample in exposition.samples}
    assert exported == {metric.name: frozenset(metric.labels) for metric in OF_EVERY_COLLECTOR}


def test_help_and_type_come_from_the_catalogue() -> None:
    text = everything()
    for metric in OF_EVERY_COLLECTOR:
        kind = "counter" if metric.name.endswith("_total") else "gauge"
        assert f"# TYPE {metric.name} {kind}\n" in text
        assert f"# HELP {metric.name} {metric.meaning}\n" in text


def test_amounts_of_a_tenant_are_those_of_the_snapshot() -> None:
    found = scraped(published())
    assert found["trimtab_tenant_entitled_gpus"][KEY] == 32  # 24 running and 8 waiting, burst 32
    assert found["trimtab_tenant_shortfall_gpus"][KEY] == 8
    assert found["trimtab_tenant_guarantee_gpus"][KEY] == 16
    assert found["trimtab_tenant_floating_gpus"][KEY] == 4
    assert found["trimtab_tenant_reserved_gpus"][KEY] == 24
    assert found["trimtab_tenant_running_gpus"][KEY] == 24
    assert found["trimtab_tenant_borrowed_gpus"][KEY] == 4
    assert found["trimtab_tenant_idle_held_gpus"][KEY] == 2


def test_no_demand_is_a_zero_that_is_exported() -> None:
    quiet = tenant_pool(running=0, waiting=0, overdue=0, reserved=0)
    found = scraped(published(snapshot(tenants=[quiet])))
    assert found["trimtab_tenant_entitled_gpus"][KEY] == 0
    assert found["trimtab_tenant_shortfall_gpus"][KEY] == 0


def test_pools_count_usable_nodes_only() -> None:
    found = scraped(published())
    assert found["trimtab_pool_allocatable_gpus"] == {("c1", "h100"): 16}
    assert found["trimtab_pool_free_gpus"] == {("c1", "h100"): 5}


def test_what_is_held_free_and_unusable_is_the_capacity_of_the_pool() -> None:
    found = scraped(published())
    held, unusable = found["trimtab_tenant_held_gpus"], found["trimtab_pool_unusable_gpus"]
    assert held == {KEY: 11, ("c1", "unassigned", "h100"): 0}
    assert unusable == {
        ("c1", "h100", "not ready"): 0,
        ("c1", "h100", "cordoned"): 8,
        ("c1", "h100", "under pressure"): 0,
        ("c1", "h100", "tainted"): 0,
    }
    parts = sum(held.values()) + sum(unusable.values()) + found["trimtab_pool_free_gpus"]["c1", "h100"]
    assert found["trimtab_pool_capacity_gpus"] == {("c1", "h100"): parts}


def test_the_largest_gang_of_each_size_of_pod_tells_fragments_from_free_gpus() -> None:
    found = scraped(published())
    assert found["trimtab_pool_free_gpus"] == {("c1", "h100"): 5}
    assert found["trimtab_pool_largest_gang_gpus"] == {
        ("c1", "h100", "1"): 5,
        ("c1", "h100", "2"): 4,
        ("c1", "h100", "4"): 4,
        ("c1", "h100", "8"): 0,
    }
    assert found["trimtab_pool_withdrawn_gpus"] == {("c1", "h100"): 1}


def test_pods_that_stay_or_stray_are_sums_per_tenant_and_pool() -> None:
    found = scraped(published())
    assert found["trimtab_tenant_stuck_gpus"] == {KEY: 3}
    assert found["trimtab_tenant_off_pool_gpus"] == {("c1", "nlp", "h100"): 4}
    assert found["trimtab_tenant_bystander_pods"] == {("c1", "unassigned", "h100"): 5}


def test_a_queue_of_another_scheduler_tells_its_shares_and_what_it_borrows() -> None:
    shares = scraped(published())["trimtab_scheduler_queue_gpus"]
    queue = ("c1", "volcano", "research", "nvidia.com/gpu")
    assert shares == {
        (*queue, "guaranteed"): 4,
        (*queue, "deserved"): 8,
        (*queue, "ceiling"): 16,
        (*queue, "used"): 12,
        (*queue, "borrowed"): 4,
    }


def test_a_mirror_waits_where_it_was_submitted_and_not_here() -> None:
    found = scraped(published(snapshot([work("mirror", waited_seconds=9e9, sent_from="manager")])))
    assert found["trimtab_queue_oldest_pending_seconds"] == {IN_QUEUE: 0.0}
    assert found["trimtab_queue_pending_workloads"] == {(*IN_QUEUE, "within-limit"): 0}


def test_a_tenant_outside_its_pools_is_seen_to_hold_gpus_there() -> None:
    found = scraped(published(uses={("nlp", "h100"): GpuUse(held=3, unknown=3)}))
    assert found["trimtab_tenant_held_gpus"]["c1", "nlp", "h100"] == 3
    assert found["trimtab_tenant_held_gpus"][KEY] == 0
    assert found["trimtab_tenant_unjudged_gpus"]["c1", "nlp", "h100"] == 3


def test_holdings_that_are_not_known_have_no_sample() -> None:
    missing = scraped(published()).keys() - scraped(published(uses=None)).keys()
    assert missing == {metric.name for metric in HOLDINGS}


def test_namespaces_are_joined_to_their_tenants() -> None:
    info = scraped(published())["trimtab_tenant_namespace_info"]
    assert info == {("c1", "vision-train", "vision"): 1, ("c1", "kube-system", "unassigned"): 1}


def test_the_oldest_wait_and_the_names_of_waiting_are_told_per_queue() -> None:
    works = [
        work("a", waited_seconds=700.0),
        work("b", waited_seconds=60.0, waiting=WaitingName.WITHIN_LIMIT),
        work("c", waited_seconds=9000.0, waiting=WaitingName.INELIGIBLE, ineligible="asks for more than a node has"),
        work("d", WorkPhase.RUNNING, waited_seconds=5000.0),
    ]
    found = scraped(published(snapshot(works)))
    assert found["trimtab_queue_oldest_pending_seconds"] == {IN_QUEUE: 700.0}
    assert found["trimtab_queue_pending_workloads"] == {
        (*IN_QUEUE, "ineligible"): 1,
        (*IN_QUEUE, "starved"): 1,
        (*IN_QUEUE, "within-limit"): 1,
    }


def test_an_empty_queue_is_a_zero_and_not_a_gap() -> None:
    found = scraped(published(snapshot([])))
    assert found["trimtab_queue_oldest_pending_seconds"] == {IN_QUEUE: 0.0}
    assert found["trimtab_queue_pending_workloads"] == {(*IN_QUEUE, "within-limit"): 0}


def test_totals_come_from_the_clocks() -> None:
    found = scraped(published())
    assert found["trimtab_workload_wait_seconds_total"] == {IN_QUEUE: 1234.5}
    assert found["trimtab_workload_evictions_total"] == {IN_QUEUE: 3}


@pytest.mark.parametrize(
    ("change", "gone"),
    [
        ({"floating_now": Unknown("cohorts not readable")}, {"floating", "borrowed"}),
        ({"idle_held": Unknown("no GPU readings")}, {"idle_held"}),
    ],
)
def test_an_unknown_amount_has_no_sample(change: dict[str, object], gone: set[str]) -> None:
    found = scraped(published(snapshot(tenants=[tenant_pool(**change)])))
    missing = {metric.name for metric in TENANTS} - found.keys()
    assert missing == {f"trimtab_tenant_{name}_gpus" for name in gone}


OF_TENANTS = {metric.name for metric in TENANTS} - {"trimtab_tenant_namespace_info", "trimtab_tenant_guarantee_gpus"}
OF_WORK = {metric.name for metric in QUEUES} | OF_TENANTS
OF_TENANTS_STRAYS = {metric.name for metric in STRAYS if "tenant" in metric.labels}
OF_POOLS = {metric.name for metric in (*POOLS, *STRAYS)}
OF_NAMESPACES = {"trimtab_tenant_namespace_info"}


@pytest.mark.parametrize(
    ("kind", "gone"),
    [
        ("namespaces", OF_WORK | OF_NAMESPACES | OF_TENANTS_STRAYS),
        ("nodes", OF_WORK | OF_POOLS),
        ("pods", OF_WORK | OF_POOLS),
        ("jobs", OF_WORK),
        ("workloads", OF_WORK),
        ("localqueues", OF_WORK),
        ("clusterqueues", OF_WORK),
        ("cohorts", set()),
        ("resourcequotas", set()),
    ],
)
def test_a_kind_that_can_not_be_read_takes_away_just_what_is_made_of_it(kind: str, gone: set[str]) -> None:
    before = scraped(published())
    after = scraped(published(unreadable=frozenset({kind})))
    assert before.keys() - after.keys() == gone
    assert all(after[name] == before[name] for name in after)


def test_a_stale_picture_leaves_only_what_stands_in_the_documents() -> None:
    shown = published(picture_age_seconds=60.0)
    assert "trimtab_tenant_entitled_gpus" in scraped(shown, NOW + 30)
    assert scraped(shown, NOW + 31).keys() == {"trimtab_tenant_guarantee_gpus"}


def test_a_loop_that_stands_still_goes_stale_by_itself() -> None:
    assert scraped(published(), NOW + 91).keys() == {"trimtab_tenant_guarantee_gpus"}


def test_before_the_first_picture_there_is_nothing_to_say_about_the_cluster() -> None:
    assert samples(cluster_families(Published("c1"), NOW, 90.0)) == {}


def test_the_collector_tells_about_itself_also_when_it_sees_nothing() -> None:
    health = Health()
    health.expect("kubernetes")
    health.expect("dcgm")
    health.success("dcgm", NOW)
    health.expect("dcgm")
    health.error("kubernetes", "pods", "unreadable")
    health.error("kubernetes", "pods", "unreadable")
    found = samples(collector_families(health.state(), "c1", "1.2.3"))
    assert found == {
        "trimtab_collector_errors_total": {("kubernetes", "pods", "unreadable"): 2},
        "trimtab_collector_last_success_timestamp_seconds": {("c1", "dcgm"): NOW, ("c1", "kubernetes"): 0.0},
        "trimtab_build_info": {("1.2.3",): 1.0},
    }


def test_a_thousand_tenants_are_said_completely() -> None:
    tenants = [tenant_pool(tenant=f"t{number}") for number in range(1000)]
    works = [
        work(
            f"w{number}",
            waited_seconds=float(number),
            tenant=f"t{number % 1000}",
            queue="q",
            namespace=f"t{number % 1000}",
        )
        for number in range(5000)
    ]
    keys = {(f"t{number}", "critical", f"t{number}/q"): float(number) for number in range(1000)}
    clocks = WaitClocks(wait_seconds_total=keys, evictions_total=dict.fromkeys(keys, 1))
    found = scraped(published(snapshot(works, tenants), clocks=clocks, queues=frozenset(keys)))
    assert len(found["trimtab_tenant_entitled_gpus"]) == 1000
    assert found["trimtab_queue_oldest_pending_seconds"]["c1", "t7", "critical", "t7/q"] == 4007.0
    assert len(list(chain.from_iterable(found.values()))) == 8 * 1000 + 5 * 1000 + 2 * 1002 + 24
