"""The shipped strategies: which are asked, which answers, and how `guard` ends a cycle and touches nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.api.border import PolicySpec
from controller.api.errors import InputError
from controller.api.policy import Mode, Policy
from controller.policy.change import Change, Stage, Verdict
from controller.policy.engine import Decision
from controller.policy.finding import Trouble
from controller.policy.strategies import SHIPPED
from tests.builders import HOUR, MINUTE, agreed
from tests.world import Steering, World, starving_world

ENFORCE = Policy(mode=Mode.ENFORCE)


def steering(world: World, *strategies: str) -> Steering:
    return Steering(world, replace(ENFORCE, strategies=strategies))


def codes(steers: Steering) -> set[str]:
    """The words of all answers of two ticks later."""
    return {one.refusal.code if one.refusal else "MADE" for one in steers.ticks(2).decisions}


def test_the_documents_take_just_the_strategies_that_are_shipped() -> None:
    taken = PolicySpec.model_fields["strategies"].default
    assert tuple(taken) == tuple(SHIPPED) == Policy().strategies


def test_an_unknown_strategy_is_refused_also_without_any_finding() -> None:
    world = starving_world()
    world.ends("vision/late")
    with pytest.raises(InputError, match=r"strategies.*'?lent.*expected one of guard, lend, objectives, deadlines"):
        steering(world, "guard", "lent").tick()


def test_a_strategy_that_is_left_out_is_not_used() -> None:
    assert codes(steering(starving_world(), "lend")) == {"MADE"}
    assert codes(steering(starving_world(), "objectives")) == {"NOTHING_TO_TAKE"}
    assert codes(steering(starving_world(), "guard")) == {"NO_STRATEGY"}
    steers = steering(starving_world())
    assert codes(steers) == {"NO_STRATEGY"}
    assert "No strategy of the policy answers it (strategies: none)." in steers.tick().sentence


def both_can() -> World:
    """The shared part and the float of ads could both serve vision."""
    tenants = (agreed("vision", 8, 8, burst=64), agreed("nlp", 8, 8), agreed("ads", 8, 8))
    world = World(*tenants, shared=8, nodes=8)
    world.runs("vision", "old", "n0", "n1", ago=2 * HOUR)
    for number in range(3):
        world.runs("nlp", f"job{number}", f"n{number + 2}", ago=HOUR)
    world.runs("ads", "web", "n5", ago=HOUR)
    world.submits("vision", "late", ago=HOUR)
    return world


@pytest.mark.parametrize(
    ("strategies", "source"),
    [
        (("lend", "objectives"), "trimtab-shared"),
        (("objectives", "lend"), "trimtab-ads"),
        (("objectives",), "trimtab-ads"),
    ],
)
def test_the_first_of_equals_wins(strategies: tuple[str, ...], source: str) -> None:
    steers = steering(both_can(), *strategies)
    steers.ticks(2)
    assert steers.change.source == source


def fighting(shared: int = 8, floating: int = 0) -> World:
    """vision and nlp both use their own 8 and fight over 8 more; ads minds its own."""
    tenants = (agreed("vision", 8, floating), agreed("nlp", 8), agreed("ads", 8))
    world = World(*tenants, shared=shared, nodes=4 + floating // 8)
    for number, tenant in enumerate(("vision", "nlp", "ads")):
        world.runs(tenant, "own", f"n{number}", ago=HOUR)
    world.runs("vision", "fought", "n3", ago=10 * MINUTE)
    world.submits("nlp", "fought", ago=9 * MINUTE)
    return world


def fight(steers: Steering, rounds: int) -> None:
    """Each takes the place of the other, turn by turn; the loop looks in between."""
    world, holder, other = steers.world, "vision", "nlp"
    for _ in range(2 * rounds):
        world.is_evicted(f"{holder}/fought", by=f"{other}/fought")
        world.starts(f"{other}/fought", "n3")
        holder, other = other, holder
        world.passes(60)
        steers.tick()


def changed_after_a_fight(steers: Steering) -> Change:
    """Two rounds, so that the cycle is seen; the tick that confirms it makes the change."""
    steers.tick()
    fight(steers, 2)
    steers.world.passes(60)
    steers.tick()
    return steers.change


def thrashing(steers: Steering) -> list[Decision]:
    return [one for one in steers.tick().decisions if one.finding.kind is Trouble.THRASHING]


def test_who_holds_what_is_fought_over_gets_it_out_of_the_shared_part_and_nobody_is_evicted() -> None:
    steers = steering(fighting(), "guard", "lend", "objectives")
    change = changed_after_a_fight(steers)
    assert (change.source, change.amount, change.forecast.evicted) == ("trimtab-shared", 8, ())
    assert [work.title for work in change.forecast.stays] == [f"{change.tenant}/fought"]
    assert change.reason.startswith(
        f"{change.tenant} is thrashing in pool h100: move 8 GPUs from trimtab-shared to trimtab-{change.tenant}, "
        f"so that {change.tenant}/fought keeps its place until "
    )
    assert change.reason.endswith(" at least; evicts nobody.")
    levels = steers.world.levels()
    assert (levels["trimtab-shared"], levels["trimtab-ads"]) == (0, 0)


def test_after_the_change_only_new_evictions_count() -> None:
    steers = steering(fighting(), "guard")
    changed_after_a_fight(steers)
    assert len(steers.ledger.changes) == 1
    assert thrashing(steers) == []


def settled(steers: Steering, again: bool) -> Change:
    """The change after its trial; `again`: its work lost its place once more."""
    change = changed_after_a_fight(steers)
    if again:
        other = "nlp" if change.tenant == "vision" else "vision"
        steers.world.is_evicted(f"{change.tenant}/fought", by=f"{other}/fought")
    for _ in range(20):
        steers.world.passes(60)
        steers.tick()
    found = steers.ledger.find(change.id)
    assert found is not None
    return found


def test_a_cycle_that_ended_is_a_change_that_helped() -> None:
    change = settled(steering(fighting(), "guard"), again=False)
    assert (change.verdict, change.stage) == (Verdict.HELPED, Stage.KEPT)
    assert change.verdict_reason == "the named workloads kept their place"


def test_a_cycle_that_goes_on_is_a_change_without_effect_which_goes_back() -> None:
    change = settled(steering(fighting(), "guard"), again=True)
    assert change.verdict is Verdict.NO_EFFECT
    assert change.verdict_reason == "the named workloads lost their place 1 time more"
    assert change.stage in (Stage.RETURNING, Stage.ENDED)


def test_named_work_that_is_gone_tells_nothing() -> None:
    steers = steering(fighting(), "guard")
    change = changed_after_a_fight(steers)
    steers.world.ends(f"{change.tenant}/fought")
    steers.world.passes(60)
    steers.tick()
    found = steers.ledger.find(change.id)
    assert found is not None
    assert found.verdict is Verdict.CANNOT_TELL


def test_without_guard_a_cycle_is_seen_and_left_alone() -> None:
    steers = steering(fighting(), "lend", "objectives")
    steers.tick()
    fight(steers, 3)
    assert {one.refusal.code for one in thrashing(steers) if one.refusal} == {"NO_STRATEGY"}
    assert steers.ledger.changes == ()


def test_what_nobody_has_to_give_is_left_to_people_and_said() -> None:
    world = fighting(shared=0)
    steers = steering(world, "guard")
    steers.tick()
    fight(steers, 3)
    answers = {one.refusal.code: one.sentence for one in thrashing(steers) if one.refusal}
    assert set(answers) == {"NOTHING_TO_TAKE", "NOT_HOLDING"}
    assert "8 GPUs would end it, and neither the shared part nor a party of the cycle" in answers["NOTHING_TO_TAKE"]
    assert steers.ledger.changes == ()


def test_the_float_of_a_stranger_is_never_taken() -> None:
    tenants = (agreed("vision", 8), agreed("nlp", 8), agreed("ads", 8, 16))
    world = World(*tenants, shared=0, nodes=6)
    for number, tenant in enumerate(("vision", "nlp", "ads")):
        world.runs(tenant, "own", f"n{number}", ago=HOUR)
    world.runs("vision", "fought", "n3", ago=10 * MINUTE)
    world.submits("nlp", "fought", ago=9 * MINUTE)
    steers = steering(world, "guard")
    steers.tick()
    fight(steers, 3)
    assert steers.ledger.changes == ()
    assert steers.world.levels()["trimtab-ads"] == 16


def test_who_is_evicted_within_its_own_entitlement_is_told_that_no_quota_helps() -> None:
    world = World(agreed("vision", 16), agreed("nlp", 8), shared=8, nodes=4)
    world.runs("vision", "fought", "n3", ago=10 * MINUTE)
    world.submits("nlp", "fought", ago=9 * MINUTE)
    steers = steering(world, "guard")
    steers.tick()
    fight(steers, 3)
    answers = {one.finding.tenant: one.refusal.code for one in thrashing(steers) if one.refusal}
    assert answers["vision"] in ("NOT_QUOTA", "NOT_HOLDING")
    assert all(change.tenant == "nlp" for change in steers.ledger.changes) or not steers.ledger.changes
