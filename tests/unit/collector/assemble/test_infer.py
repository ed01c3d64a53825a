"""A site inferred from what stands in the cluster: whose quota is whose, and from what that was read."""

from __future__ import annotations

from collector.assemble.infer import Inferred, infer_site, with_known_namespaces
from collector.assemble.infer_pools import is_gpu
from collector.model.objects import PriorityClass, ResourceFlavor
from collector.model.tenancy import Engine, Entitlement, Tenant
from tests.pictures import GPU, PRODUCT, PictureMaker


def _inferred(maker: PictureMaker) -> Inferred:
    return infer_site(maker.picture(), "test")


def _tenant(inferred: Inferred, name: str) -> Tenant:
    found = inferred.site.tenant(name)
    assert found is not None, [tenant.name for tenant in inferred.site.tenants]
    return found


def test_a_flavor_with_gpu_quota_is_a_kueue_pool() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.queue("team", None, 8)
    (pool,) = _inferred(maker).site.pools
    assert (pool.name, pool.resource, pool.engine, pool.flavor) == ("h100", GPU, Engine.KUEUE, "h100")
    assert pool.node_selector == {PRODUCT: "H100"}


def test_nodes_that_no_flavor_covers_are_native_pools_by_product() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.node("n1", labels={PRODUCT: "NVIDIA-A100-SXM4-80GB"})
    maker.queue("team", None, 8)
    pools = {pool.name: pool for pool in _inferred(maker).site.pools}
    assert pools["a100-sxm4-80gb"].engine is Engine.NATIVE
    assert pools["a100-sxm4-80gb"].node_selector == {PRODUCT: "NVIDIA-A100-SXM4-80GB"}
    assert pools["a100-sxm4-80gb"].borrow_class is None


def test_a_borrow_class_that_exists_is_taken_for_the_native_pool() -> None:
    maker = PictureMaker()
    maker.node("n0")
    maker.put("priority_classes", "borrow", PriorityClass("borrow", -1000))
    assert _inferred(maker).site.pools[0].borrow_class == "borrow"


def test_nodes_without_a_product_are_one_pool_of_their_resource() -> None:
    maker = PictureMaker()
    maker.node("n0", labels={})
    (pool,) = _inferred(maker).site.pools
    assert (pool.name, dict(pool.node_selector)) == ("gpu", {})


def test_unlabelled_nodes_beside_labelled_ones_stand_in_no_pool() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.node("n1", labels={})
    assert [pool.name for pool in _inferred(maker).site.pools] == ["h100"]


def test_only_accelerators_make_pools() -> None:
    gpus = ("nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.5gb", "huawei.com/Ascend910", "habana.ai/gaudi")
    others = ("rdma/hca_shared", "nvidia.com/gpumem", "nvidia.com/gpucores", "vpc.amazonaws.com/efa", "a.b/fuse")
    assert all(map(is_gpu, gpus))
    assert not any(map(is_gpu, others))


def test_floor_and_float_come_from_the_tenants_own_cohort_and_leaf() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.tenant("vision", floor=16, floating=8)
    inferred = _inferred(maker)
    tenant = _tenant(inferred, "vision")
    assert tenant.entitlements == (Entitlement("h100", 16, 8),)
    assert tenant.members.namespaces == {"vision"}
    assert inferred.tenant_reasons["vision"] == "Cohort tenant-vision and the LocalQueues that lead to it"


def test_a_queue_in_a_shared_cohort_is_a_tenant_with_its_nominal_quota() -> None:
    maker = PictureMaker("h100")
    maker.cohort("all", None)
    for name in ("a", "b"):
        maker.queue(f"{name}-queue", "all", 8, borrow=4 if name == "a" else None)
        maker.namespace(name)
        maker.door(name, f"{name}-queue")
    inferred = _inferred(maker)
    assert _tenant(inferred, "a-queue").entitlements == (Entitlement("h100", 8, ceiling=12),)
    assert _tenant(inferred, "b-queue").entitlements == (Entitlement("h100", 8),)


