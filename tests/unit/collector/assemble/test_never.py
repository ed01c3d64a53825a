"""Work that can never start, and work that only has to wait."""

from __future__ import annotations

from dataclasses import replace

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.assemble.infer import infer_site
from collector.assemble.never import never_start
from collector.model.snapshot import Evidence
from tests.pictures import NOW, PictureMaker


def _reasons(maker: PictureMaker, **more: object) -> dict[str, str]:
    picture = maker.picture(**more)
    snapshot, _ = assemble(picture, infer_site(picture, "test").site, Evidence(), WaitClocks(), NOW)
    return {item.work.name: item.reason for item in never_start(picture, snapshot)}


def _site() -> PictureMaker:
    maker = PictureMaker("h100")
    for number in range(4):
        maker.node(f"n{number}")
    maker.tenant("a", floor=8, floating=4)
    maker.tenant("b", floor=8, floating=4)
    return maker


def test_what_fits_somewhere_only_waits() -> None:
    maker = _site()
    maker.work("a", "fits", gpus=8, pods=3)
    assert _reasons(maker) == {}


def test_a_pod_larger_than_every_node() -> None:
    maker = _site()
    maker.work("a", "hero", gpus=16)
    assert _reasons(maker) == {"hero": "a pod asks for 16 GPUs, the largest node of pool h100 has 8"}


def test_a_gang_larger_than_all_that_may_be_borrowed() -> None:
    maker = _site()
    maker.work("a", "wide", gpus=8, pods=4)
    assert _reasons(maker) == {"wide": "asks for 32 GPUs, ClusterQueue a reaches 24 with all it may borrow"}
    assert _reasons(maker, unreadable={"cohorts": "403"}) == {}


def test_queues_that_do_not_exist_are_the_first_reason() -> None:
    maker = _site()
    maker.work("a", "lost", queue="old")
    maker.door("a", "missing", "half")
    maker.work("a", "halfway", queue="half")
    assert _reasons(maker) == {
        "lost": "its queue old does not exist in a; there are: gpus, half",
        "halfway": "its queue leads to ClusterQueue missing, which does not exist",
    }


def test_a_stopped_queue_and_an_inactive_one() -> None:
    maker = _site()
    maker.queue("a", "tenant-a", stop_policy="Hold")
    maker.queue("b", "tenant-b", active=False, inactive_reason="FlavorNotFound")
    maker.work("a", "stopped")
    maker.work("b", "inactive")
    reasons = _reasons(maker)
    assert "stopped" in reasons["stopped"]
    assert "FlavorNotFound" in reasons["inactive"]


def test_above_its_ceiling_never_starts_and_beside_other_work_below_it_only_waits() -> None:
    maker = _site()
    maker.cohort("tenant-a", "site", 8, lend=8)
    maker.queue("a", "tenant-a", borrow=16)
    maker.running("a", "runs", ("n0",))
    maker.work("a", "next", gpus=8)
    maker.work("a", "more", gpus=8, pods=2)
    assert _reasons(maker) == {}
    maker.work("a", "above", gpus=8, pods=3)
    assert list(_reasons(maker)) == ["above"]


def test_a_job_larger_than_its_namespaces_quota_on_plain_kubernetes() -> None:
    maker = PictureMaker("h100")
    maker.node("n0")
    maker.namespace("a")
    maker.resource_quota("a", 4)
    maker.job("a", "big", gpus=8)
    assert _reasons(maker) == {"big": "asks for 8 GPUs, the ResourceQuota of a grants 4"}


def test_what_its_user_holds_back_is_left_out() -> None:
    maker = _site()
    maker.work("a", "hero", gpus=16)
    workload = maker.picture().workloads["wl-a-hero"]
    maker.put("workloads", workload.uid, replace(workload, active=False))
    assert _reasons(maker) == {}
