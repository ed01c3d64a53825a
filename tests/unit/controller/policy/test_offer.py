"""Strategy `offer`: native caps follow what owners do not use, nor are about to; nobody is evicted by it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.model.snapshot import Evidence, RunRecord
from controller.api.policy import Mode, Policy, Targets
from controller.policy.change import IDLE, Stage, Verdict
from controller.policy.owners import OwnersMemory
from controller.policy.strategies.offer import Borrower, caps
from tests.builders import HOUR, agreed
from tests.native_world import NativeWorld
from tests.world import Steering

ENFORCE = Policy(mode=Mode.ENFORCE)
DWELL, TTL, DAY = ENFORCE.cadence.dwell_seconds, ENFORCE.revert.ttl_seconds, ENFORCE.day_seconds
VISION, NLP = "vision/trimtab-cap", "nlp/trimtab-cap"

borrowers = st.lists(
    st.builds(
        Borrower,
        st.sampled_from("abcdef"),
        st.integers(0, 20),
        st.integers(0, 40),
        st.integers(0, 8),
        st.floats(1, 1e5),
    ),
    unique_by=lambda one: one.tenant,
    max_size=6,
)


def idle() -> NativeWorld:
    """vision (8 guaranteed) wants 8 more, and 24 of 40 GPUs stand idle; nlp's cap allows 4."""
    world = NativeWorld(agreed("vision", 8, 0, burst=32), agreed("nlp", 16, 4, burst=32), nodes=5)
    world.runs("vision", "own", "n0", ago=2 * HOUR)
    world.runs("nlp", "own", "n1", ago=2 * HOUR)
    world.is_refused("vision", "more", ago=60)
    return world


def offered() -> Steering:
    """vision/more runs under a cap that follows."""
    steers = Steering(idle())
    steers.tick()
    world = steers.world
    assert isinstance(world, NativeWorld)
    world.refused.discard("vision/more")
    world.starts("vision/more", "n2")
    world.passes(30)
    steers.tick()
    return steers


def stage_of(steers: Steering) -> Stage:
    """Where the youngest change stands."""
    return steers.change.stage


def test_a_cap_rises_in_the_tick_that_sees_extra_work_refused() -> None:
    steers = Steering(idle())
    steers.tick()
    change = steers.change
    assert (change.source, change.destination, change.standing) == (IDLE, VISION, True)
    assert [work.title for work in change.forecast.ready] == ["vision/more"]
    assert "asks for 8 GPUs that its cap refuses" in change.finding
    assert steers.world.levels() == {VISION: 22, NLP: 4}, "8 are asked for; of the rest each may take a half"


def test_it_helped_once_extra_work_runs() -> None:
    steers = offered()
    assert (steers.change.verdict, steers.change.stage) == (Verdict.HELPED, Stage.KEPT)
    assert steers.change.verdict_reason == "extra work of it runs on 8 GPUs that stood idle"


def test_it_follows_what_its_owners_leave_and_may_fall_below_what_is_in_use() -> None:
    steers = offered()
    for number in range(2):
        steers.world.runs("nlp", f"burst{number}", f"n{number + 3}", ago=1)
        steers.world.passes(30)
        steers.tick()
    assert steers.world.levels()[VISION] == 0, "their use rises, and what extra work leaves is not to be lent anew"
    assert steers.change.stage is Stage.KEPT
    steers.world.passes(HOUR)
    steers.tick()
    assert steers.world.levels()[VISION] == 8, "they use 32 of 40, and it rises no more"


def test_it_ends_when_nobody_asked_for_a_dwell_time() -> None:
    steers = offered()
    steers.world.ends("vision/more")
    steers.tick()
    assert stage_of(steers) is Stage.KEPT
    steers.world.passes(DWELL)
    steers.ticks(2)
    assert stage_of(steers) is Stage.ENDED
    assert steers.change.return_reason == "vision no longer needs it"
    assert steers.world.levels() == {VISION: 0, NLP: 4}


def test_followed_up_it_goes_on_and_left_alone_it_ends() -> None:
    steers = offered()
    for _ in range(3):
        steers.world.passes(TTL / 2 + 1)
        steers.tick()
    assert stage_of(steers) is Stage.KEPT, "longer than its first time to live"
    steers.policy = replace(ENFORCE, paused=True)
    steers.world.passes(TTL)
    steers.tick()
    assert stage_of(steers) is Stage.RETURNING
    assert steers.world.levels()[VISION] == 8, "what runs stays"


