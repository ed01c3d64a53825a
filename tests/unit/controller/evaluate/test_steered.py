"""The loop in memory on a simulated cluster: what it decides is written, seen again, and comes to an end."""

from __future__ import annotations

import pytest

from collector.model.tenancy import SizeClass, Tier
from controller.evaluate.score import SHIPPED
from controller.evaluate.steered import Agreed, Steered, site_of
from controller.policy.change import Stage, Verdict
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import ClusterSpec, JobSpec, SimulatedTenant

TIERS = (Tier("standard", 50, {SizeClass.SINGLE_NODE: 300.0}),)
SPEC = ClusterSpec("site", 4, (SimulatedTenant("a", 8), SimulatedTenant("b", 8)), shared=16)


def starving() -> Steered:
    """b borrows all that is lent; a, which uses its own, waits for 8 more."""
    cluster = Cluster(SPEC, 0.0)
    for number in range(3):
        cluster.submit(JobSpec(f"job-{number}", "b", 1, 8, 1e6))
    cluster.submit(JobSpec("own", "a", 1, 8, 1e6))
    cluster.submit(JobSpec("late", "a", 1, 8, 3600.0))
    return Steered(cluster, site_of(SPEC, TIERS, {"a": Agreed("standard", burst=24), "b": Agreed("standard")}))


def minutes(run: Steered, count: int) -> None:
    for _ in range(count):
        run.tick()
        run.cluster.advance(run.cluster.now + SHIPPED.cadence.tick_seconds)


def test_a_starved_tenant_is_served_and_the_change_comes_to_its_end() -> None:
    run = starving()
    minutes(run, 6)
    assert not run.ledger.changes, "five minutes are its limit"
    minutes(run, 4)
    (change,) = run.ledger.changes
    assert (run.level("a"), run.level(None)) == (8, 8)
    assert [one.target for _, one in run.written] == ["trimtab-shared", "trimtab-a"], "take first, then give"
    minutes(run, 120)
    (change,) = run.ledger.changes
    assert (change.verdict, change.stage) == (Verdict.HELPED, Stage.ENDED)
    assert (run.level("a"), run.level(None)) == (0, 16)


def test_what_is_no_own_object_can_not_be_written() -> None:
    run = starving()
    with pytest.raises(KeyError):
        run.level("nobody")
