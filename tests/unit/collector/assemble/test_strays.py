"""Pods that hold GPUs and do not go away, pods on nodes where they should not be, and nodes that lost devices."""

from __future__ import annotations

from collector.model.objects import Bystander
from collector.model.snapshot import Snapshot
from collector.model.strays import Bystanders, OffPool, StuckPod
from collector.model.tenancy import Engine, Pool
from tests.builders import H100, agreed, look, site_of
from tests.pictures import GPU, NOW, PRODUCT, PictureMaker

A100 = Pool("a100", GPU, {PRODUCT: "A100"}, Engine.NATIVE)
SITE = site_of(agreed("vision", 8), pools=(H100, A100))


def cluster() -> PictureMaker:
    maker = PictureMaker()
    maker.node("n0")
    maker.node("n1", labels={PRODUCT: "A100"})
    maker.tenant("vision", 8)
    return maker


def seen(maker: PictureMaker, *bystanders: Bystander) -> Snapshot:
    return look(maker.picture(bystanders=bystanders), SITE)


def test_a_deleted_pod_that_holds_gpus_beyond_its_grace_period_is_stuck() -> None:
    maker = cluster()
    maker.pod("vision", "old", "n0", gpus=4, deleted_at=NOW - 600)
    maker.pod("vision", "young", "n0", gpus=2, deleted_at=NOW - 30)
    maker.pod("vision", "unbound", None, gpus=2, deleted_at=NOW - 600)
    maker.pod("vision", "done", "n0", gpus=2, deleted_at=NOW - 600, phase="Succeeded")
    assert seen(maker).strays.stuck == (StuckPod("vision", "old", "vision", "h100", "n0", 4, 600.0),)


def test_gpus_that_a_tenant_holds_in_a_pool_of_others_are_off_its_pools() -> None:
    maker = cluster()
    maker.namespace("nobody")
    maker.pod("vision", "right", "n0", gpus=4)
    maker.pod("vision", "wrong", "n1", gpus=3)
    maker.pod("nobody", "free", "n1", gpus=2)
    assert seen(maker).strays.off_pool == (OffPool("vision", "a100", 3),)


def test_pods_without_gpus_on_gpu_nodes_are_counted_but_for_those_of_the_cluster() -> None:
    there = [Bystander("vision", "n0"), Bystander("vision", "n1"), Bystander("vision", "n1")]
    elsewhere = [Bystander("vision", "cpu-1"), Bystander("kube-system", "n0")]
    assert seen(cluster(), *there, *elsewhere).strays.bystanders == (
        Bystanders("vision", "a100", pods=2, nodes=1),
        Bystanders("vision", "h100", pods=1, nodes=1),
    )


def test_devices_that_their_plugin_calls_unhealthy_are_withdrawn_and_no_silence() -> None:
    maker = cluster()
    maker.node("n2", gpus=6, capacity={GPU: 8})
    maker.node("n3", gpus=0, capacity={GPU: 8})
    pool = seen(maker).pools["h100"]
    assert {node.name: (node.gpus, node.withdrawn) for node in pool.nodes} == {"n0": (8, 0), "n2": (6, 2), "n3": (0, 8)}
    assert pool.total == 14


def test_a_node_under_pressure_takes_nothing_and_says_of_what() -> None:
    maker = cluster()
    maker.node("n0", hard_taints=("node.kubernetes.io/disk-pressure",))
    assert [node.unusable for node in seen(maker).pools["h100"].nodes] == ["under pressure (disk)"]


def test_the_largest_gang_leaves_out_what_lies_in_fragments() -> None:
    maker = cluster()
    maker.node("n2")
    maker.pod("vision", "a", "n0", gpus=3)
    pool = seen(maker).pools["h100"]
    assert (pool.free, pool.largest_gang(8), pool.largest_gang(4), pool.largest_gang(1)) == (13, 8, 12, 13)
