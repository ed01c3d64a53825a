"""Loans: what stands idle of a float is lent to everybody, and its tenant gets it back when it is late."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.api.policy import Budgets, Cadence, Lending, Mode, Policy
from controller.policy.change import Stage, Verdict
from controller.policy.finding import Trouble
from tests.builders import HOUR, MINUTE, agreed
from tests.world import Steering, World

LENDS = Policy(
    mode=Mode.ENFORCE,
    budgets=Budgets(changes_per_day=96, tenants_per_hour=20),
    lending=Lending(),
    cadence=Cadence(dwell_seconds=60.0),
)


def quiet() -> World:
    """vision uses its guarantee alone, nlp all it has and more waits, ads its own."""
    world = World(agreed("vision", 8, 24), agreed("nlp", 8, 8), agreed("ads", 8), shared=0, nodes=7)
    world.runs("vision", "web", "n0", ago=2 * HOUR)
    world.runs("nlp", "old", "n1", "n2", ago=2 * HOUR)
    world.runs("ads", "own", "n3", ago=2 * HOUR)
    return world


def lent() -> tuple[World, Steering]:
    world = quiet()
    steers = Steering(world, LENDS)
    steers.ticks(3)
    return world, steers


def levels(steers: Steering) -> dict[str, int]:
    """Own object → GPUs that it holds now, as last written."""
    return dict(steers.writes)


def test_a_float_is_its_tenants_reserve_where_the_policy_does_not_lend() -> None:
    steers = Steering(quiet(), replace(LENDS, lending=None))
    steers.ticks(4)
    assert (steers.ledger.changes, steers.writes) == ((), [])


def test_what_stands_idle_of_a_float_is_lent_to_everybody() -> None:
    _, steers = lent()
    (loan,) = steers.ledger.changes
    assert (loan.tenant, loan.source, loan.destination) == ("vision", "trimtab-vision", "trimtab-shared")
    assert (loan.amount, loan.lends, loan.verdict, loan.stage) == (16, True, Verdict.HELPED, Stage.KEPT)
    assert levels(steers) == {"trimtab-vision": 8, "trimtab-shared": 16}
    assert loan.reason == (
        "vision does not use 16 GPUs of its float in pool h100. Move 16 GPUs from trimtab-vision to trimtab-shared: "
        "lent to everybody until vision is late."
    )


def test_a_late_lender_gets_back_what_it_lacks_and_no_more() -> None:
    world, steers = lent()
    world.submits("vision", "late", ago=HOUR)
    world.submits("vision", "more", ago=HOUR)
    steers.ticks(1)
    (loan,) = [one for one in steers.ledger.changes if one.lends]
    assert (loan.amount, loan.given, loan.recalled_at is not None) == (8, 8, True)
    assert levels(steers) == {"trimtab-vision": 16, "trimtab-shared": 8}


def test_what_came_back_is_not_lent_again_at_once() -> None:
    world, steers = lent()
    world.submits("vision", "late", ago=HOUR)
    steers.ticks(2)
    world.ends("vision/late")
    assert Trouble.IDLE_FLOAT not in {finding.kind for finding in steers.ticks(3).findings}


def test_a_float_is_lent_only_after_it_stood_idle_for_a_whole_dwell() -> None:
    steers = Steering(quiet(), replace(LENDS, cadence=Cadence(dwell_seconds=300.0)))
    steers.ticks(9)
    assert steers.ledger.changes == ()
    steers.ticks(1)
    assert len(steers.ledger.changes) == 1


def test_little_is_not_worth_a_change() -> None:
    steers = Steering(quiet(), replace(LENDS, lending=Lending(least=17)))
    steers.ticks(4)
    assert steers.ledger.changes == ()


def test_a_reserve_stays() -> None:
    steers = Steering(quiet(), replace(LENDS, lending=Lending(reserve=3, least=1)))
    steers.ticks(3)
    assert [one.amount for one in steers.ledger.changes] == [13]


def test_a_loan_that_ends_keeps_what_is_in_use_of_it() -> None:
    world, steers = lent()
    world.runs("nlp", "more", "n4", ago=MINUTE)
    (loan,) = steers.ledger.changes
    steers.policy = replace(LENDS, lending=None)
    world.passes(loan.expires_at - world.now + 1)
    steers.tick()
    (loan,) = [one for one in steers.ledger.changes if one.id == loan.id]
    assert (loan.stage, loan.amount) == (Stage.ENDED, 0), "nobody uses more than is guaranteed to all"


def test_a_loan_goes_on_while_its_lender_does_without_it() -> None:
    world, steers = lent()
    (loan,) = steers.ledger.changes
    world.passes(loan.expires_at - world.now + 1)
    steers.tick()
    (after,) = steers.ledger.changes
    assert (after.id, after.stage, after.amount) == (loan.id, Stage.KEPT, 16)
    assert after.expires_at == world.now + LENDS.revert.ttl_seconds


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.RECOMMEND])
def test_nothing_is_lent_without_leave(mode: Mode) -> None:
    steers = Steering(quiet(), replace(LENDS, mode=mode))
    steers.ticks(4)
    assert steers.ledger.changes == ()
