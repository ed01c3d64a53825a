"""Work that MultiKueue sends to another cluster: it waits where it was submitted and runs where its pods are, once."""

from __future__ import annotations

from typing import Any

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.model.objects import Condition
from collector.model.snapshot import Evidence, WaitingName, WorkPhase
from tests.builders import HOUR, agreed, look, pool_of, site_of, work_of
from tests.pictures import NOW, PictureMaker

SITE = site_of(agreed("vision", 16, burst=64, tier="critical"))
ADMITTED = Condition(True, "Admitted", "", NOW - 3000)


def cluster() -> PictureMaker:
    maker = PictureMaker()
    for number in range(4):
        maker.node(f"n{number}")
    maker.tenant("vision", 16)
    return maker


def test_a_mirror_that_waits_is_neither_demand_nor_late_here() -> None:
    maker = cluster()
    maker.work("vision", "train", age=9 * HOUR, sent_from="manager")
    snapshot = look(maker, SITE)
    state, work = pool_of(snapshot, "vision"), work_of(snapshot, "vision/train")
    assert (state.waiting, state.overdue, state.demand) == (0, 0, 0)
    assert state.needed == 8, "its quota is needed here all the same"
    assert work.waiting is WaitingName.WITHIN_LIMIT
    assert work.why == "MultiKueue sent it from manager, where its wait is counted."


def test_the_clock_of_a_mirror_does_not_run_here() -> None:
    maker = cluster()
    maker.work("vision", "train", sent_from="manager")
    maker.work("vision", "own")
    clocks = WaitClocks()
    for now in (NOW, NOW + 60):
        _, clocks = assemble(maker.picture(), SITE, Evidence(), clocks, now)
    assert dict(clocks.wait_seconds_total) == {("vision", "critical", "vision/gpus"): 60.0}


def test_a_mirror_that_runs_counts_here_and_its_original_there() -> None:
    worker = cluster()
    worker.running("vision", "train", ("n0", "n1"))
    manager = cluster()
    sent: dict[str, Any] = {"cluster_queue": "vision", "conditions": {"QuotaReserved": ADMITTED}}
    manager.work("vision", "train", pods=2, runs_in="worker", **sent)
    manager.job("vision", "train", pods=2, queue="gpus", ready=2, active=2)
    there, here = look(worker, SITE), look(manager, SITE)
    assert work_of(here, "vision/train").phase is WorkPhase.RUNNING
    assert (pool_of(there, "vision").running, pool_of(here, "vision").running) == (16, 0)
    assert (pool_of(there, "vision").reserved, pool_of(here, "vision").reserved) == (16, 16), "quota is held in both"
