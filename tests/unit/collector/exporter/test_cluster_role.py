"""Ticks over given pictures: what is published, counted, and kept from tick to tick."""

from __future__ import annotations

from dataclasses import replace

from collector.assemble.clocks import WaitClocks
from collector.assemble.gpu_ledger import Devices
from collector.exporter.cluster_role import ClusterRole
from collector.exporter.families import Published
from collector.exporter.health import Health
from collector.model.objects import (
    ClusterQueue,
    FlavorQuota,
    KueueWorkload,
    LocalQueue,
    Namespace,
    Node,
    Picture,
    Pod,
    PodSet,
)
from collector.model.reading import Known
from collector.model.tenancy import Members, Site
from collector.parse.accelerator_readings import gpu_readings
from collector.parse.exposition import parse_exposition
from tests.builders import agreed, site_of
from tests.pictures import PictureMaker
from tests.unit.collector.exporter.published import NOW, SITE, scraped

GPU = "nvidia.com/gpu"
TENANT = replace(SITE.tenants[0], members=Members(namespaces=frozenset({"vision-train"})))
OWNED: Site = replace(SITE, tenants=(TENANT,))
IN_QUEUE = ("c1", "vision", "critical", "vision-train/vision")


def picture(*workloads: KueueWorkload, **more: object) -> Picture:
    nodes = {"n1": Node("n1", {}, {GPU: 8}, ready=True, cordoned=False)}
    quotas = {("h100", GPU): FlavorQuota(8)}
    fields: dict[str, object] = {
        "nodes": nodes,
        "namespaces": {"vision-train": Namespace("vision-train", {})},
        "local_queues": (LocalQueue("vision-train", "vision", "vision"),),
        "cluster_queues": {"vision": ClusterQueue("vision", None, quotas)},
        "workloads": {workload.uid: workload for workload in workloads},
    }
    return Picture(taken_at=NOW, **(fields | more))  # type: ignore[arg-type]  # a test's shorthand


WAITING = KueueWorkload("w1", "vision-train", "job-a", "vision", NOW - 400, (PodSet(1, {GPU: 8}),))


class Pictures:
    """Shows what it was given last."""

    def __init__(self, shown: Picture) -> None:
        self.shown, self.now = shown, NOW

    def picture(self, now: float) -> Picture:
        return replace(self.shown, taken_at=now)

    def clock(self) -> float:
        return self.now


def role(pictures: Pictures) -> tuple[ClusterRole, Health]:
    health = Health()
    made = ClusterRole(pictures, lambda _: Devices(), health, pictures.clock, WaitClocks(), Published("c1"))
    return made, health


def test_a_picture_becomes_metrics() -> None:
    made, health = role(Pictures(picture(WAITING)))
    found = scraped(made.tick(OWNED))
    assert found["trimtab_tenant_entitled_gpus"]["c1", "vision", "h100"] == 8
    assert found["trimtab_tenant_shortfall_gpus"]["c1", "vision", "h100"] == 8  # waits 400 s, limit 300 s
    assert found["trimtab_queue_oldest_pending_seconds"] == {IN_QUEUE: 400.0}
    assert found["trimtab_tenant_namespace_info"] == {("c1", "vision-train", "vision"): 1.0}
    assert health.state().last_success_at == {"kubernetes": NOW}
    assert health.state().errors == {}


def test_before_the_first_tick_the_source_is_expected_and_was_never_read() -> None:
    made, health = role(Pictures(picture()))
    assert health.state().last_success_at == {"kubernetes": 0.0}
    assert made.published.snapshot is None


def test_an_empty_queue_is_there_before_any_work_was_seen() -> None:
    made, _ = role(Pictures(picture()))
    assert scraped(made.tick(OWNED))["trimtab_queue_oldest_pending_seconds"] == {IN_QUEUE: 0.0}


def test_a_removed_queue_leaves_no_gauge_behind() -> None:
    pictures = Pictures(picture())
    made, _ = role(pictures)
    made.tick(OWNED)
    pictures.shown = picture(local_queues=())
    assert "trimtab_queue_oldest_pending_seconds" not in scraped(made.tick(OWNED))


def test_waits_add_up_over_ticks() -> None:
    pictures = Pictures(picture(WAITING))
    made, _ = role(pictures)
    made.tick(OWNED)
    before = sum(made.published.clocks.wait_seconds_total.values())
    pictures.now = NOW + 60
    made.tick(OWNED)
    assert sum(made.published.clocks.wait_seconds_total.values()) == before + 60