def test_a_namespace_with_two_queues_belongs_where_it_is_least_one_of_many() -> None:
    maker = PictureMaker("h100")
    maker.queue("common", "all", 8)
    maker.queue("own", "all", 4)
    for namespace in ("a", "b"):
        maker.namespace(namespace)
        maker.door(namespace, "common")
    maker.door("a", "own", "mine")
    inferred = _inferred(maker)
    assert _tenant(inferred, "own").members.namespaces == {"a"}
    assert _tenant(inferred, "own").entitlements == (Entitlement("h100", 4),)
    assert _tenant(inferred, "common").members.namespaces == {"b"}
    assert inferred.notes == ("ClusterQueue common is shared by common, own: its quota counts as nobody's guarantee",)


def test_workspaces_of_kubesphere_come_before_queues() -> None:
    maker = PictureMaker("h100")
    maker.tenant("vision", floor=16)
    maker.namespace("vision", kubesphere_io__workspace="research")
    inferred = _inferred(maker)
    tenant = _tenant(inferred, "research")
    assert tenant.members.workspaces == {"research"}
    assert tenant.entitlements[0].guarantee == 16


def test_a_namespace_with_gpu_pods_alone_is_a_tenant_and_one_without_is_none() -> None:
    maker = PictureMaker()
    maker.node("n0")
    maker.namespace("tools")
    maker.namespace("kube-system")
    maker.pod("tools", "notebook", "n0", gpus=1)
    assert [tenant.name for tenant in _inferred(maker).site.tenants] == ["tools"]


def test_a_resource_quota_is_the_guarantee_on_plain_kubernetes() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.namespace("a")
    maker.resource_quota("a", 4)
    maker.resource_quota("a", 2, name="smaller")
    maker.resource_quota("a", 3, name="trimtab-cap", scope="PriorityClass In [borrow]")
    (tenant,) = _inferred(maker).site.tenants
    assert tenant.entitlements == (Entitlement("h100", guarantee=2, floating=3),)


def test_reserved_and_equal_names_get_names_of_their_own() -> None:
    maker = PictureMaker()
    maker.node("n0")
    for namespace in ("unassigned", "shared", "x"):
        maker.namespace(namespace)
        maker.pod(namespace, "p", "n0", 1)
    maker.namespace("y", kubesphere_io__workspace="x")
    maker.pod("y", "p", "n0", 1)
    names = sorted(tenant.name for tenant in _inferred(maker).site.tenants)
    assert names == ["shared-tenant", "unassigned-tenant", "x", "x-2"]


def test_classes_of_kueue_are_named_as_what_may_become_tiers() -> None:
    maker = PictureMaker()
    maker.put("workload_priority_classes", "prod", PriorityClass("prod", 100))
    inferred = _inferred(maker)
    assert [tier.name for tier in inferred.site.tiers] == ["standard"]
    assert "prod" in inferred.notes[0]


def test_a_flavor_without_labels_covers_every_node_of_its_resource() -> None:
    maker = PictureMaker("any")
    maker.node("n0", labels={"a": "b"})
    maker.queue("q", None, 8)
    maker.put("flavors", "any", ResourceFlavor("any", {}))
    assert [pool.engine for pool in _inferred(maker).site.pools] == [Engine.KUEUE]


def test_namespaces_that_may_not_be_listed_are_known_from_what_is_in_them() -> None:
    maker = PictureMaker()
    maker.node("n0")
    maker.pod("tools", "p", "n0", 1)
    hidden = maker.picture(unreadable={"namespaces": "403 Forbidden"})
    assert set(with_known_namespaces(hidden).namespaces) == {"tools"}
    assert with_known_namespaces(maker.picture()).namespaces == {}


def test_a_workspace_with_one_namespace_in_a_native_pool_is_named_by_that_namespace() -> None:
    maker = PictureMaker()
    maker.node("n0")
    maker.namespace("a", kubesphere_io__workspace="research")
    maker.resource_quota("a", 4)
    assert _tenant(_inferred(maker), "research").members.namespaces == {"a"}