def test_what_a_person_undid_is_not_done_again() -> None:
    steers = offered()
    steers.world.apply_baseline()
    steers.world.is_refused("vision", "again", ago=60)  # type: ignore[attr-defined]
    steers.ticks(3)
    assert steers.world.levels() == {VISION: 0, NLP: 4}


@pytest.mark.parametrize(
    "policy",
    [
        replace(ENFORCE, mode=Mode.RECOMMEND),
        replace(ENFORCE, paused=True),
        replace(ENFORCE, targets=Targets(tenants=("nlp",))),
        replace(ENFORCE, strategies=("guard", "lend", "objectives")),
    ],
    ids=["recommend", "paused", "not targeted", "left out"],
)
def test_it_obeys_the_policy(policy: Policy) -> None:
    steers = Steering(idle(), policy)
    steers.tick()
    assert steers.ledger.changes == ()


def test_it_obeys_opt_outs_and_blindness() -> None:
    world = idle()
    world.opted_out.add("vision")
    Steering(world).tick()
    assert world.levels() == {VISION: 0, NLP: 4}
    steers = Steering(idle())
    steers.world.evidence = Evidence(blind=("no answer",))
    steers.ticks(2)
    assert steers.ledger.changes == ()


def test_lend_does_not_raise_what_offer_holds_back() -> None:
    steers = offered()
    steers.world.is_refused("vision", "late", gpus=8, pods=3, ago=HOUR)  # type: ignore[attr-defined]
    outcome = steers.ticks(4)
    assert [one.standing for one in steers.ledger.changes] == [True]
    assert all(one.refusal is not None for one in outcome.decisions)


def test_who_is_soon_through_comes_first_and_the_last_gives_way_first() -> None:
    short, long = Borrower("a", 4, 10, 0, 600.0), Borrower("b", 4, 10, 0, 6e4)
    assert caps([short, long], 20, 40) == {"a": 14, "b": 6}
    assert caps([short, long], 5, 40) == {"a": 4, "b": 1}
    assert caps([short, long], 40, 40) == {"a": 20, "b": 20}, "12 are left, and together they have no more than 40"


@given(borrowers, st.integers(0, 100), st.randoms())
def test_caps_promise_no_more_than_there_is_in_any_order(drawn: list[Borrower], safe: int, chance: object) -> None:
    total = 100
    levels = caps(drawn, safe, total)
    assert min(levels.values(), default=0) >= 0
    held = sum(max(one.made, one.agreed) for one in drawn)
    assert sum(max(levels[one.tenant], one.agreed) for one in drawn) <= max(total, held)
    assert sum(levels[one.tenant] - one.made for one in drawn if not one.refused and levels[one.tenant] < one.made) <= 0
    assert caps(list(reversed(drawn)), safe, total) == levels


def test_the_forecast_of_owners_is_their_trend_and_their_fastest_rise_of_late() -> None:
    looks = tuple((60.0 * minute, 10 + (4 * (minute - 20) if minute > 20 else 0)) for minute in range(31))
    memory = OwnersMemory({"h100": looks})
    assert memory.soon("h100", DAY) == 160, "4 a minute for 40 minutes"
    assert memory.at_once("h100", 1000, DAY) == 12, "three minutes of it"
    assert memory.at_once("h100", 8, DAY) == 2, "never more than a quarter of the pool"
    falling = OwnersMemory({"h100": tuple((at, 100 - gpus) for at, gpus in looks)})
    assert (falling.soon("h100", DAY), falling.at_once("h100", 1000, DAY)) == (0, 0)
    assert (OwnersMemory().soon("h100", DAY), OwnersMemory().at_once("h100", 8, DAY)) == (0, 0)
    assert all(before[0] < after[0] for before, after in pairwise(looks))


def test_a_tenant_without_a_record_is_expected_to_run_as_usual() -> None:
    assert RunRecord().expected_seconds(3600.0) == 3600.0
    assert RunRecord(7200.0, 3).expected_seconds(3600.0) == 2700.0
    assert RunRecord(86400.0, 0).expected_seconds(3600.0) == 90000.0, "what still runs has told that it is long"