def test_what_can_not_be_read_is_counted_and_stops_no_clock() -> None:
    pictures = Pictures(picture(WAITING))
    made, health = role(pictures)
    made.tick(OWNED)
    pictures.shown, pictures.now = picture(unreadable={"workloads": "403"}), NOW + 30
    found = scraped(made.tick(OWNED), NOW + 30)
    assert "trimtab_tenant_entitled_gpus" not in found
    assert "trimtab_workload_wait_seconds_total" not in found
    assert health.state().errors == {("kubernetes", "workloads", "unreadable"): 1}
    assert health.state().last_success_at == {"kubernetes": NOW}
    pictures.shown, pictures.now = picture(WAITING), NOW + 60
    found = scraped(made.tick(OWNED), NOW + 60)
    assert found["trimtab_queue_oldest_pending_seconds"] == {IN_QUEUE: 460.0}
    assert health.state().last_success_at == {"kubernetes": NOW + 60}


def test_an_old_picture_is_no_success() -> None:
    made, health = role(Pictures(picture(WAITING, age_seconds=91.0)))
    assert scraped(made.tick(OWNED)).keys() == {"trimtab_tenant_guarantee_gpus"}
    assert health.state().last_success_at == {"kubernetes": 0.0}


def test_an_object_that_can_not_be_understood_is_counted_and_the_rest_is_used() -> None:
    made, health = role(Pictures(picture(WAITING, malformed={"pods": ("no uid",)})))
    assert "trimtab_tenant_entitled_gpus" in scraped(made.tick(OWNED))
    assert health.state().errors == {("kubernetes", "pods", "malformed"): 1}


def test_who_holds_what_is_published_also_by_whom_no_tenant_owns() -> None:
    pods = {
        name: Pod(name, namespace, name, "Running", {GPU: 2}, NOW - 60, node="n1")
        for name, namespace in (("p1", "vision-train"), ("p2", "somewhere"))
    }
    ticking, _ = role(Pictures(picture(pods=pods)))
    found = scraped(ticking.tick(OWNED))
    assert found["trimtab_tenant_held_gpus"] == {("c1", "vision", "h100"): 2, ("c1", "unassigned", "h100"): 2}
    assert found["trimtab_tenant_unjudged_gpus"]["c1", "vision", "h100"] == 2
    assert found["trimtab_pool_capacity_gpus"]["c1", "h100"] == 8
    assert found["trimtab_pool_free_gpus"]["c1", "h100"] == 4


def test_a_gang_that_spins_for_ten_minutes_is_exported_as_hung_and_until_it_ends() -> None:
    maker = PictureMaker()
    maker.node("n0")
    maker.tenant("vision", floor=16)
    maker.running("vision", "train", ("n0",))
    site = site_of(agreed("vision", 16))
    gpus = [f'gpu="{n}",UUID="GPU-{n}",modelName="NVIDIA H100",Hostname="n0"' for n in range(8)]
    owned = [f'{{{gpu},namespace="vision",pod="train-0",container="c"}}' for gpu in gpus]
    values = {"DCGM_FI_DEV_GPU_UTIL": 100, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": 0, "DCGM_FI_DEV_POWER_USAGE": 140}
    text = "\n".join(f"{name}{labels} {value}" for name, value in values.items() for labels in owned)
    readings = gpu_readings(parse_exposition(text))
    pictures = Pictures(maker.picture())
    made = ClusterRole(
        pictures,
        lambda _: Devices(Known(readings), 600.0, readings),
        Health(),
        pictures.clock,
        WaitClocks(),
        Published("test"),
    )
    hung = ("test", "vision", "h100", "hung")
    for _ in range(10):
        found = scraped(made.tick(site), pictures.now)
        assert found["trimtab_tenant_troubled_gpus"][hung] == 0
        pictures.now += 60
    found = scraped(made.tick(site), pictures.now)
    assert found["trimtab_tenant_troubled_gpus"][hung] == 8
    assert found["trimtab_tenant_troubled_workloads"][hung] == 1
    assert found["trimtab_tenant_trouble_seconds"][hung] == 600
    empty = PictureMaker()
    empty.node("n0")
    empty.tenant("vision", floor=16)
    pictures.shown = empty.picture()
    assert scraped(made.tick(site), pictures.now)["trimtab_tenant_troubled_gpus"][hung] == 0
