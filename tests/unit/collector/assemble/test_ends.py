"""How work ended, since when it is out of its place, and whether its name was made up for it: what a history needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.assemble.assemble import assemble_seen
from collector.assemble.clocks import Sighting, WaitClocks
from collector.model.objects import Condition, KueueWorkload
from collector.model.snapshot import Evidence
from tests.builders import agreed, site_of
from tests.pictures import NOW, PictureMaker

SITE = site_of(agreed("vision", 16))
PLACE = Condition(True, "QuotaReserved", "", NOW - 3000)


def cluster() -> PictureMaker:
    maker = PictureMaker()
    maker.node("n0")
    maker.tenant("vision", 16)
    return maker


def sighting_of(maker: PictureMaker) -> Sighting:
    *_, seen = assemble_seen(maker.picture(), SITE, Evidence(), WaitClocks(), NOW)
    (found,) = seen
    return found.sighting


def with_conditions(maker: PictureMaker, **conditions: Condition) -> PictureMaker:
    workload: KueueWorkload = maker.picture().workloads["wl-vision-train"]
    maker.put("workloads", workload.uid, replace(workload, conditions={**workload.conditions, **conditions}))
    return maker


@pytest.mark.parametrize(("reason", "failed"), [("Succeeded", False), ("JobFinished", False), ("Failed", True)])
def test_a_finished_workload_says_when_and_whether_it_failed(reason: str, failed: bool) -> None:
    maker = cluster()
    maker.work("vision", "train", cluster_queue="vision", conditions={"QuotaReserved": PLACE})
    seen = sighting_of(with_conditions(maker, Finished=Condition(True, reason, "", NOW - 10)))
    assert (seen.finished, seen.ended_at, seen.failed) == (True, NOW - 10, failed)


def test_work_that_is_on_its_way_out_is_out_since_then_and_has_its_place_again_once_it_is_readmitted() -> None:
    maker = cluster()
    maker.work("vision", "train", cluster_queue="vision", conditions={"QuotaReserved": PLACE})
    out = sighting_of(with_conditions(maker, Evicted=Condition(True, "Preempted", "", NOW - 5)))
    assert (out.evicted_since, out.evicted_why) == (NOW - 5, "Preempted")
    back = sighting_of(with_conditions(maker, Evicted=Condition(False, "QuotaReserved", "", NOW - 1)))
    assert back.evicted_since is None


def test_jobs_of_a_sweep_share_the_key_of_their_clock_and_not_that_of_the_work() -> None:
    maker = cluster()
    maker.work("vision", "sweep-x7k2p")
    job = maker.picture().jobs["job-vision-sweep-x7k2p"]
    maker.put("jobs", job.uid, replace(job, stem="sweep-", template="f00"))
    *_, (seen,) = assemble_seen(maker.picture(), SITE, Evidence(), WaitClocks(), NOW)
    assert (seen.sighting.key, seen.sighting.generated) == ("vision/Job/sweep-*/f00", True)
    assert seen.work.key == "vision/Job/sweep-x7k2p/f00"
