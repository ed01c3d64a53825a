"""Trials: what a change showed, and how it ends: softly, or at once when people say so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.snapshot import Evidence
from controller.api.policy import Mode, Policy
from controller.policy.change import Change, Stage, Verdict
from tests.builders import HOUR, agreed
from tests.world import Steering, World, starving_world

ENFORCE = Policy(mode=Mode.ENFORCE)
DWELL = ENFORCE.cadence.dwell_seconds
TTL = ENFORCE.revert.ttl_seconds


def on_trial(world: World | None = None) -> Steering:
    """vision was given 8 GPUs of the shared part for vision/late; nlp/job3 may be evicted."""
    steers = Steering(starving_world() if world is None else world)
    steers.ticks(2)
    assert steers.change.stage is Stage.ON_TRIAL
    return steers


def helped() -> Steering:
    """vision/late took the place of nlp/job3."""
    steers = on_trial()
    steers.world.is_evicted("nlp/job3", by="vision/late")
    steers.world.starts("vision/late", "n5")
    steers.tick()
    assert (steers.change.verdict, steers.change.stage) == (Verdict.HELPED, Stage.KEPT)
    return steers


def after(steers: Steering, seconds: float) -> Change:
    steers.world.passes(seconds)
    steers.tick()
    return steers.change


def test_a_change_whose_named_work_became_ready_helped_and_is_kept() -> None:
    change = helped().change
    assert change.verdict_reason == "all 1 named workloads became Ready"
    assert change.seen_ready == ("vision/Job/late/",)


def test_work_that_was_ready_in_any_look_was_ready() -> None:
    steers = on_trial()
    steers.world.starts("vision/late", "n5")
    steers.world.submits("vision", "other", ago=HOUR)
    steers.tick()
    steers.world.ends("vision/late")
    assert after(steers, DWELL).verdict is Verdict.HELPED


def test_a_trial_is_extended_once_and_then_had_no_effect() -> None:
    steers = on_trial()
    change = after(steers, DWELL)
    assert (change.stage, change.extended, change.verdict) == (Stage.ON_TRIAL, True, None)
    assert change.forecast.ready_by == steers.world.now + DWELL
    change = after(steers, DWELL)
    assert (change.stage, change.verdict) == (Stage.ENDED, Verdict.NO_EFFECT)
    assert change.return_reason == "verdict no-effect: none of 1 named workloads became Ready in time"
    assert steers.world.levels() == {"trimtab-nlp": 8, "trimtab-shared": 16, "trimtab-vision": 8}


def test_more_evictions_than_forecast_hurt_and_the_change_goes_back() -> None:
    steers = on_trial()
    for name in ("job3", "job2"):
        steers.world.is_evicted(f"nlp/{name}", by="vision/late")
    change = after(steers, 30)
    assert change.verdict is Verdict.HURT
    assert change.verdict_reason == "1 more evictions than forecast"
    assert change.stage in (Stage.RETURNING, Stage.ENDED)


def test_evictions_that_unnamed_work_of_the_tenant_may_have_caused_are_not_held_against_the_change() -> None:
    steers = on_trial()
    steers.world.submits("vision", "newcomer", ago=60)
    steers.world.starts("vision/newcomer", "n6")
    for name in ("job3", "job2"):
        steers.world.is_evicted(f"nlp/{name}", by="vision/late")
    assert after(steers, 30).verdict is not Verdict.HURT


def test_earlier_evictions_by_others_are_not_its_fault() -> None:
    world = starving_world()
    world.ends("vision/late")
    steers = Steering(world)
    for _ in range(3):
        world.is_evicted("nlp/job3", by="nlp/job0")
        steers.tick()
        world.starts("nlp/job3", "n5")
        world.passes(30)
    world.submits("vision", "late", ago=HOUR)
    steers.ticks(2)
    assert [work.title for work in steers.change.forecast.evicted] == ["nlp/job3"]
    world.passes(30)
    world.is_evicted("nlp/job3", by="vision/late")
    world.starts("vision/late", "n5")
    steers.tick()
    assert steers.change.verdict is Verdict.HELPED


def test_named_work_that_was_withdrawn_leaves_nothing_to_tell() -> None:
    steers = on_trial()
    steers.world.ends("vision/late")
    steers.world.submits("vision", "other", ago=HOUR)
    after(steers, DWELL)
    change = after(steers, DWELL)
    assert (change.verdict, change.stage) == (Verdict.CANNOT_TELL, Stage.KEPT)
    assert "not seen to start" in change.verdict_reason


def test_a_part_of_the_named_work_is_help_too() -> None:
    world = starving_world()
    world.submits("vision", "late", gpus=4, ago=HOUR)
    world.submits("vision", "later", gpus=4, ago=HOUR - 1)
    steers = on_trial(world)
    world.starts("vision/late", "n5")
    for _ in range(3):
        after(steers, DWELL)
    change = steers.change
    assert (change.verdict, change.verdict_reason) == (Verdict.HELPED, "1 of 2 named workloads became Ready")


def test_blind_ticks_judge_nothing() -> None:
    steers = on_trial()
    steers.world.evidence = Evidence(blind=("Prometheus is gone",))
    steers.world.starts("vision/late", "n5")
    for _ in range(4):
        after(steers, DWELL)
    change = steers.change
    assert (change.verdict, change.stage, change.extended) == (None, Stage.ON_TRIAL, False)
    steers.world.evidence = Evidence()
    assert after(steers, 30).verdict is Verdict.HELPED


def test_a_trial_is_judged_before_its_time_to_live_ends_it() -> None:
    steers = Steering(starving_world(), policy=replace(ENFORCE, revert=replace(ENFORCE.revert, ttl_seconds=DWELL)))
    steers.ticks(2)
    change = after(steers, DWELL)
    assert change.verdict is Verdict.NO_EFFECT
    assert not change.extended


def test_a_change_that_ends_unjudged_can_not_be_told() -> None:
    steers = on_trial()
    steers.world.evidence = Evidence(blind=("Prometheus is gone",))
    change = after(steers, TTL)
    assert change.stage is Stage.ENDED
    assert change.return_reason.startswith("its time to live ended at 20")
    assert (change.verdict, change.verdict_reason) == (Verdict.CANNOT_TELL, "it ended before it could be judged")


def test_at_its_end_a_change_follows_usage_down_and_evicts_nobody() -> None:
    steers = helped()
    world = steers.world
    world.runs("vision", "extra", "n5", gpus=4, ago=60)
    world.passes(TTL)
    assert_level(steers, 16, "20 are in use, 8 + 8 agreed: all that was given stays for now")
    world.ends("vision/late")
    assert_level(steers, 12, "12 + 8 are in use")
    world.ends("vision/extra")
    assert_level(steers, 8, "the baseline")
    assert steers.change.stage is Stage.ENDED
    assert world.levels() == {"trimtab-nlp": 8, "trimtab-shared": 16, "trimtab-vision": 8}


def assert_level(steers: Steering, gpus: int, why: str) -> None:
    steers.tick()
    assert steers.world.levels()["trimtab-vision"] == gpus, why
    assert sum(steers.world.levels().values()) == 32


def test_work_that_is_admitted_after_the_end_keeps_no_tap_open() -> None:
    steers = helped()
    steers.world.passes(TTL)
    steers.tick()
    steers.world.ends("vision/late")
    steers.world.passes(30)
    steers.world.starts(steers.world.submits("vision", "new"), "n5")
    assert_level(steers, 8, "what came later has no claim")


def test_a_return_never_rises_again() -> None:
    steers = helped()
    steers.world.passes(TTL)
    steers.world.ends("vision/late")
    steers.world.runs("vision", "half", "n5", gpus=4, ago=60)
    assert_level(steers, 12, "4 beyond the agreed 16")
    steers.world.runs("vision", "late", "n5", ago=60)
    assert_level(steers, 12, "once lowered it stays")


def test_two_changes_that_end_together_both_leave_what_is_in_use() -> None:
    steers = helped()
    world = steers.world
    world.submits("vision", "later", ago=HOUR)
    world.passes(DWELL)
    steers.ticks(2)
    world.is_evicted("nlp/job2", by="vision/later")
    world.starts("vision/later", "n4")
    steers.tick()
    assert [change.stage for change in steers.ledger.active] == [Stage.KEPT, Stage.KEPT]
    world.passes(TTL)
    assert_level(steers, 24, "32 are in use")
    world.ends("vision/late")
    assert_level(steers, 16, "24 are in use")
    world.ends("vision/later")
    assert_level(steers, 8, "the baseline")


def test_a_hard_return_keeps_nothing_unless_blind() -> None:
    steers = helped()
    change = steers.change.returning(steers.world.now, "a person asked", hard=True)
    steers.save(steers.ledger.with_change(change))
    steers.world.evidence = Evidence(blind=("Prometheus is gone",))
    assert_level(steers, 16, "nothing that may evict happens blind")
    steers.world.evidence = Evidence()
    assert_level(steers, 8, "at once")
    assert steers.change.stage is Stage.ENDED


def test_returns_go_on_in_every_mode_and_while_paused() -> None:
    steers = helped()
    steers.policy = replace(ENFORCE, mode=Mode.OBSERVE, paused=True)
    steers.world.ends("vision/late")
    assert after(steers, TTL).stage is Stage.ENDED


def test_while_prometheus_is_gone_returns_follow_usage_and_nothing_is_raised() -> None:
    steers = helped()
    steers.world.evidence = Evidence(blind=("Prometheus is gone",))
    steers.world.passes(TTL)
    assert_level(steers, 16, "in use")
    steers.world.ends("vision/late")
    assert_level(steers, 8, "followed down")


def test_an_intent_that_was_never_written_is_not_written_once_blind() -> None:
    steers = Steering(starving_world(), refused={"trimtab-vision": "TIMED_OUT"})
    steers.ticks(2)
    assert steers.change.given == 8
    steers.world.runs("vision", "borrowing", "n5", ago=60)
    steers.world.evidence = Evidence(blind=("Prometheus is gone",))
    steers.refused = {}
    steers.ticks(2)
    assert [level for name, level in steers.writes if name == "trimtab-vision" and level > 8] == []
    assert steers.change.stage is Stage.ENDED
    assert steers.world.levels()["trimtab-shared"] == 16


@pytest.mark.parametrize(("mode", "paused"), [(Mode.RECOMMEND, False), (Mode.ENFORCE, True)])
def test_a_change_half_written_goes_back_when_writing_is_no_longer_allowed(mode: Mode, paused: bool) -> None:
    steers = Steering(starving_world(), refused={"trimtab-vision": "TIMED_OUT"})
    steers.ticks(2)
    assert steers.world.levels()["trimtab-shared"] == 8
    steers.refused, steers.policy = {}, replace(ENFORCE, mode=mode, paused=paused)
    steers.ticks(2)
    assert steers.change.return_reason == "not completed: writing is not allowed at the moment"
    assert (steers.change.stage, steers.change.verdict) == (Stage.ENDED, Verdict.CANNOT_TELL)
    assert steers.world.levels() == {"trimtab-nlp": 8, "trimtab-shared": 16, "trimtab-vision": 8}


def test_what_is_no_longer_needed_for_the_dwell_time_ends_early() -> None:
    steers = helped()
    steers.world.ends("vision/late")
    steers.tick()
    assert after(steers, DWELL - 1).stage is Stage.KEPT
    change = after(steers, 1)
    assert (change.stage, change.return_reason) == (Stage.ENDED, "vision no longer needs it")


@pytest.mark.parametrize("disturbed", ["needed again", "blind"])
def test_a_quiet_time_that_was_disturbed_starts_again(disturbed: str) -> None:
    steers = helped()
    steers.world.ends("vision/late")
    after(steers, 0)
    if disturbed == "blind":
        steers.world.evidence = Evidence(blind=("Prometheus is gone",))
    else:
        steers.world.submits("vision", "again")
    after(steers, DWELL - 1)
    steers.world.evidence = Evidence()
    steers.world.gangs.pop("vision/again", None)
    assert after(steers, 1).stage is Stage.KEPT
    assert after(steers, DWELL).stage is Stage.ENDED


def test_a_lender_whose_own_work_is_late_gets_its_float_back() -> None:
    world = World(agreed("vision", 8, 8, burst=32), agreed("nlp", 8, 8), agreed("ads", 8, 8), shared=0, nodes=6)
    world.runs("vision", "old", "n0", "n1", ago=2 * HOUR)
    for number in range(3):
        world.runs("nlp", f"job{number}", f"n{number + 2}", ago=HOUR)
    world.submits("vision", "late", ago=HOUR)
    steers = on_trial(world)
    assert steers.change.source == "trimtab-ads"
    world.starts("vision/late", "n5")
    steers.tick()
    world.submits("ads", "own", pods=2, ago=60)
    assert after(steers, 30).stage is Stage.KEPT, "not late yet"
    change = after(steers, 2 * HOUR)
    assert change.return_reason == "its lender ads needs its own float back"
    assert change.stage is Stage.RETURNING


def test_a_person_who_applies_the_baseline_ends_the_change() -> None:
    steers = helped()
    steers.world.apply_baseline()
    steers.tick()
    assert (steers.change.stage, steers.writes[2:]) == (Stage.ENDED, [])
    assert steers.change.return_reason == "its mark is gone from the object: undone by a person"
    assert steers.world.levels() == {"trimtab-nlp": 8, "trimtab-shared": 16, "trimtab-vision": 8}


@pytest.mark.parametrize("name", ["trimtab-shared", "trimtab-vision"])
def test_a_person_who_applies_a_part_of_the_baseline_gets_the_rest_of_it(name: str) -> None:
    steers = helped()
    steers.world.apply_baseline(name)
    steers.tick()
    assert steers.change.stage is Stage.ENDED
    assert steers.world.levels() == {"trimtab-nlp": 8, "trimtab-shared": 16, "trimtab-vision": 8}
    assert name not in [written for written, _ in steers.writes[2:]], "what the person wrote is not written over"


def test_a_mark_that_was_only_erased_ends_the_change_softly() -> None:
    steers = helped()
    del steers.world.cohorts["trimtab-vision"]["metadata"]["annotations"]
    assert_level(steers, 16, "in use")
    assert (steers.change.stage, steers.change.hard) == (Stage.RETURNING, False)
    assert steers.change.return_reason == "its mark is gone from the object"


def test_cohorts_that_can_not_be_read_do_not_look_undone() -> None:
    steers = helped()
    steers.world.picture_fields = {"unreadable": {"cohorts": "forbidden"}, "cohorts": {}}
    steers.tick()
    assert steers.change.stage is Stage.KEPT


def test_a_baseline_that_no_longer_holds_what_was_taken_overrules_the_change() -> None:
    steers = helped()
    world = steers.world
    nlp, shared, vision = world.baseline.leaves
    world.baseline = replace(
        world.baseline, leaves=(nlp, replace(shared, amounts=dict.fromkeys(shared.amounts, 4)), vision)
    )
    steers.tick()
    assert steers.change.stage is Stage.ENDED
    assert world.levels() == {"trimtab-nlp": 8, "trimtab-shared": 4, "trimtab-vision": 8}


@pytest.mark.parametrize("name", ["trimtab-shared", "trimtab-vision"])
def test_a_leaf_that_left_the_baseline_ends_its_changes_and_the_other_leaf_is_put_right(name: str) -> None:
    steers = helped()
    world = steers.world
    leaves = tuple(leaf for leaf in world.baseline.leaves if leaf.name != name)
    world.baseline = replace(world.baseline, leaves=leaves)
    del world.cohorts[name]
    steers.tick()
    assert steers.change.stage is Stage.ENDED
    assert steers.change.return_reason == f"{name} is no longer in the baseline"
    assert world.levels() == {leaf.name: next(iter(leaf.amounts.values())) for leaf in leaves}


def test_a_baseline_that_is_gone_altogether_touches_nothing() -> None:
    steers = helped()
    steers.world.baseline = replace(steers.world.baseline, leaves=())
    steers.tick()
    assert steers.change.stage is Stage.KEPT
