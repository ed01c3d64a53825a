"""Why work waits, by name: one hand-built cluster per name, and one sentence that a person can use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from collector.model.objects import ClusterQueue, Condition, Pod
from collector.model.snapshot import WaitingName, Work, WorkPhase
from collector.model.tenancy import Site
from tests.builders import H100, agreed, look, site_of, work_of
from tests.pictures import GPU, NOW, PictureMaker

SITE = site_of(agreed("vision", 8, 8, burst=32, ceiling=32, tier="critical"), agreed("nlp", 8))
ADMITTED = Condition(True, "Admitted", "", NOW - 3000)


def cluster(nodes: int = 4) -> PictureMaker:
    """Nodes of 8 GPUs; vision is entitled to 8 + 8, nlp to 8; 8 are lent to everybody."""
    maker = PictureMaker()
    for number in range(nodes):
        maker.node(f"n{number}")
    maker.tenant("vision", 8, 8)
    maker.tenant("nlp", 8)
    maker.cohort("trimtab-shared", "site", 8)
    return maker


def named(maker: PictureMaker, site: Site = SITE, title: str = "vision/late") -> Work:
    return work_of(look(maker, site), title)


def vision_uses_all_of_its_own(maker: PictureMaker) -> None:
    maker.running("vision", "old", ("n0", "n1"))
    maker.work("vision", "late")


def test_own_entitlement_used_up_while_others_borrow_is_starved() -> None:
    maker = cluster()
    vision_uses_all_of_its_own(maker)
    maker.running("nlp", "big", ("n2", "n3"))
    late = named(maker)
    assert late.waiting is WaitingName.STARVED
    assert late.why == (
        "vision uses 16 of its 16 GPUs and asks for 8 more, while nlp borrows 8; 8 GPUs of float would start it."
    )


def test_work_of_nobody_borrows_all_that_it_uses() -> None:
    maker = cluster()
    vision_uses_all_of_its_own(maker)
    maker.namespace("lab")
    maker.door("lab", "nlp")
    maker.running("lab", "probe", ("n2",))
    late = named(maker)
    assert late.waiting is WaitingName.STARVED
    assert "unassigned borrows 8" in late.why


def test_own_entitlement_used_up_and_nobody_borrows_is_short_of_capacity() -> None:
    maker = cluster()
    vision_uses_all_of_its_own(maker)
    maker.running("nlp", "fair", ("n2",))
    late = named(maker)
    assert late.waiting is WaitingName.SHORT_OF_CAPACITY
    assert "nobody borrows" in late.why


def test_an_entitlement_too_small_for_the_whole_gang_is_used_up_for_it() -> None:
    maker = cluster()
    maker.running("vision", "old", ("n0",))
    maker.running("nlp", "big", ("n2", "n3"))
    maker.work("vision", "late", pods=2)
    late = named(maker)
    assert late.waiting is WaitingName.STARVED
    assert "8 GPUs of float would start it" in late.why


def test_free_entitlement_without_whole_nodes_is_blocked() -> None:
    maker = cluster()
    maker.running("nlp", "spread", ("n0", "n1", "n2", "n3"), gpus=2)
    maker.work("vision", "late", pods=2)
    late = named(maker)
    assert late.waiting is WaitingName.BLOCKED
    assert "2 x 8" in late.why


def test_cordoned_and_tainted_nodes_offer_no_place() -> None:
    maker = cluster(nodes=0)
    maker.node("n0", cordoned=True)
    maker.node("n1", ready=False)
    maker.node("n2", hard_taints=("maintenance",))
    maker.work("vision", "late")
    assert named(maker).waiting is WaitingName.BLOCKED


def test_quota_and_nodes_free_and_nothing_admitted_for_long_is_broken() -> None:
    maker = cluster()
    maker.work("vision", "late")
    late = named(maker)
    assert late.waiting is WaitingName.BROKEN
    assert "nothing was admitted for 2h" in late.why


def test_quota_and_nodes_just_free_means_that_it_should_start_now() -> None:
    maker = cluster()
    maker.work("vision", "late")
    maker.running("vision", "fresh", ("n0",), age=60)
    late = named(maker)
    assert late.waiting is WaitingName.WITHIN_LIMIT
    assert "should start now" in late.why


def test_admitted_work_whose_pods_find_no_node_is_blocked() -> None:
    maker = cluster(nodes=1)
    maker.running("vision", "half", ("n0",))
    maker.work("vision", "late", cluster_queue="vision", conditions={"QuotaReserved": ADMITTED})
    late = named(maker)
    assert (late.phase, late.waiting) == (WorkPhase.STARTING, WaitingName.BLOCKED)


def test_work_that_was_admitted_a_moment_ago_is_starting_and_not_broken() -> None:
    maker = cluster()
    just_now = replace(ADMITTED, since=NOW - 5.0)
    maker.work("vision", "late", cluster_queue="vision", conditions={"QuotaReserved": just_now})
    late = named(maker)
    assert (late.phase, late.waiting) == (WorkPhase.STARTING, WaitingName.WITHIN_LIMIT)
    assert late.why == "Admitted 5s ago; its pods are starting."


def test_admitted_work_with_nodes_free_that_is_not_ready_is_broken() -> None:
    maker = cluster()
    maker.work("vision", "late", cluster_queue="vision", conditions={"QuotaReserved": ADMITTED})
    late = named(maker)
    assert (late.phase, late.waiting) == (WorkPhase.STARTING, WaitingName.BROKEN)


@pytest.mark.parametrize(("age", "limit"), [(60.0, "limit 5m"), (299.0, "limit 5m")])
def test_work_within_its_limit_is_told_its_limit(age: float, limit: str) -> None:
    maker = cluster()
    vision_uses_all_of_its_own(maker)
    maker.work("vision", "new", age=age)
    new = named(maker, title="vision/new")
    assert new.waiting is WaitingName.WITHIN_LIMIT
    assert limit in new.why
    assert not new.overdue


def test_work_that_has_no_limit_is_never_overdue() -> None:
    maker = cluster()
    vision_uses_all_of_its_own(maker)
    late = named(maker, site_of(agreed("vision", 8, 8, tier="best-effort"), agreed("nlp", 8)))
    assert late.waiting is WaitingName.WITHIN_LIMIT
    assert "no limit is set" in late.why


def test_an_unreadable_leaf_is_no_zero_and_so_gives_no_name() -> None:
    maker = cluster()
    vision_uses_all_of_its_own(maker)
    maker.running("nlp", "big", ("n2", "n3"))
    snapshot = look(maker.picture(unreadable={"cohorts": "forbidden"}), SITE)
    late = work_of(snapshot, "vision/late")
    assert late.waiting is None
    assert late.why == "Can not be named: cohorts not readable: forbidden."
    assert snapshot.blind == ("cohorts not readable: forbidden",)


def test_a_tenant_without_agreement_in_the_pool_gets_no_name() -> None:
    maker = cluster()
    vision_uses_all_of_its_own(maker)
    site = site_of(replace(SITE.tenants[0], entitlements=()), agreed("nlp", 8))
    assert named(maker, site).why == "Its tenant has no entitlement in this pool."


def suspended(maker: PictureMaker) -> None:
    maker.work("vision", "late", active=False)


def larger_than_a_node(maker: PictureMaker) -> None:
    maker.work("vision", "late", gpus=16)


def larger_than_the_pool(maker: PictureMaker) -> None:
    maker.work("vision", "late", pods=5)


def above_the_ceiling(maker: PictureMaker) -> None:
    maker.node("n4")
    maker.work("vision", "late", pods=5)


def at_the_ceiling(maker: PictureMaker) -> None:
    maker.running("vision", "old", ("n0", "n1", "n2"))
    maker.work("vision", "late", pods=2)


def without_door(maker: PictureMaker) -> None:
    maker.work("vision", "late", queue="typo", flavors={GPU: "h100"})


def behind_a_door_to_nowhere(maker: PictureMaker) -> None:
    maker.door("vision", "gone", name="lost")
    maker.work("vision", "late", queue="lost", flavors={GPU: "h100"})


def behind_a_stopped_door(maker: PictureMaker) -> None:
    maker.door("vision", "vision", name="closed", stopped=True)
    maker.work("vision", "late", queue="closed")


def behind_a_stopped_queue(maker: PictureMaker) -> None:
    maker.queue("halted", "tenant-vision", stop_policy="Hold")
    maker.door("vision", "halted", name="halted")
    maker.work("vision", "late", queue="halted")


def behind_an_inactive_queue(maker: PictureMaker) -> None:
    idle = ClusterQueue("idle", None, maker.quota(8), active=False, inactive_reason="FlavorNotFound: h100")
    maker.put("cluster_queues", "idle", idle)
    maker.door("vision", "idle", name="idle")
    maker.work("vision", "late", queue="idle")


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (suspended, "suspended by its user"),
        (larger_than_a_node, "a pod asks for 16 GPUs, the largest node of pool h100 has 8"),
        (larger_than_the_pool, "asks for 40 GPUs, pool h100 has 32"),
        (above_the_ceiling, "asks for 40 GPUs, above its tenant's ceiling of 32"),
        (at_the_ceiling, "its tenant uses 24 of its ceiling of 32 GPUs"),
        (without_door, "its queue vision/typo does not exist"),
        (behind_a_door_to_nowhere, "its queue leads to ClusterQueue gone, which does not exist"),
        (behind_a_stopped_door, "its queue is stopped (closed)"),
        (behind_a_stopped_queue, "its queue is stopped (halted)"),
        (behind_an_inactive_queue, "ClusterQueue idle is not active: FlavorNotFound: h100"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_work_that_can_not_start_whatever_the_quota_is_told_why(
    happens: Callable[[PictureMaker], None], why: str
) -> None:
    maker = cluster()
    happens(maker)
    late = named(maker)
    assert (late.waiting, late.ineligible) == (WaitingName.INELIGIBLE, why)
    assert late.why == f"Can not start: {why}."
    assert not late.overdue


def test_work_that_asks_for_what_no_pool_offers_is_told_so() -> None:
    maker = cluster()
    maker.put("pods", "odd", Pod("odd", "vision", "late", "Pending", {"example.com/npu": 1}, NOW - 7200))
    late = named(maker)
    assert late.ineligible == "no known pool offers what it asks for"
    assert late.pool is None


def test_running_work_is_not_named() -> None:
    maker = cluster()
    maker.running("vision", "old", ("n0",))
    old = named(maker, title="vision/old")
    assert (old.phase, old.waiting, old.why) == (WorkPhase.RUNNING, None, "")


def test_a_pool_of_another_product_is_another_pool() -> None:
    maker = cluster()
    other = replace(H100, name="a100", flavor="a100")
    maker.running("vision", "old", ("n0", "n1"))
    maker.running("nlp", "big", ("n2", "n3"))
    maker.work("vision", "late")
    site = replace(SITE, pools=(other, H100))
    assert named(maker, site).waiting is WaitingName.STARVED
