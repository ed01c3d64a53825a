"""Work of low priority may wait long, and not for ever."""

from __future__ import annotations

from dataclasses import replace

from collector.model.tenancy import SizeClass, Tier
from controller.api.policy import Mode, Policy
from tests.builders import HOUR, TIERS
from tests.world import Steering, starving_world


def test_work_of_the_lowest_tier_that_waits_too_long_is_found_and_served_too() -> None:
    world = starving_world()
    lowest = Tier("scavenger", -1, dict.fromkeys(SizeClass, 24 * HOUR))
    vision, *others = world.site.tenants
    world.site = replace(world.site, tiers=(*TIERS, lowest), tenants=(replace(vision, tier=lowest.name), *others))
    world.submits("vision", "forgotten", ago=25 * HOUR)
    steers = Steering(world, Policy(mode=Mode.ENFORCE))
    outcome = steers.ticks(2)
    assert [finding.tenant for finding in outcome.findings] == ["vision"]
    assert steers.change.tenant == "vision", outcome.sentence
