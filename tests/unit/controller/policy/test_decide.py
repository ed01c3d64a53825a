"""decide(): one sentence per finding, and a change only when everything allows it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import Evidence, OtherCause, OtherKind, WaitingName
from controller.api.policy import Budgets, Mode, Policy, Targets
from controller.policy.change import Stage, Verdict
from controller.policy.engine import Decision, Outcome, decide
from controller.policy.finding import Cause
from controller.policy.targets import Target
from tests.builders import HOUR, MINUTE, agreed
from tests.world import Steering, World, starving_world

ENFORCE = Policy(mode=Mode.ENFORCE)


def answer(outcome: Outcome, tenant: str = "vision") -> Decision:
    """What is done about a tenant."""
    found = [decision for decision in outcome.decisions if decision.finding.tenant == tenant]
    assert len(found) == 1, [decision.sentence for decision in outcome.decisions]
    return found[0]


def code(outcome: Outcome) -> str:
    """The word of the answer about vision: what refused it, or that it was made."""
    refusal = answer(outcome).refusal
    return refusal.code if refusal is not None else "MADE"


def steering(world: World | None = None, **policy: object) -> Steering:
    return Steering(starving_world() if world is None else world, replace(ENFORCE, **policy))  # type: ignore[arg-type] # fields by name


def test_a_starved_tenant_gets_what_starts_its_late_work_and_the_forecast_says_who() -> None:
    steers = steering()
    outcome = steers.ticks(2)
    change = steers.change
    assert (change.source, change.destination, change.amount) == ("trimtab-shared", "trimtab-vision", 8)
    assert [work.title for work in change.forecast.ready] == ["vision/late"]
    assert [work.title for work in change.forecast.evicted] == ["nlp/job3"], "the youngest of who borrows"
    assert change.forecast.lost_gpu_hours == pytest.approx(8 * 57 / 60, abs=0.1)
    assert change.expires_at == change.created_at + ENFORCE.revert.ttl_seconds
    assert change.id == "20250615t150710z-vision-h100"
    assert "nlp borrows 16" in change.finding
    assert (
        outcome.sentence
        == change.reason
        == (
            "vision is starved in pool h100: move 8 GPUs from trimtab-shared to trimtab-vision, "
            "so that vision/late can start by 2025-06-15T15:22:10Z; may evict nlp/job3."
        )
    )
    assert steers.writes == [("trimtab-shared", 8), ("trimtab-vision", 16)], "take first, then give"


def test_gpus_that_nobody_uses_are_given_without_evicting() -> None:
    world = starving_world()
    world.ends("nlp/job3")
    steers = steering(world)
    outcome = steers.ticks(2)
    assert steers.change.forecast.evicted == ()
    assert outcome.sentence.endswith("evicts nobody.")


def test_a_finding_must_be_seen_twice_in_a_row() -> None:
    world = starving_world()
    steers = steering(world)
    assert code(steers.tick()) == "NOT_CONFIRMED"
    world.ends("vision/late")
    assert steers.tick().findings == ()
    world.submits("vision", "late", ago=HOUR)
    assert code(steers.tick()) == "NOT_CONFIRMED"
    outcome = steers.tick()
    assert code(outcome) == "NOT_CONFIRMED"
    assert "Seen in 2 of 3 ticks (it came and went 1 time of late)." in outcome.sentence
    assert code(steers.tick()) == "MADE"


def test_a_blind_tick_confirms_nothing() -> None:
    world = starving_world()
    steers = steering(world)
    steers.tick()
    world.evidence = Evidence(blind=("Prometheus is gone",))
    assert code(steers.tick()) == "BLIND"
    world.evidence = Evidence()
    assert code(steers.tick()) == "NOT_CONFIRMED"


@pytest.mark.parametrize("ceiling", Mode)
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("paused", [True, False])
@pytest.mark.parametrize("blind", ["", "cluster", "Prometheus"])
def test_only_enforce_unpaused_and_sighted_makes_a_change(ceiling: Mode, mode: Mode, paused: bool, blind: str) -> None:
    world = starving_world()
    if blind == "cluster":
        world.picture_fields = {"unreadable": {"pods": "timed out"}}
    if blind == "Prometheus":
        world.evidence = Evidence(blind=("no answer",))
    steers = steering(world, mode=mode, paused=paused)
    steers.ceiling = ceiling
    outcome = steers.ticks(3)
    least = min(ceiling, mode)
    if not blind and not paused and least is Mode.ENFORCE:
        assert len(steers.ledger.changes) == 1
        return
    assert (steers.ledger.changes, steers.writes) == ((), [])
    assert code(outcome) == ("BLIND" if blind else "PAUSED" if paused else f"MODE_{least.name}")


def test_what_would_be_done_is_told_where_nothing_may_be_done() -> None:
    decision = answer(steering(mode=Mode.RECOMMEND).ticks(2))
    assert decision.proposal is not None
    assert decision.sentence.endswith(
        "may evict nlp/job3. Not now: Mode Recommend: for a person to apply; `trimtab status` has the command."
    )


@pytest.mark.parametrize("causes", [(OtherCause(OtherKind.CEPH, "Ceph is slow: OSD 3"),), ()])
def test_another_cause_moves_no_quota(causes: tuple[OtherCause, ...]) -> None:
    world = starving_world()
    world.evidence = Evidence(other_causes={"vision": causes})
    outcome = steering(world).ticks(2)
    if causes:
        assert code(outcome) == "NOT_SCHEDULING"
        assert outcome.findings[0].cause is Cause.CEPH
        assert "But: Ceph is slow: OSD 3." in outcome.sentence
    else:
        assert code(outcome) == "MADE"


@pytest.mark.parametrize(
    ("kind", "cause"),
    [(WaitingName.SHORT_OF_CAPACITY, Cause.CAPACITY), (WaitingName.BLOCKED, Cause.FRAGMENTATION)],
)
def test_what_quota_would_not_cure_moves_no_quota(kind: WaitingName, cause: Cause) -> None:
    world = starving_world()
    for number in range(2 if kind is WaitingName.SHORT_OF_CAPACITY else 4):
        world.ends(f"nlp/job{number}")
    if kind is WaitingName.BLOCKED:
        world.ends("vision/old")
        for number in range(6):
            world.runs("nlp", f"part{number}", f"n{number}", gpus=4)
    outcome = steering(world).ticks(3)
    assert [(finding.kind, finding.cause) for finding in outcome.findings] == [(kind, cause)]
    assert code(outcome) == "NOT_SCHEDULING"


@pytest.mark.parametrize(
    ("idle", "word"),
    [(Known(8.0), "IDLE_HELD"), (Known(7.0), "MADE"), (Unknown("no GPU readings"), "MADE")],
)
def test_a_tenant_that_holds_idle_gpus_enough_gets_a_notice_not_quota(idle: Reading[float], word: str) -> None:
    world = starving_world()
    world.evidence = Evidence(idle_held={("vision", "h100"): idle})
    assert code(steering(world).ticks(2)) == word


def test_quota_is_not_nodes() -> None:
    world = starving_world()
    for number in range(4):
        world.ends(f"nlp/job{number}")
    for number in range(8):
        world.runs("nlp", f"half{number}", f"n{number % 4 + 2}", gpus=4, ago=HOUR - number * MINUTE)
    outcome = steering(world).ticks(2)
    assert code(outcome) == "FRAGMENTED"
    assert "vision/late needs 1 x 8 GPUs" in outcome.sentence


def test_quota_that_stands_on_no_gpus_is_not_moved() -> None:
    world = starving_world()
    world.cordoned = {"n0"}
    outcome = steering(world).ticks(2)
    assert code(outcome) == "OVERCOMMITTED"
    assert "adds up to 48, the pool has 40" in outcome.sentence


def test_a_tenant_without_an_own_object_has_no_knob() -> None:
    world = starving_world()
    leaves = tuple(leaf for leaf in world.baseline.leaves if leaf.name != "trimtab-vision")
    world.baseline = replace(world.baseline, leaves=leaves)
    assert code(steering(world).ticks(2)) == "NO_KNOB"


def owned_by(target: Target, name: str) -> Target:
    return replace(target, foreign_manager="argocd") if target.name == name else target


@pytest.mark.parametrize("name", ["trimtab-shared", "trimtab-vision"])
def test_a_field_of_another_manager_is_never_forced(name: str) -> None:
    steers = steering()
    snapshot, targets = steers.look()
    policy = replace(ENFORCE, cadence=replace(ENFORCE.cadence, confirm_ticks=1))
    outcome = decide(snapshot, policy, Mode.ENFORCE, steers.ledger, [owned_by(target, name) for target in targets])
    assert code(outcome) == "OWNED"
    assert "argocd" in outcome.sentence


def test_a_tenant_that_opted_out_is_left_alone() -> None:
    world = starving_world()
    world.opted_out = {"vision"}
    assert code(steering(world).ticks(2)) == "OPTED_OUT"


@pytest.mark.parametrize(
    ("targets", "word"),
    [
        (Targets(tenants=("vision",)), "MADE"),
        (Targets(tenants=("nlp",)), "NOT_TARGETED"),
        (Targets(pools=("a100",)), "NOT_TARGETED"),
        (Targets(("vision",), ("h100",)), "MADE"),
    ],
)
def test_only_what_the_policy_targets_is_steered(targets: Targets, word: str) -> None:
    assert code(steering(targets=targets).ticks(2)) == word


@pytest.mark.parametrize(
    ("budgets", "word"),
    [
        (Budgets(changes_per_day=0), "BUDGET_CHANGES"),
        (Budgets(tenants_per_hour=0), "BUDGET_TENANTS"),
        (Budgets(added_evictions_per_day=0), "BUDGET_EVICTIONS"),
        (Budgets(added_lost_gpu_hours_per_day=7.5), "BUDGET_LOST_GPU_HOURS"),
        (Budgets(1, 1, 1, 8.0), "MADE"),
    ],
)
def test_a_budget_that_is_used_up_refuses(budgets: Budgets, word: str) -> None:
    assert code(steering(budgets=budgets).ticks(2)) == word


def test_while_a_change_is_on_trial_its_tenant_gets_no_second_one() -> None:
    steers = steering()
    steers.ticks(2)
    assert code(steers.tick()) == "ON_TRIAL"
    assert len(steers.ledger.changes) == 1


def helped_once() -> Steering:
    """The late gang runs, and another one is late."""
    world = starving_world()
    steers = steering(world)
    steers.ticks(2)
    world.is_evicted("nlp/job3", by="vision/late")
    world.starts("vision/late", "n5")
    world.submits("vision", "later", ago=HOUR)
    steers.tick()
    assert steers.change.verdict is Verdict.HELPED
    return steers


def test_a_second_change_waits_for_the_dwell_time() -> None:
    steers = helped_once()
    assert code(steers.ticks(3)) == "DWELL"
    steers.world.passes(ENFORCE.cadence.dwell_seconds)
    assert code(steers.tick()) == "MADE"
    assert steers.world.levels() == {"trimtab-nlp": 8, "trimtab-shared": 0, "trimtab-vision": 24}


def test_after_two_trials_that_did_not_help_a_person_should_look() -> None:
    steers = steering(budgets=Budgets(added_lost_gpu_hours_per_day=1e6))
    for _ in range(2):
        steers.ticks(2)
        assert steers.change.stage is Stage.ON_TRIAL
        steers.world.passes(ENFORCE.cadence.dwell_seconds)
        steers.tick()
        steers.world.passes(ENFORCE.cadence.dwell_seconds)
        steers.ticks(3)
    assert [change.verdict for change in steers.ledger.changes] == [Verdict.NO_EFFECT, Verdict.NO_EFFECT]
    steers.world.passes(ENFORCE.cadence.dwell_seconds)
    outcome = steers.ticks(2)
    assert code(outcome) == "FAILED_TWICE"
    assert "a person should look" in outcome.sentence
    steers.world.passes(ENFORCE.day_seconds)
    assert code(steers.tick()) == "MADE"


def test_after_a_broken_invariant_nothing_new_is_written() -> None:
    steers = steering()
    snapshot, targets = steers.look()
    latched = replace(steers.ledger, latched="levels below zero", confirmations={("vision", "h100", "starved"): 5})
    assert code(decide(snapshot, ENFORCE, Mode.ENFORCE, latched, targets)) == "LATCHED"


def two_starved() -> World:
    """vision and ads lack 8 each while nlp borrows 16."""
    world = World(agreed("vision", 8, burst=16), agreed("ads", 8, burst=16), agreed("nlp", 8), shared=16, nodes=5)
    world.runs("vision", "old", "n0", ago=2 * HOUR)
    world.runs("ads", "old", "n1", ago=2 * HOUR)
    for number in range(3):
        world.runs("nlp", f"job{number}", f"n{number + 2}", ago=HOUR)
    world.submits("vision", "late", ago=HOUR)
    world.submits("ads", "late", ago=HOUR)
    return world


def test_one_change_per_pool_and_tick() -> None:
    steers = steering(two_starved())
    outcome = steers.ticks(2)
    words = [decision.refusal.code if decision.refusal else "MADE" for decision in outcome.decisions]
    assert words == ["MADE", "ONE_PER_TICK"]
    steers.tick()
    assert {change.tenant for change in steers.ledger.changes} == {"ads", "vision"}
    assert steers.world.levels() == {"trimtab-ads": 8, "trimtab-nlp": 0, "trimtab-shared": 0, "trimtab-vision": 8}


def test_what_is_already_promised_is_not_promised_again() -> None:
    steers = steering(two_starved())
    steers.refused = {"trimtab-shared": "TIMED_OUT"}
    steers.ticks(4)
    assert sum(change.amount for change in steers.ledger.active) == 16
    steers.world.submits("nlp", "more", ago=HOUR)
    steers.refused = {}
    steers.ticks(2)
    assert steers.world.levels()["trimtab-shared"] == 0


def test_the_higher_tier_is_served_first() -> None:
    world = two_starved()
    critical = replace(world.site.tenants[0], tier="critical")
    world.site = replace(world.site, tenants=(critical, *world.site.tenants[1:]))
    outcome = steering(world).ticks(2)
    assert [finding.tenant for finding in outcome.findings] == ["vision", "ads"]


def test_when_nothing_is_wrong_it_says_so_and_waits_for_no_moment() -> None:
    world = starving_world()
    world.ends("vision/late")
    steers = steering(world)
    outcome = steers.tick()
    assert outcome.sentence == "All objectives hold; nothing to do."
    assert outcome.wake_at == world.now + ENFORCE.cadence.tick_seconds, "it has begun to count evictions"
    assert steers.tick().wake_at == math.inf


def test_it_wakes_when_a_trial_or_a_time_to_live_ends_before_the_next_tick() -> None:
    steers = steering()
    steers.ticks(2)
    steers.world.passes(ENFORCE.cadence.dwell_seconds - 5)
    assert steers.tick().wake_at == steers.change.forecast.ready_by


def test_noise_around_the_entitlement_makes_no_flapping() -> None:
    """The series that made an earlier public controller flip its caps in every tick, for most of a time to live."""
    world = World(agreed("vision", 13, 8, burst=40), agreed("nlp", 8), shared=16, nodes=6)
    for number in range(3):
        world.runs("nlp", f"job{number}", f"n{number + 3}", ago=HOUR)
    steers = steering(world)
    levels = []
    for percent in (50, 70, 60, 75, 65, 80, 70) * 60:
        demanded = 32 * percent // 100
        entitled = 13 + world.levels()["trimtab-vision"]
        for number in range(40):
            world.gangs.pop(f"vision/w{number}", None)
        for number in range(demanded):
            node = f"n{number // 8}"
            if number < entitled:
                world.runs("vision", f"w{number}", node, gpus=1, ago=HOUR)
            else:
                world.submits("vision", f"w{number}", gpus=1, ago=HOUR)
        steers.tick()
        levels.append(world.levels()["trimtab-vision"])
        world.passes(30)
    assert set(levels) == {8}, "what comes and goes by itself needs no quota"
    assert steers.ledger.changes == ()


def test_work_that_is_handed_in_again_and_again_waits_long_and_needs_no_quota() -> None:
    world = starving_world()
    steers = steering(world)
    for _ in range(40):  # two minutes in the queue, half a minute away, under one name: one long wait in all
        world.gangs["vision/late"].created_at = world.now
        steers.ticks(4)
        world.passes(30)
        held = world.gangs.pop("vision/late")
        steers.tick()
        world.passes(30)
        world.gangs["vision/late"] = held
    assert steers.ledger.changes == ()


def test_late_work_that_stands_is_served_although_it_was_handed_in_anew() -> None:
    world = starving_world()
    steers = steering(world)
    steers.tick()
    world.gangs["vision/late"].created_at = world.now - 5 * MINUTE
    assert code(steers.tick()) == "TREMBLING"
    world.passes(3 * MINUTE)
    assert code(steers.tick()) == "MADE"


def test_a_tick_shorter_than_the_clock_can_tell_apart_still_wakes_later() -> None:
    tiny = replace(ENFORCE, cadence=replace(ENFORCE.cadence, tick_seconds=1e-300))
    world = starving_world()
    assert Steering(world, tiny).tick().wake_at > world.now
