"""Native lending for a finding: a cap rises to what is idle, takes from nobody, evicts nobody, falls with its use.

So it is where a policy leaves strategy `offer` out; with it, caps stand before anything is overdue (`test_offer`).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.reading import Unknown
from collector.model.snapshot import Evidence, WaitingName
from controller.api.policy import Budgets, Mode, Policy
from controller.policy.change import IDLE, Stage, Verdict
from controller.policy.engine import Outcome
from controller.policy.ledger import budget_use
from tests.builders import HOUR, agreed, pool_of
from tests.native_world import NativeWorld
from tests.world import Crash, Fuse, Steering

ENFORCE = Policy(mode=Mode.ENFORCE, strategies=("guard", "lend", "objectives"))
DWELL, TTL = ENFORCE.cadence.dwell_seconds, ENFORCE.revert.ttl_seconds
VISION, NLP = "vision/trimtab-cap", "nlp/trimtab-cap"


def lending() -> NativeWorld:
    """vision (8 guaranteed) wants 8 more and its cap refuses them, while 24 of 40 GPUs stand idle."""
    world = NativeWorld(agreed("vision", 8, 0, burst=32), agreed("nlp", 16, 4, burst=32), nodes=5)
    world.runs("vision", "own", "n0", ago=2 * HOUR)
    world.runs("nlp", "own", "n1", ago=2 * HOUR)
    world.is_refused("vision", "more", ago=HOUR)
    return world


def code(outcome: Outcome, tenant: str = "vision") -> str:
    (decision,) = [one for one in outcome.decisions if one.finding.tenant == tenant]
    return decision.refusal.code if decision.refusal else "MADE"


def raised() -> Steering:
    """The cap of vision was raised for vision/more, which runs."""
    steers = Steering(lending(), ENFORCE)
    steers.ticks(2)
    world = steers.world
    assert isinstance(world, NativeWorld)
    world.refused.discard("vision/more")
    world.starts("vision/more", "n2")
    steers.tick()
    assert (steers.change.verdict, steers.change.stage) == (Verdict.HELPED, Stage.KEPT)
    return steers


def test_a_cap_rises_by_what_its_refused_work_needs() -> None:
    steers = Steering(lending(), ENFORCE)
    outcome = steers.ticks(2)
    assert steers.world.levels() == {VISION: 8, NLP: 4}
    change = steers.change
    assert (change.source, change.destination, change.amount) == (IDLE, VISION, 8)
    assert [work.title for work in change.forecast.ready] == ["vision/more"]
    assert outcome.findings[0].kind is WaitingName.REFUSED
    assert outcome.sentence.endswith("evicts nobody.")
    assert steers.writes == [(VISION, 8)]


def test_giving_what_stands_idle_is_free_of_the_budgets_of_takes() -> None:
    steers = Steering(lending(), replace(ENFORCE, budgets=Budgets(changes_per_day=0, tenants_per_hour=0)))
    steers.ticks(2)
    assert steers.world.levels()[VISION] == 8
    used = budget_use(steers.ledger, steers.change.created_at, ENFORCE.day_seconds)
    assert (used.changes_today, used.tenants_this_hour) == (0, frozenset())


@pytest.mark.parametrize(
    ("idle_nodes", "level"), [(3, 8), (2, 8), (1, 0)], ids=["plenty", "just enough", "promised to nlp's cap"]
)
def test_it_rises_only_to_what_is_idle_and_promised_to_nobody_else(idle_nodes: int, level: int) -> None:
    world = lending()
    for number in range(3 - idle_nodes):
        world.runs("nlp", f"own{number}", f"n{number + 2}", ago=HOUR)
    steers = Steering(world, ENFORCE)
    outcome = steers.ticks(2)
    assert world.levels()[VISION] == level
    assert level or code(outcome) == "NOTHING_TO_TAKE"


def test_idle_gpus_that_guaranteed_work_waits_for_are_not_lent() -> None:
    world = lending()
    for number in range(2):
        world.submits("nlp", f"soon{number}", ago=60)
    assert code(Steering(world, ENFORCE).ticks(2)) == "NOTHING_TO_TAKE"


def test_what_one_cap_was_promised_is_not_promised_to_another() -> None:
    world = NativeWorld(agreed("vision", 8, 0, burst=32), agreed("nlp", 48, 4, burst=72), nodes=9)
    world.runs("vision", "own", "n0", ago=2 * HOUR)
    for number in range(6):
        world.runs("nlp", f"own{number}", f"n{number + 1}", ago=2 * HOUR)
    world.is_refused("vision", "more", ago=HOUR)
    steers = Steering(world, ENFORCE, refused={VISION: "TIMED_OUT"})
    steers.ticks(2)
    world.is_refused("nlp", "more", pods=2, ago=HOUR)
    steers.ticks(3)
    steers.refused = {}
    steers.ticks(2)
    assert world.levels() == {VISION: 8, NLP: 4}, "16 GPUs are idle: 8 are promised, and 12 more do not fit"


def test_idle_gpus_that_form_no_whole_node_are_not_lent() -> None:
    world = lending()
    world.ends("nlp/own")
    for number in range(4):
        world.runs("nlp", f"part{number}", f"n{number + 1}", gpus=4, ago=HOUR)
    assert code(Steering(world, ENFORCE).ticks(2)) == "FRAGMENTED"


def test_what_the_guarantee_refuses_is_left_to_git() -> None:
    world = lending()
    world.ends("vision/more")
    world.extra.discard("vision/more")
    world.submits("vision", "plain", ago=HOUR)
    world.refused = {"vision/plain"}
    outcome = Steering(world, ENFORCE).ticks(2)
    assert all(decision.change_id is None for decision in outcome.decisions)


def test_at_its_end_a_cap_falls_to_what_its_borrow_work_uses() -> None:
    steers = raised()
    steers.world.passes(TTL)
    steers.tick()
    assert steers.world.levels()[VISION] == 8, "in use"
    steers.world.ends("vision/more")
    steers.tick()
    assert steers.world.levels()[VISION] == 0
    assert steers.change.stage is Stage.ENDED


def test_guaranteed_work_does_not_hold_a_cap_up() -> None:
    steers = raised()
    steers.world.ends("vision/more")
    steers.world.runs("vision", "own2", "n2", ago=60)
    steers.world.passes(TTL)
    steers.tick()
    assert steers.world.levels()[VISION] == 0


def test_a_cap_falls_when_the_owners_have_taken_their_gpus_back() -> None:
    steers = raised()
    steers.world.ends("vision/more")
    for number in range(3):
        steers.world.runs("nlp", f"own{number}", f"n{number + 2}", ago=60)
    steers.ticks(2)
    assert steers.change.return_reason == "8 of the lent GPUs went back to their owners"
    assert steers.world.levels()[VISION] == 0


def test_a_person_who_applies_the_baseline_ends_the_change() -> None:
    steers = raised()
    steers.world.apply_baseline()
    steers.tick()
    assert steers.change.stage is Stage.ENDED
    assert steers.world.levels() == {VISION: 0, NLP: 4}


def test_a_cap_that_left_the_baseline_ends_its_change() -> None:
    steers = raised()
    world = steers.world
    assert isinstance(world, NativeWorld)
    caps = tuple(cap for cap in world.baseline.caps if cap.name != VISION)
    world.baseline = replace(world.baseline, caps=caps)
    del world.caps[VISION]
    steers.tick()
    assert steers.change.stage is Stage.ENDED
    assert steers.change.return_reason == f"{VISION} is no longer in the baseline"


def test_a_pool_that_lost_nodes_is_lowered_and_not_latched() -> None:
    steers = raised()
    world = steers.world
    world.node_names = world.node_names[:1]
    world.gangs = {title: gang for title, gang in world.gangs.items() if title == "vision/own"}
    world.passes(TTL)
    steers.tick()
    assert world.levels() == {VISION: 0, NLP: 4}


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("calls", range(3))
def test_after_a_crash_a_rise_is_completed(calls: int, after: bool) -> None:
    steers = Steering(lending(), ENFORCE)
    steers.tick()
    steers.fuse = Fuse(calls, after)
    with pytest.raises(Crash):
        steers.tick()
    steers.restart()
    steers.ticks(3)
    assert steers.world.levels()[VISION] == 8
    (change,) = steers.ledger.changes
    assert change.stage is Stage.ON_TRIAL


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("calls", range(3))
def test_a_crash_that_loses_the_ledger_too_leaves_what_the_marks_tell(calls: int, after: bool) -> None:
    steers = Steering(lending(), ENFORCE)
    steers.tick()
    steers.fuse = Fuse(calls, after)
    with pytest.raises(Crash):
        steers.tick()
    steers.restart()
    steers.kept = {}
    steers.world.ends("vision/more")
    steers.tick()
    steers.world.passes(TTL + HOUR)
    steers.ticks(3)
    assert steers.world.levels() == {VISION: 0, NLP: 4}
    assert steers.ledger.active == ()


def test_blind_raises_nothing_and_still_lowers() -> None:
    steers = Steering(lending(), ENFORCE)
    steers.world.evidence = Evidence(blind=("no answer",))
    assert code(steers.ticks(3)) == "BLIND"
    assert steers.writes == []
    steers = raised()
    steers.world.evidence = Evidence(blind=("no answer",))
    steers.world.ends("vision/more")
    steers.world.passes(TTL)
    steers.tick()
    assert steers.world.levels()[VISION] == 0


def test_a_cap_that_is_not_there_is_no_zero() -> None:
    world = lending()
    del world.caps[VISION]
    steers = Steering(world, ENFORCE)
    outcome = steers.ticks(2)
    assert isinstance(pool_of(steers.look()[0], "vision").entitled_now, Unknown)
    assert all(decision.change_id is None for decision in outcome.decisions)
