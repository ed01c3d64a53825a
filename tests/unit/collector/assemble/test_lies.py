"""Each lie has a picture in which it is told and one, a little better, in which it is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.assemble.infer import infer_site
from collector.assemble.lies import lies
from collector.model.objects import Picture, PriorityClass, ResourceFlavor
from collector.model.snapshot import Lie
from collector.model.tenancy import Engine, Entitlement, Members, Pool, Site, Tenant
from tests.pictures import GPU, PRODUCT, PictureMaker


def _lies(picture: Picture, site: Site | None = None) -> tuple[Lie, ...]:
    return lies(picture, site or infer_site(picture, "test").site)


def _told(picture: Picture, where: str, words: str, site: Site | None = None) -> bool:
    return any(lie.where == where and words in lie.sentence for lie in _lies(picture, site))


def _site() -> PictureMaker:
    """Two tenants on three nodes, everything in order."""
    maker = PictureMaker("h100")
    for number in range(3):
        maker.node(f"n{number}")
    maker.tenant("a", floor=8, floating=4)
    maker.tenant("b", floor=8, floating=4)
    return maker


def test_a_site_in_order_tells_no_lie() -> None:
    assert _lies(_site().picture()) == ()


def test_guarantees_above_what_exists_name_by_how_much() -> None:
    maker = _site()
    maker.cohort("tenant-a", "site", 24, lend=24)
    assert _told(maker.picture(), "pool h100", "promise 40 GPUs, its nodes have 24")
    assert _told(maker.picture(), "pool h100", "Lower nominal quotas by 16")


def test_guarantees_above_what_is_usable_name_the_nodes() -> None:
    maker = _site()
    maker.node("n2", cordoned=True)
    assert _told(maker.picture(), "pool h100", "16 of 24 are usable now (n2 cordoned)")


def test_one_guarantee_above_the_whole_pool() -> None:
    maker = _site()
    maker.cohort("tenant-a", "site", 32, lend=32)
    assert _told(maker.picture(), "tenant a", "more than the whole pool h100 (24)")


def test_lent_guarantee_that_is_never_reclaimed() -> None:
    maker = _site()
    maker.queue("a", "tenant-a", reclaim_within_cohort="Never")
    assert _told(maker.picture(), "ClusterQueue a", "8 guaranteed GPUs may be lent to Cohort site")
    maker.cohort("tenant-a", "site", 8, lend=0)
    assert not _told(maker.picture(), "ClusterQueue a", "may be lent")


def test_a_queue_alone_in_its_cohort_lends_to_nobody() -> None:
    maker = PictureMaker()
    maker.node("n0")
    maker.queue("a", "own", 8, reclaim_within_cohort="Never")
    maker.door("a", "a")
    assert not _told(maker.picture(), "ClusterQueue a", "may be lent")


def test_preemption_while_borrowing_needs_reclaim() -> None:
    maker = _site()
    maker.queue("a", "tenant-a", reclaim_within_cohort="Never", borrow_within_cohort="LowerPriority")
    assert _told(maker.picture(), "ClusterQueue a", "`borrowWithinCohort: LowerPriority` has no effect")


def test_a_float_without_lending_limit_is_no_reserve() -> None:
    maker = _site()
    maker.cohort("tenant-a", "site", 8)
    assert _told(maker.picture(), "Cohort tenant-a", "Set lendingLimit to 8 for nvidia.com/gpu in flavor h100")


def test_a_borrowing_limit_may_shut_a_tenant_out_of_its_own_floor() -> None:
    maker = _site()
    maker.queue("a", "tenant-a", borrow=2)
    assert _told(maker.picture(), "Cohort tenant-a", "stops them at 2")


def test_a_local_queue_to_nowhere() -> None:
    maker = _site()
    maker.door("c", "missing", "gpus")
    assert _told(maker.picture(), "LocalQueue c/gpus", "leads to ClusterQueue missing, which does not exist")


@pytest.mark.parametrize(
    ("cohort", "borrow", "words"),
    [
        (None, None, "belongs to no Cohort"),
        ("site", 0, "may borrow nothing"),
        ("elsewhere", None, "Cohort elsewhere holds nothing"),
    ],
)
def test_a_queue_that_reaches_no_quota_admits_nothing(cohort: str | None, borrow: int | None, words: str) -> None:
    maker = _site()
    maker.queue("c", cohort, 0, borrow=borrow)
    maker.door("c", "c")
    assert _told(maker.picture(), "ClusterQueue c", words)


def test_a_queue_with_nothing_of_its_own_may_live_from_its_cohort() -> None:
    maker = _site()
    maker.queue("c", "site", 0)
    maker.door("c", "c")
    assert not _told(maker.picture(), "ClusterQueue c", "nominal quota is 0")


def test_an_inactive_queue_says_why() -> None:
    maker = _site()
    maker.queue("a", "tenant-a", active=False, inactive_reason="FlavorNotFound: h200")
    assert _told(maker.picture(), "ClusterQueue a", "FlavorNotFound: h200")


def test_quota_that_nobody_can_reach_is_wasted() -> None:
    maker = _site()
    maker.queue("c", None, 4)
    assert _told(maker.picture(), "ClusterQueue c", "keeps 4 GPUs, and no LocalQueue leads to it")


def test_a_flavor_whose_labels_no_node_has() -> None:
    maker = _site()
    maker.put("flavors", "h100", ResourceFlavor("h100", {PRODUCT: "H200"}))
    assert _told(maker.picture(), "ResourceFlavor h100", f"no node with {PRODUCT}=H200 has any")


def test_pods_that_kueue_does_not_count() -> None:
    maker = _site()
    maker.namespace("tools")
    maker.pod("tools", "notebook", "n0", gpus=2)
    assert _told(maker.picture(), "pool h100", "2 GPUs are held by pods that Kueue does not count (namespaces tools)")


def test_two_flavors_on_the_same_nodes_promise_them_twice() -> None:
    picture = _site().picture()
    pools = [Pool(name, GPU, {}, Engine.KUEUE, flavor=name) for name in ("one", "other")]
    assert _told(picture, "pools one and other", "3 nodes (n0, …) stand in both", Site("test", tuple(pools), (), ()))


def test_a_document_that_promises_more_than_kueue_holds() -> None:
    picture = _site().picture()
    inferred = infer_site(picture, "test").site
    written = Tenant("a", "standard", Members(frozenset(("a",))), (Entitlement("h100", 12),))
    assert _told(
        picture, "tenant a", "guarantees 12 GPUs of h100, Kueue holds 8", replace(inferred, tenants=(written,))
    )


def _plain() -> PictureMaker:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.namespace("a")
    maker.resource_quota("a", 8)
    return maker


def test_plain_kubernetes_in_order_tells_no_lie() -> None:
    assert _lies(_plain().picture()) == ()


def test_resource_quotas_above_what_exists() -> None:
    maker = _plain()
    maker.resource_quota("b", 8)
    assert _told(maker.picture(), "pool h100", "ResourceQuotas promise 16 GPUs, its nodes have 8")


def test_a_quota_for_what_no_node_offers() -> None:
    maker = _plain()
    maker.resource_quota("a", 4, resource="amd.com/gpu", name="amd")
    assert _told(maker.picture(), "ResourceQuota a/amd", "4 of amd.com/gpu, which no node has")


def test_a_quota_below_its_use_evicts_nobody() -> None:
    maker = _plain()
    maker.resource_quota("a", 2, used=6, name="low")
    assert _told(maker.picture(), "ResourceQuota a/low", "below the 6 in use")


def test_a_resource_quota_that_refuses_what_kueue_admits() -> None:
    maker = _site()
    maker.resource_quota("a", 4)
    assert _told(maker.picture(), "ResourceQuota a/gpus", "Kueue may admit 12 nvidia.com/gpu here")


def test_one_counter_for_two_models_guarantees_neither() -> None:
    maker = _plain()
    maker.node("n1", labels={PRODUCT: "A100"})
    assert _told(maker.picture(), "ResourceQuotas in a", "guarantee none of a100, h100")


@pytest.mark.parametrize(("value", "told"), [(None, "does not exist"), (0, "is not below"), (-1000, "")])
def test_the_borrow_class_must_exist_and_be_low(value: int | None, told: str) -> None:
    maker = _plain()
    if value is not None:
        maker.put("priority_classes", "borrow", PriorityClass("borrow", value))
    pool = Pool("h100", GPU, {}, Engine.NATIVE, borrow_class="borrow")
    sentences = " ".join(lie.sentence for lie in _lies(maker.picture(), Site("test", (pool,), (), ())))
    assert told in sentences
    assert bool(told) == bool(sentences)


def test_what_can_not_be_seen_is_no_lie() -> None:
    maker = _site()
    maker.cohort("tenant-a", "site", 99)
    picture = replace(maker.picture(), nodes={}, unreadable={"nodes": "403"}, unserved=frozenset(("cohorts",)))
    assert _lies(picture) == ()
