"""The snapshot: who owns what, what each tenant uses, waits for and lacks, and when the picture is no ground to act."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.model.objects import Condition, Picture
from collector.model.reading import Known, Unknown
from collector.model.snapshot import Evidence, Snapshot
from collector.model.tenancy import Members
from tests.builders import agreed, look, pool_of, site_of, work_of
from tests.pictures import NOW, PictureMaker

SITE = site_of(agreed("vision", 16, 8, burst=32), agreed("nlp", 8))


def busy() -> PictureMaker:
    """vision runs 16, starts 8, waits for 8 overdue and 8 within limits, and holds 8 back; nlp borrows 8."""
    maker = PictureMaker()
    for number in range(6):
        maker.node(f"n{number}")
    maker.tenant("vision", 16, 8)
    maker.tenant("nlp", 8)
    maker.running("vision", "runs", ("n0", "n1"), age=9000)
    admitted = Condition(True, "Admitted", "", NOW - 300)
    maker.work("vision", "starts", age=600, cluster_queue="vision", conditions={"QuotaReserved": admitted})
    maker.work("vision", "late", age=7200)
    maker.work("vision", "new", age=60)
    maker.work("vision", "held", active=False)
    maker.running("nlp", "borrows", ("n3", "n4"))
    return maker


def test_a_tenant_is_told_what_it_uses_waits_for_and_lacks() -> None:
    vision = pool_of(look(busy(), SITE), "vision")
    assert (vision.running, vision.reserved) == (16, 24)
    assert (vision.waiting, vision.queued, vision.overdue) == (24, 16, 8)
    assert vision.needed == 40
    assert (vision.demand, vision.shortfall) == (32, 8)
    assert vision.entitled_now == Known(24)
    assert vision.borrowed() == 0
    assert vision.last_admission_at == NOW - 300
    assert pool_of(look(busy(), SITE), "nlp").borrowed() == 8


def test_a_pool_sums_what_all_tenants_hold() -> None:
    pool = look(busy(), SITE).pools["h100"]
    assert (pool.reserved, pool.allocatable, pool.gpus_per_node) == (40, 48, 8)
    assert pool.quota_total == Known(16 + 8 + 8)


def test_demand_beyond_the_burst_is_not_entitled() -> None:
    site = site_of(agreed("vision", 16, 8, burst=20), agreed("nlp", 8))
    vision = pool_of(look(busy(), site), "vision")
    assert (vision.demand, vision.shortfall) == (20, 4)


def test_work_that_can_not_start_counts_neither_as_demand_nor_as_shortfall() -> None:
    maker = busy()
    maker.work("vision", "huge", pods=99)
    vision = pool_of(look(maker, SITE), "vision")
    assert (vision.waiting, vision.overdue) == (24, 8)


def test_an_unreadable_leaf_leaves_the_entitlement_unknown() -> None:
    snapshot = look(busy().picture(unreadable={"cohorts": "forbidden"}), SITE)
    vision = pool_of(snapshot, "vision")
    assert vision.entitled_now == Unknown("cohorts not readable: forbidden")
    assert vision.borrowed() == 0
    assert snapshot.pools["h100"].quota_total == Unknown("cohorts not readable: forbidden")


def test_a_leaf_that_does_not_exist_holds_nothing() -> None:
    maker = busy()
    cohorts = {name: cohort for name, cohort in maker.picture().cohorts.items() if name != "trimtab-vision"}
    assert pool_of(look(replace(maker.picture(), cohorts=cohorts), SITE), "vision").entitled_now == Known(16)


def test_a_namespace_that_two_tenants_claim_is_nobodys_and_is_told() -> None:
    twice = replace(agreed("copy", 8), members=Members(frozenset({"vision"})))
    snapshot = look(busy(), replace(SITE, tenants=(*SITE.tenants, twice)))
    assert work_of(snapshot, "vision/late").tenant == "unassigned"
    assert [lie.where for lie in snapshot.lies] == ["namespace vision"]
    assert "copy" in snapshot.lies[0].sentence
    assert "vision" in snapshot.lies[0].sentence


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"unreadable": {"pods": "timed out"}}, "pods not readable: timed out"),
        ({"age_seconds": 91.0}, "the picture of the cluster is 91 s old"),
    ],
)
def test_a_picture_that_is_stale_or_has_holes_is_blind(more: dict[str, Any], reason: str) -> None:
    assert look(busy().picture(**more), SITE).blind == (reason,)


def test_a_hole_in_what_no_decision_needs_blinds_nobody() -> None:
    snapshot = look(busy().picture(unreadable={"priorityclasses": "forbidden"}, age_seconds=89.0), SITE)
    assert snapshot.blind == ()


def test_blindness_of_prometheus_is_kept_apart_from_that_of_the_cluster() -> None:
    snapshot = look(busy(), SITE, evidence=Evidence(blind=("Prometheus is gone",)))
    assert (snapshot.blind, snapshot.blind_reasons) == ((), ("Prometheus is gone",))


def test_idle_gpus_are_known_per_tenant_and_pool_or_unknown() -> None:
    snapshot = look(busy(), SITE, evidence=Evidence(idle_held={("vision", "h100"): Known(3.0)}))
    assert pool_of(snapshot, "vision").idle_held == Known(3.0)
    assert pool_of(snapshot, "nlp").idle_held == Unknown("no GPU readings")


def test_one_namespace_that_opts_out_opts_its_tenant_out() -> None:
    maker = busy()
    maker.put("namespaces", "nlp", replace(maker.picture().namespaces["nlp"], opted_out=True))
    snapshot = look(maker, SITE)
    assert [(item.tenant, item.opted_out) for item in snapshot.tenants] == [("nlp", True), ("vision", False)]


def shuffled(picture: Picture) -> Picture:
    """The same picture, every mapping and list the other way round."""
    mappings = ("nodes", "namespaces", "pods", "jobs", "workloads", "cluster_queues", "cohorts")
    turned: dict[str, Any] = {name: dict(reversed(getattr(picture, name).items())) for name in mappings}
    return replace(picture, **turned, local_queues=tuple(reversed(picture.local_queues)))


def same(one: Snapshot, other: Snapshot) -> bool:
    return replace(one, site=SITE) == replace(other, site=SITE)


def test_the_order_of_the_objects_means_nothing() -> None:
    turned = replace(SITE, tenants=tuple(reversed(SITE.tenants)))
    assert same(look(busy(), SITE), look(shuffled(busy().picture()), turned))


def test_a_second_look_remembers_the_first() -> None:
    picture = busy().picture()
    _, clocks = assemble(picture, SITE, Evidence(), WaitClocks(), NOW)
    snapshot, clocks = assemble(picture, SITE, Evidence(), clocks, NOW + 30)
    assert work_of(snapshot, "vision/late").waited_seconds == 7230
    assert clocks.wait_seconds_total["vision", "standard", "vision/gpus"] == 3 * 30
