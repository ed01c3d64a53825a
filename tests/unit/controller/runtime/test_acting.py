"""Acting: intent, take, give, outcome; what is refused, fenced off or cut short by a crash is completed or undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.reading import Known
from controller.api.errors import InvariantError
from controller.api.policy import Mode, Policy
from controller.knobs.marks import marks_of
from controller.policy.change import Change, Stage, Verdict
from controller.policy.ledger import Ledger
from controller.policy.targets import Target
from controller.runtime.acting import Acting, Written
from tests.builders import HOUR, a_change
from tests.world import Crash, Fuse, Steering, starving_world

BASELINE = {"trimtab-nlp": 8, "trimtab-shared": 16, "trimtab-vision": 8}
MOVED = {"trimtab-nlp": 8, "trimtab-shared": 8, "trimtab-vision": 16}


def about_to_move() -> Steering:
    """The next tick makes a change."""
    steers = Steering(starving_world())
    steers.tick()
    steers.world.passes(30)
    return steers


def about_to_return() -> Steering:
    """The next tick sends a change back that nobody uses any more."""
    steers = about_to_move()
    steers.tick()
    steers.world.ends("vision/late")
    steers.world.passes(5 * HOUR)
    return steers


def dies(steers: Steering, calls: int, *, after: bool) -> bool:
    """Whether a tick that dies at that write came so far."""
    steers.fuse = Fuse(calls, after)
    try:
        steers.tick()
    except Crash:
        steers.restart()
        return True
    steers.fuse = Fuse()
    return False


def crash_points(steers: Steering) -> int:
    """How many writes the next tick makes: of the ledger, and of objects."""
    counted = steers.fuse = Fuse(10**6)
    steers.tick()
    return 10**6 - (counted.calls_left or 0)


def test_a_move_is_intent_take_give_outcome() -> None:
    steers = about_to_move()
    order: list[str] = []

    class Noted(Steering):
        def save(self, ledger: Ledger) -> None:
            for one in ledger.changes:
                stand = f"{one.taken}/{one.given} {one.taken_written}/{one.given_written} {one.stage}"
                if stand not in order:
                    order.append(stand)
            super().save(ledger)

        def written(self, before: int) -> None:
            order.append(" = ".join(str(part) for part in self.writes[-1]))
            super().written(before)

    noted = Noted(steers.world)
    noted.ticks(2)
    assert order == [
        "8/0 0/0 intended",
        "trimtab-shared = 8",
        "8/0 8/0 intended",
        "8/8 8/0 intended",
        "trimtab-vision = 16",
        "8/8 8/8 on-trial",
    ]


CRASHES = [(calls, after) for calls in range(crash_points(about_to_move())) for after in (False, True)]


def test_the_crashes_below_are_between_any_two_writes() -> None:
    assert len(CRASHES) == 2 * 6


@pytest.mark.parametrize(("calls", "after"), CRASHES)
def test_after_a_crash_a_move_is_completed(calls: int, after: bool) -> None:
    steers = about_to_move()
    assert dies(steers, calls, after=after)
    steers.ticks(3)
    assert steers.world.levels() == MOVED
    (change,) = steers.ledger.changes
    assert (change.stage, change.taken_written, change.given_written) == (Stage.ON_TRIAL, 8, 8)


@pytest.mark.parametrize(("calls", "after"), CRASHES)
@pytest.mark.parametrize("why_not", ["paused", "blind"])
def test_after_a_crash_a_move_is_undone_where_it_may_not_go_on(calls: int, after: bool, why_not: str) -> None:
    steers = about_to_move()
    assert dies(steers, calls, after=after)
    if why_not == "paused":
        steers.policy = replace(steers.policy, paused=True)
    else:
        steers.world.evidence = replace(steers.world.evidence, blind=("Prometheus is gone",))
    steers.ticks(3)
    complete = bool(steers.ledger.changes) and steers.change.stage is Stage.ON_TRIAL
    assert steers.world.levels() == (MOVED if complete else BASELINE)
    assert complete or steers.ledger.active == ()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("calls", range(crash_points(about_to_return())))
def test_after_a_crash_a_return_is_completed(calls: int, after: bool) -> None:
    steers = about_to_return()
    assert dies(steers, calls, after=after)
    steers.ticks(2)
    assert steers.world.levels() == BASELINE
    assert steers.ledger.active == ()


@pytest.mark.parametrize(("calls", "after"), CRASHES)
def test_a_crash_that_loses_the_ledger_too_leaves_what_the_marks_tell(calls: int, after: bool) -> None:
    steers = about_to_move()
    assert dies(steers, calls, after=after)
    steers.kept = {}
    steers.world.ends("vision/late")
    steers.ticks(2)
    steers.world.passes(5 * HOUR)
    steers.ticks(3)
    assert steers.world.levels() == BASELINE
    assert steers.ledger.active == ()


def test_a_take_that_is_refused_gives_nothing() -> None:
    steers = about_to_move()
    steers.refused = {"trimtab-shared": "CONFLICT"}
    steers.ticks(3)
    assert steers.world.levels() == BASELINE
    assert steers.problems == ["trimtab-shared: CONFLICT: refused"]
    assert steers.change.stage is Stage.INTENDED
    steers.refused = {}
    steers.tick()
    assert steers.world.levels() == MOVED


def test_a_trial_begins_when_all_is_written() -> None:
    steers = about_to_move()
    steers.refused = {"trimtab-vision": "TIMED_OUT"}
    steers.tick()
    made, promised = steers.change.created_at, steers.change.forecast.ready_by
    steers.world.passes(300)
    steers.refused = {}
    steers.tick()
    assert (steers.change.applied_at, steers.change.forecast.ready_by) == (made + 300, promised + 300)


def test_an_intent_that_could_not_be_written_ends_with_its_time_to_live() -> None:
    steers = about_to_move()
    steers.refused = {"trimtab-shared": "FORBIDDEN"}
    steers.tick()
    steers.world.passes(5 * HOUR)
    steers.world.ends("vision/late")
    steers.ticks(2)
    assert (steers.change.stage, steers.change.verdict) == (Stage.ENDED, Verdict.CANNOT_TELL)
    assert steers.world.levels() == BASELINE


@pytest.mark.parametrize("name", ["trimtab-shared", "trimtab-vision"])
def test_what_the_server_refuses_in_preview_is_not_begun(name: str) -> None:
    steers = about_to_move()
    steers.refused_in_preview = {name: "REJECTED"}
    steers.tick()
    assert (steers.writes, steers.world.levels()) == ([], BASELINE)
    assert (steers.change.stage, steers.change.return_reason) == (Stage.ENDED, "refused in preview: REJECTED")
    assert steers.problems == [f"change {steers.change.id} was not begun: {name}: REJECTED: the webhook says no"]


@pytest.mark.parametrize("code", ["UNREACHABLE", "TIMED_OUT", "THROTTLED", "FAILED"])
def test_a_preview_that_is_not_answered_is_tried_again_and_costs_no_budget(code: str) -> None:
    steers = about_to_move()
    steers.refused_in_preview = {"trimtab-vision": code}
    steers.tick()
    assert (steers.writes, steers.ledger.changes) == ([], ())
    (problem,) = steers.problems
    assert problem.endswith(f"was not begun: trimtab-vision: {code}: the webhook says no")
    steers.refused_in_preview = {}
    steers.world.passes(30)
    assert steers.tick().used.changes_today == 1
    assert steers.world.levels() == MOVED


def test_a_lease_that_is_lost_stops_before_the_write() -> None:
    class Fenced(Steering):
        def check(self) -> None:
            raise Crash

    steers = Fenced(about_to_move().world)
    steers.tick()
    steers.world.passes(30)
    with pytest.raises(Crash):
        steers.tick()
    assert (steers.writes, steers.kept) == ([], {})


def test_an_object_that_drifted_is_written_again_and_others_are_left_alone() -> None:
    steers = about_to_move()
    steers.tick()
    flavor = steers.world.cohorts["trimtab-vision"]["spec"]["resourceGroups"][0]["flavors"][0]
    flavor["resources"][0]["nominalQuota"] = "12"
    other = steers.world.cohorts["trimtab-nlp"]["spec"]["resourceGroups"][0]["flavors"][0]
    other["resources"][0]["nominalQuota"] = "7"
    steers.tick()
    assert steers.world.levels() == {"trimtab-nlp": 7, "trimtab-shared": 8, "trimtab-vision": 16}


def test_an_object_that_is_gone_is_waited_for_and_not_made_up() -> None:
    steers = about_to_move()
    steers.tick()
    gone = steers.world.cohorts.pop("trimtab-vision")
    steers.tick()
    assert "trimtab-vision" not in steers.world.cohorts
    steers.world.cohorts["trimtab-vision"] = gone
    steers.tick()
    assert steers.world.levels() == MOVED


def acting_for(steers: Steering) -> tuple[Acting, tuple[Target, ...]]:
    """What writes in the next tick, and the own objects as that tick sees them."""
    world, (_, targets) = steers.world, steers.look()
    acting = Acting(steers, steers, steers, world.baseline, world.picture(), world.site, lambda: world.now)
    return acting, targets


def begun() -> Change:
    """A change of 8 GPUs of which nothing is written yet."""
    (change,) = many_changes(1)[1].changes
    nothing = replace(change, taken=0, given=0, taken_written=0, given_written=0)
    return replace(nothing, id="c1", stage=Stage.INTENDED, amount=8)


def many_changes(count: int) -> tuple[Steering, Ledger]:
    """So many changes of one GPU in force, all to be sent back at once."""
    steers = Steering(starving_world(), policy=Policy(mode=Mode.ENFORCE))
    now = steers.world.now
    change = a_change(
        id="",
        amount=0,
        created_at=now,
        expires_at=now + HOUR,
        stage=Stage.RETURNING,
        taken=1,
        given=1,
        taken_written=1,
        given_written=1,
    )
    return steers, Ledger(tuple(replace(change, id=f"c{number:03}") for number in range(count)))


def test_any_number_of_changes_may_end_in_one_tick() -> None:
    steers, ledger = many_changes(16)
    more = tuple(replace(change, id=f"d{change.id}", taken=0, given=0) for change in ledger.changes * 10)
    acting, targets = acting_for(steers)
    after = acting.bring_about(Ledger((*ledger.changes, *more)), targets)
    assert after.active == ()
    assert steers.world.levels() == BASELINE


def test_levels_that_can_not_be_are_never_written() -> None:
    steers, ledger = many_changes(17)
    stuck = Ledger(tuple(replace(change, stage=Stage.KEPT, amount=1) for change in ledger.changes))
    acting, targets = acting_for(steers)
    with pytest.raises(InvariantError, match="below zero"):
        acting.bring_about(stuck, targets)
    assert steers.writes == []


def test_what_was_written_is_told_with_before_after_and_the_changes_in_force() -> None:
    steers = about_to_move()
    acting, targets = acting_for(steers)
    acting.bring_about(Ledger((begun(),)), targets)
    assert acting.written == [
        Written("trimtab-shared", "h100", 16, 8, ("c1",)),
        Written("trimtab-vision", "h100", 8, 16, ("c1",)),
    ]
    for name in ("trimtab-shared", "trimtab-vision"):
        (mark,) = marks_of(name, steers.world.leaves()[name].annotations)
        assert (mark.id, mark.gpus) == ("c1", 8)


def test_the_same_amount_by_other_hands_is_not_taken_for_our_own_write() -> None:
    steers = about_to_move()
    acting, targets = acting_for(steers)
    held = [replace(target, observed=Known(8)) if target.name == "trimtab-shared" else target for target in targets]
    acting.bring_about(Ledger((replace(begun(), taken=8),)), held)
    assert steers.writes[0] == ("trimtab-shared", 8), "written again, with its mark"
