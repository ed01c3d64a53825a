"""Findings about how GPUs are used, whoever lacks them, each with what shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import Snapshot
from controller.policy.change import Change, Forecast, Stage
from controller.policy.evictions import Eviction, EvictionMemory
from controller.policy.finding import Cause, Confidence, Finding, Trouble
from controller.policy.findings import find
from controller.policy.ledger import Ledger
from tests.builders import HOUR, agreed
from tests.world import Steering, World, starving_world


def look(world: World) -> Snapshot:
    return Steering(world).look()[0]


def of_kind(kind: Trouble, snapshot: Snapshot, ledger: Ledger | None = None) -> list[Finding]:
    return [finding for finding in find(snapshot, ledger) if finding.kind is kind]


def holding(idle: Reading[float], world: World | None = None) -> Snapshot:
    """nlp holds GPUs that compute nothing."""
    snapshot = look(world if world is not None else starving_world())
    tenants = tuple(replace(one, idle_held=idle) if one.tenant == "nlp" else one for one in snapshot.tenants)
    return replace(snapshot, tenants=tenants)


def test_who_holds_idle_gpus_while_work_of_others_is_overdue_hoards() -> None:
    (finding,) = of_kind(Trouble.HOARDING, holding(Known(6.0)))
    assert (finding.tenant, finding.pool, finding.cause) == ("nlp", "h100", Cause.WORKLOAD)
    assert (finding.confidence, finding.evidence) == (Confidence.KNOWN, (finding.sentence,))
    assert finding.sentence == (
        "nlp holds 6 GPUs of pool h100 that did nothing for a while, while work of others for 8 GPUs is overdue."
    )


@pytest.mark.parametrize("idle", [Known(0.0), Known(0.4), Unknown("no GPU readings")])
def test_nothing_idle_or_nothing_known_is_no_hoarding(idle: Reading[float]) -> None:
    assert of_kind(Trouble.HOARDING, holding(idle)) == []


def test_idle_gpus_that_nobody_waits_for_are_no_hoarding() -> None:
    world = starving_world()
    world.ends("vision/late")
    assert of_kind(Trouble.HOARDING, holding(Known(6.0), world)) == []


def test_work_of_a_shape_that_fits_nowhere_is_told_once_per_tenant() -> None:
    world = starving_world()
    world.submits("vision", "wide", gpus=16, ago=2 * HOUR)
    world.submits("vision", "huge", gpus=8, pods=99, ago=HOUR)
    (finding,) = of_kind(Trouble.MISFIT, look(world))
    assert (finding.tenant, finding.cause, [work.name for work in finding.works]) == (
        "vision",
        Cause.WORKLOAD,
        ["wide", "huge"],
    )
    assert finding.sentence == (
        "vision/wide can never start: a pod asks for 16 GPUs, the largest node of pool h100 has 8. "
        "1 more fit nowhere either."
    )


def test_work_that_only_waits_is_no_misfit() -> None:
    assert of_kind(Trouble.MISFIT, look(starving_world())) == []


def lent(world: World, returning_since: float | None, stage: Stage = Stage.RETURNING) -> Ledger:
    """8 GPUs that vision got and whose end was at `returning_since`; they were lent for four hours."""
    change = Change(
        id="c1",
        policy="default",
        tenant="vision",
        pool="h100",
        source="trimtab-shared",
        destination="trimtab-vision",
        amount=8,
        reason="why",
        finding="what",
        forecast=Forecast((), world.now),
        created_at=world.now - 20 * HOUR,
        expires_at=world.now - 16 * HOUR,
        stage=stage,
        taken=8,
        given=8,
        returning_since=returning_since,
    )
    return Ledger((change,))


def test_what_is_in_use_long_after_its_end_is_told() -> None:
    world = starving_world()
    (finding,) = of_kind(Trouble.NOT_RETURNED, look(world), lent(world, world.now - 5 * HOUR))
    assert (finding.tenant, finding.cause) == ("vision", Cause.WORKLOAD)
    assert finding.sentence == (
        "vision still uses 8 GPUs of pool h100 that were lent to it; their end was 5h ago (change c1)."
    )


@pytest.mark.parametrize(("hours", "stage"), [(3.0, Stage.RETURNING), (5.0, Stage.KEPT)])
def test_what_follows_usage_down_in_time_is_not(hours: float, stage: Stage) -> None:
    world = starving_world()
    assert of_kind(Trouble.NOT_RETURNED, look(world), lent(world, world.now - hours * HOUR, stage)) == []


def test_every_victim_of_a_cycle_is_a_finding_with_who_evicts_whom() -> None:
    world = World(agreed("vision", 8), agreed("nlp", 8), shared=8, nodes=3)
    world.runs("vision", "job", "n0", ago=HOUR)
    world.submits("nlp", "job", ago=HOUR)
    snapshot = look(world)
    keys = {work.tenant: work.key for work in snapshot.works}
    evictions = (
        Eviction(0.0, "h100", "nlp", "vision", keys["vision"], 2),
        Eviction(0.0, "h100", "vision", "nlp", keys["nlp"], 3),
    )
    found = of_kind(Trouble.THRASHING, snapshot, Ledger(evictions=EvictionMemory(evictions)))
    assert [(one.tenant, one.cause, one.shortfall) for one in found] == [
        ("nlp", Cause.SCHEDULING, 8),
        ("vision", Cause.SCHEDULING, 8),
    ]
    assert found[1].sentence == (
        "vision is in a preemption cycle: vision evicted nlp 3×, nlp evicted vision 2× in pool h100 within the last "
        "hour. vision/job lost its place 2 times."
    )
    assert of_kind(Trouble.THRASHING, snapshot) == [], "without a memory there is no cycle"
