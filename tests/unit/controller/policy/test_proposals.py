"""Proposals: what to move from where to where, within all bounds, whole gangs, and never from who needs it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from collector.model.snapshot import Snapshot
from controller.api.policy import Policy, Targets
from controller.policy.findings import find
from controller.policy.proposals import NoProposal, Proposal, Terms, View
from controller.policy.strategies import propose
from controller.policy.targets import Target, by_key
from tests.builders import HOUR, MINUTE, agreed
from tests.world import Steering, World, starving_world

TERMS = Terms(now=0.0, trial_seconds=900.0, day_seconds=86400.0, targets=Targets())
SHIPPED = Policy().strategies


def look(world: World) -> tuple[Snapshot, tuple[Target, ...]]:
    return Steering(world).look()


def proposed(world: World, tenant: str = "vision") -> Proposal | NoProposal:
    snapshot, targets = look(world)
    finding = next(finding for finding in find(snapshot) if finding.tenant == tenant)
    return propose(finding, View(snapshot, by_key(targets), TERMS), SHIPPED)


def move(world: World, tenant: str = "vision") -> tuple[str, int, list[str]]:
    """Source, GPUs, and the names of the work that should start."""
    found = proposed(world, tenant)
    assert isinstance(found, Proposal), found.sentence
    assert found.source is not None
    return found.source.name, found.amount, [work.name for work in found.works]


def without(world: World, *titles: str) -> World:
    for title in titles:
        world.ends(title)
    return world


def test_the_shared_part_comes_first() -> None:
    world = without(starving_world(), "nlp/job0", "nlp/job1")
    world.runs("nlp", "small", "n2", gpus=2, ago=HOUR)
    assert move(world) == ("trimtab-shared", 8, ["late"])


def three_tenants(shared: int = 0) -> World:
    """vision lacks 8; nlp borrows; ads and maps use 4 of their 16 each, so that 8 of each float are spare."""
    world = World(
        agreed("vision", 8, 8, burst=64),
        agreed("nlp", 8, 8),
        agreed("ads", 8, 8, tier="best-effort"),
        agreed("maps", 8, 8),
        shared=shared,
        nodes=8 + shared // 8,
    )
    world.runs("vision", "old", "n0", "n1", ago=2 * HOUR)
    for number in range(3):
        world.runs("nlp", f"job{number}", f"n{number + 2}", ago=HOUR)
    world.runs("ads", "web", "n5", gpus=4, ago=HOUR)
    world.runs("maps", "web", "n6", gpus=4, ago=HOUR)
    world.submits("vision", "late", ago=HOUR)
    return world


def test_a_float_is_taken_from_the_lowest_tier_that_has_it_to_spare() -> None:
    assert move(three_tenants()) == ("trimtab-ads", 8, ["late"])


def test_a_lender_that_waits_for_its_own_is_not_taken_from() -> None:
    world = three_tenants()
    world.submits("ads", "soon", gpus=4, ago=MINUTE)
    world.submits("ads", "also", gpus=8, ago=MINUTE)
    assert move(world) == ("trimtab-maps", 8, ["late"])


def test_work_that_is_starting_counts_once_as_a_lenders_own() -> None:
    world = three_tenants()
    world.starts(world.submits("ads", "starting", gpus=4, ago=MINUTE))
    snapshot, _ = look(world)
    ads = snapshot.tenant_pool("ads", "h100")
    assert ads is not None
    assert (ads.reserved, ads.waiting, ads.needed) == (8, 4, 8)
    assert move(world) == ("trimtab-ads", 8, ["late"])


def test_a_lender_that_opted_out_or_is_no_target_is_not_taken_from() -> None:
    world = three_tenants()
    world.opted_out = {"ads"}
    assert move(world)[0] == "trimtab-maps"
    snapshot, targets = look(three_tenants())
    terms = replace(TERMS, targets=Targets(tenants=("vision", "maps")))
    found = propose(find(snapshot)[0], View(snapshot, by_key(targets), terms), SHIPPED)
    assert isinstance(found, Proposal)
    assert found.source is not None
    assert found.source.name == "trimtab-maps"


def test_an_unknown_source_is_no_source() -> None:
    world = three_tenants()
    del world.cohorts["trimtab-ads"]
    assert move(world)[0] == "trimtab-maps"


def test_when_nobody_has_so_many_to_spare_it_says_what_would_be_needed() -> None:
    world = three_tenants()
    world.runs("ads", "busy", "n5", gpus=4, ago=HOUR)
    world.runs("maps", "busy", "n6", gpus=4, ago=HOUR)
    world.submits("ads", "soon", gpus=8, ago=MINUTE)
    world.submits("maps", "soon", gpus=8, ago=MINUTE)
    found = proposed(world)
    assert isinstance(found, NoProposal)
    assert found.code == "NOTHING_TO_TAKE"
    assert found.sentence == (
        "vision/late needs 8 more GPUs of entitlement; at most 16 are allowed in one step "
        "and no lender has so many to spare."
    )


@pytest.mark.parametrize(
    ("bounds", "gpus"),
    [
        ({"burst": 24}, 8),
        ({"burst": 32}, 16),
        ({"burst": 64}, 24),
        ({"burst": 64, "ceiling": 24}, 8),
        ({"burst": 64, "ceiling": 31}, 8),
    ],
    ids=["burst", "larger burst", "a quarter of the pool", "ceiling", "ceiling within a gang"],
)
def test_a_step_ends_at_the_burst_the_ceiling_and_a_quarter_of_the_pool(bounds: dict[str, Any], gpus: int) -> None:
    world = three_tenants(shared=32)
    world.site = replace(world.site, tenants=(agreed("vision", 8, 8, **bounds), *world.site.tenants[1:]))
    for number in range(6):
        world.submits("vision", f"more{number}", ago=HOUR - number)
    assert move(world)[1] == gpus


def test_without_a_burst_beyond_its_own_a_tenant_gets_no_more() -> None:
    world = starving_world()
    world.site = replace(world.site, tenants=(agreed("vision", 8, 8), world.site.tenants[1]))
    assert find(look(world)[0]) == (), "waits beyond the burst do not count"


def test_a_step_is_never_less_than_a_node() -> None:
    world = World(agreed("vision", 0, 0, burst=16), agreed("nlp", 0, 0), shared=16, nodes=2)
    for number in range(2):
        world.runs("nlp", f"job{number}", f"n{number}", ago=HOUR)
    world.submits("vision", "late", ago=HOUR)
    assert move(world) == ("trimtab-shared", 8, ["late"])


def test_a_gang_gets_all_that_it_needs_or_nothing() -> None:
    world = three_tenants(shared=16)
    world.submits("vision", "late", pods=3, ago=2 * HOUR)
    assert isinstance(proposed(world), NoProposal)
    world.submits("vision", "late", pods=2, ago=2 * HOUR)
    assert move(world) == ("trimtab-shared", 16, ["late"])


def test_gangs_are_served_in_the_order_of_their_queue_and_none_is_passed_over() -> None:
    world = three_tenants(shared=16)
    world.submits("vision", "urgent", priority=10, ago=HOUR / 2)
    world.submits("vision", "older", ago=2 * HOUR)
    world.submits("vision", "late", ago=HOUR)
    assert move(world) == ("trimtab-shared", 16, ["urgent", "older"])
    world.submits("vision", "urgent", priority=10, pods=3, ago=2 * HOUR)
    assert isinstance(proposed(world), NoProposal), "the head of the queue would take what is given to those behind"


def test_who_is_ahead_and_not_late_is_served_too() -> None:
    world = three_tenants(shared=16)
    world.submits("vision", "ahead", priority=10, ago=MINUTE)
    assert move(world) == ("trimtab-shared", 16, ["ahead", "late"])


def test_a_gang_that_is_served_by_reservation_alone_holds_nobody_up() -> None:
    world = three_tenants(shared=16)
    world.submits("vision", "huge", pods=9, priority=10, ago=2 * HOUR)
    assert move(world) == ("trimtab-shared", 8, ["late"])


def test_only_the_part_that_is_lacking_is_moved() -> None:
    world = three_tenants(shared=16)
    without(world, "vision/old")
    world.runs("vision", "old", "n0", "n1", gpus=6, ago=2 * HOUR)
    assert move(world) == ("trimtab-shared", 4, ["late"])


def test_what_is_used_beyond_the_entitlement_is_covered_too() -> None:
    world = three_tenants(shared=16)
    world.runs("vision", "borrowing", "n7", gpus=4, ago=HOUR)
    assert move(world) == ("trimtab-shared", 12, ["late"])


def test_the_source_that_serves_most_is_chosen() -> None:
    world = three_tenants(shared=8)
    world.site = replace(world.site, tenants=(*world.site.tenants[:2], agreed("ads", 0, 16), world.site.tenants[3]))
    world.cohorts["trimtab-ads"]["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = "24"
    without(world, "ads/web")
    world.submits("vision", "later", ago=HOUR - 1)
    assert move(world) == ("trimtab-ads", 16, ["late", "later"])
