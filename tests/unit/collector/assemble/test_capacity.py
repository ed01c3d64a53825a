"""Nodes and quota: what a pool can use, and what stands in the engine for whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from collector.assemble.capacity import floating_now, kueue_quota_total, leaf_amount, pool_nodes, root_cohort
from collector.model.objects import Cohort, FlavorQuota, ResourceQuota
from collector.model.reading import Known, Unknown
from collector.model.snapshot import NodeState, PoolState
from collector.model.tenancy import Engine
from tests.builders import H100
from tests.pictures import GPU, PictureMaker


def test_a_pool_is_the_selected_nodes_with_its_resource_in_order_of_name() -> None:
    maker = PictureMaker()
    maker.node("b")
    maker.node("a", gpus=4)
    maker.node("other", labels={"nvidia.com/gpu.product": "A100"})
    maker.node("empty", gpus=0)
    maker.pod("vision", "runs", "a", gpus=3)
    maker.pod("vision", "ends", "b", gpus=1, deleted_at=1.0)
    maker.pod("vision", "over", "b", gpus=8, phase="Failed")
    assert pool_nodes(maker.picture(), H100) == (NodeState("a", 4, 3), NodeState("b", 8, 1))


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ({"ready": False}, "not ready"),
        ({"cordoned": True}, "cordoned"),
        ({"hard_taints": ("nvidia.com/gpu", "maintenance")}, "tainted maintenance"),
        ({"hard_taints": ("nvidia.com/gpu",)}, None),
    ],
)
def test_a_node_that_takes_no_work_offers_nothing(trouble: dict[str, Any], why: str | None) -> None:
    maker = PictureMaker()
    maker.node("n", **trouble)
    pool = PoolState(H100, pool_nodes(maker.picture(), H100))
    assert pool.nodes[0].unusable == why
    assert pool.allocatable == pool.nodes[0].free == (0 if why else 8)
    assert pool.fits(1, 8) is (why is None)


def test_pods_fit_node_by_node_not_by_the_sum() -> None:
    nodes = tuple(NodeState(f"n{number}", 8, 4) for number in range(4))
    pool = PoolState(H100, nodes)
    assert pool.fits(4, 4)
    assert not pool.fits(1, 8)
    assert pool.fits(1, 8, {"n0": 4})


def test_quota_is_summed_over_all_queues_and_cohorts() -> None:
    maker = PictureMaker()
    maker.tenant("vision", 16, 8)
    maker.queue("alone", None, nominal=4)
    maker.cohort("trimtab-shared", "site", 2)
    assert kueue_quota_total(maker.picture(), H100) == Known(30)
    holes = maker.picture(unreadable={"clusterqueues": "forbidden"})
    assert kueue_quota_total(holes, H100) == Unknown("clusterqueues not readable: forbidden")


def test_a_leaf_is_read_in_its_own_flavor_and_resource() -> None:
    maker = PictureMaker()
    quotas = {("h100", GPU): FlavorQuota(8), ("a100", GPU): FlavorQuota(3), ("h100", "rdma/hca"): FlavorQuota(1)}
    maker.put("cohorts", "trimtab-vision", Cohort("trimtab-vision", "tenant-vision", quotas))
    assert leaf_amount(maker.picture(), "trimtab-vision", H100) == Known(8)
    assert floating_now(maker.picture(), "vision", replace(H100, flavor="a100"), ()) == Known(3)


def test_a_native_float_is_the_cap_of_its_namespace_and_no_cap_is_no_number() -> None:
    native = replace(H100, engine=Engine.NATIVE, flavor=None)
    cap = ResourceQuota("vision", "trimtab-cap", {native.resource: 3}, {}, "PriorityClass In [borrow]")
    picture = replace(PictureMaker().picture(), resource_quotas=(cap,))
    assert floating_now(picture, "vision", native, ["vision"]) == Known(3)
    assert isinstance(floating_now(PictureMaker().picture(), "vision", native, ["vision"]), Unknown)


def test_cohorts_that_form_a_ring_have_a_root_all_the_same() -> None:
    ring = {"a": Cohort("a", "b", {}), "b": Cohort("b", "a", {})}
    assert root_cohort(ring, "a") == "a"
    assert root_cohort({"leaf": Cohort("leaf", "top", {})}, "leaf") == "top"
