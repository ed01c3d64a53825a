"""Levels out of the ledger: baseline, less what was taken, plus what was given; and what is to be written next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.reading import Known, Reading, Unknown
from controller.api.errors import InvariantError
from controller.policy.change import Change, Forecast, Stage
from controller.policy.targets import (
    Target,
    advanced,
    at_level,
    available,
    by_key,
    check_levels,
    holds_level,
    lagging,
    level,
    recorded,
)

NOW = 1_750_000_000.0
MOVE = Change(
    id="c1",
    policy="default",
    tenant="vision",
    pool="h100",
    source="trimtab-shared",
    destination="trimtab-vision",
    amount=8,
    reason="why",
    finding="what",
    forecast=Forecast((), NOW + 900),
    created_at=NOW,
    expires_at=NOW + 3600,
)
TAKEN = replace(MOVE, taken=8)
GIVEN = replace(TAKEN, given=8)
BACK = replace(GIVEN, stage=Stage.RETURNING, amount=3, taken_written=8, given_written=8)


def target(name: str, baseline: int, observed: Reading[int] | int, *ids: str, pool: str = "h100") -> Target:
    seen = Known(observed) if isinstance(observed, int) else observed
    return Target(f"trimtab-{name}", pool, None if name == "shared" else name, baseline, seen, ids)


def shared(observed: Reading[int] | int, *ids: str) -> Target:
    return target("shared", 16, observed, *ids)


def vision(observed: Reading[int] | int, *ids: str) -> Target:
    return target("vision", 8, observed, *ids)


def test_a_level_is_the_baseline_and_what_changes_moved() -> None:
    other = replace(GIVEN, id="c2", source="trimtab-vision", destination="trimtab-nlp", taken=2, given=2)
    changes = [GIVEN, other, GIVEN.ended(NOW), replace(GIVEN, id="c3", pool="a100")]
    assert level(shared(0), changes) == 16 - 8
    assert level(vision(0), changes) == 8 + 8 - 2
    assert level(target("nlp", 0, 0), changes) == 2


def test_an_object_is_at_its_level_only_with_our_own_marks() -> None:
    assert at_level(shared(8, "c1"), [TAKEN])
    assert holds_level(shared(8), [TAKEN])
    assert not at_level(shared(8), [TAKEN]), "someone else may have written the same amount"
    assert not at_level(shared(8, "c1", "c0"), [TAKEN]), "a mark that should be gone"
    assert not at_level(shared(16, "c1"), [TAKEN])
    assert not at_level(shared(Unknown("forbidden")), [TAKEN])
    assert not at_level(None, [TAKEN])
    assert at_level(vision(8), [TAKEN]), "nothing is given yet, so nothing is marked"


def places(*targets: Target) -> dict[tuple[str, str], Target]:
    return dict(by_key(targets))


def test_the_next_intent_comes_when_the_last_was_seen() -> None:
    start = places(shared(16), vision(8))
    assert advanced(MOVE, start, [MOVE]) == TAKEN
    assert advanced(TAKEN, start, [TAKEN]) == TAKEN, "not seen yet"
    assert advanced(TAKEN, places(shared(8, "c1"), vision(8)), [TAKEN]) == GIVEN
    assert advanced(TAKEN, places(shared(Unknown("gone")), vision(8)), [TAKEN]) == TAKEN
    assert advanced(GIVEN, start, [GIVEN]) == GIVEN
    assert advanced(GIVEN.ended(NOW), start, []) == GIVEN.ended(NOW)


def test_on_the_way_back_it_is_given_back_before_it_is_returned() -> None:
    lowered = replace(BACK, given=3)
    assert advanced(BACK, places(shared(8, "c1"), vision(16, "c1")), [BACK]) == lowered
    assert advanced(lowered, places(shared(8, "c1"), vision(16, "c1")), [lowered]) == lowered, "not seen yet"
    assert advanced(lowered, places(shared(8, "c1"), vision(11, "c1")), [lowered]) == replace(lowered, taken=3)


def test_what_is_seen_is_recorded_and_a_trial_begins_when_all_is_there() -> None:
    half = recorded(TAKEN, places(shared(8, "c1"), vision(8)), [TAKEN], NOW + 5)
    assert (half.taken_written, half.given_written, half.stage) == (8, 0, Stage.INTENDED)
    whole = recorded(GIVEN, places(shared(8, "c1"), vision(16, "c1")), [GIVEN], NOW + 5)
    assert (whole.stage, whole.applied_at, whole.forecast.ready_by) == (Stage.ON_TRIAL, NOW + 5, NOW + 905)


def test_what_can_not_be_seen_stays_as_it_was_recorded() -> None:
    before = replace(GIVEN, stage=Stage.KEPT, taken_written=8, given_written=8)
    assert recorded(before, places(shared(Unknown("x")), vision(Unknown("x"))), [before], NOW) == before


def test_a_return_ends_when_both_objects_are_back() -> None:
    back = replace(BACK, amount=0, taken=0, given=0)
    assert recorded(back, places(shared(8, "c1"), vision(8)), [back], NOW).stage is Stage.RETURNING
    assert recorded(back, places(shared(16), vision(8)), [back], NOW).stage is Stage.ENDED


def test_what_is_lowered_is_written_first_and_what_no_change_touches_is_left() -> None:
    found = lagging([vision(8), target("nlp", 8, 5), shared(16)], [GIVEN])
    assert [one.name for one in found] == ["trimtab-shared", "trimtab-vision"]
    assert lagging([shared(16), vision(Unknown("gone"))], [TAKEN]) == (shared(16),)
    assert lagging([shared(8, "c1"), vision(16, "c1")], [GIVEN]) == ()


def test_a_new_change_may_not_count_on_what_is_promised_already() -> None:
    ours = available([shared(16), vision(8), target("nlp", 4, Unknown("x"))], [GIVEN])
    assert [one.observed for one in ours] == [Known(8), Known(8), Unknown("x")]


def test_what_was_given_to_a_tenant_is_not_lent_on_since_it_goes_back_some_day() -> None:
    (lender,) = available([vision(16, "c1")], [GIVEN])
    assert lender.observed == Known(8)
    lent = replace(GIVEN, id="c2", source="trimtab-vision", destination="trimtab-nlp")
    back = replace(GIVEN, stage=Stage.RETURNING, amount=0, given=0)
    check_levels([shared(8, "c1"), vision(0, "c2"), target("nlp", 8, 16, "c2")], [back, lent])


def test_levels_below_zero_or_above_the_baselines_are_refused() -> None:
    check_levels([shared(16), vision(8)], [GIVEN])
    with pytest.raises(InvariantError, match="below zero"):
        check_levels([shared(16), vision(8)], [replace(GIVEN, taken=17)])
    with pytest.raises(InvariantError, match="add up to more than 24"):
        check_levels([shared(16), vision(8)], [replace(GIVEN, taken=0)])


def test_a_pool_that_people_left_with_more_may_be_lowered_step_by_step() -> None:
    leaf_gone_from_baseline = [vision(16, "c1")]
    check_levels(leaf_gone_from_baseline, [GIVEN])


def test_pools_are_checked_each_for_itself() -> None:
    spare = target("shared", 99, 99, pool="a100")
    with pytest.raises(InvariantError, match="pool h100"):
        check_levels([shared(16), vision(8), spare], [replace(GIVEN, taken=0)])
