"""An own object that is refused waits; it never holds up what others are owed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from controller.knobs import own
from controller.policy.change import Change, Stage
from controller.policy.ledger import Ledger
from controller.runtime.acting import Acting
from tests.builders import HOUR, a_change, agreed
from tests.world import Steering, World

BASELINE = {"trimtab-ads": 8, "trimtab-maps": 8, "trimtab-shared": 16}


@pytest.fixture
def steers() -> Steering:
    """Two changes in force: eight lent GPUs went to ads, and four to maps."""
    steers = Steering(World(agreed("ads", 8, 8), agreed("maps", 8, 8), shared=16, nodes=6))
    bring_about(steers, Ledger((_change(steers, "ads", 8), _change(steers, "maps", 4))))
    assert steers.world.levels() == {"trimtab-ads": 16, "trimtab-maps": 12, "trimtab-shared": 4}
    return steers


def _change(steers: Steering, tenant: str, gpus: int) -> Change:
    return a_change(
        id=f"for-{tenant}",
        tenant=tenant,
        destination=f"trimtab-{tenant}",
        amount=gpus,
        created_at=steers.world.now,
        expires_at=steers.world.now + HOUR,
    )


def bring_about(steers: Steering, ledger: Ledger) -> Acting:
    world = steers.world
    picture = world.picture()
    acting = Acting(steers, steers, steers, world.baseline, picture, world.site, lambda: world.now)
    acting.bring_about(ledger, own.targets(world.baseline, picture, world.site))
    return acting


def _all_going_back(steers: Steering) -> Ledger:
    ledger = steers.ledger
    for change in ledger.active:
        ledger = ledger.with_change(replace(change.returning(steers.world.now, "over"), amount=0))
    return ledger


@pytest.mark.parametrize("code", ["CONFLICT", "FORBIDDEN", "REJECTED", "NOT_SERVED"])
def test_what_is_refused_for_one_object_holds_up_no_other(steers: Steering, code: str) -> None:
    steers.refused = {"trimtab-ads": code}
    acting = bring_about(steers, _all_going_back(steers))
    assert steers.world.levels() == {"trimtab-ads": 16, "trimtab-maps": 8, "trimtab-shared": 8}
    assert {change.id: change.stage for change in steers.ledger.changes} == {
        "for-ads": Stage.RETURNING,
        "for-maps": Stage.ENDED,
    }
    assert acting.problems == [f"trimtab-ads: {code}: refused"]
    steers.refused = {}
    bring_about(steers, steers.ledger)
    assert steers.world.levels() == BASELINE


@pytest.mark.parametrize("code", ["UNREACHABLE", "TIMED_OUT", "THROTTLED", "FAILED"])
def test_a_server_that_does_not_answer_is_not_asked_again_for_every_object(steers: Steering, code: str) -> None:
    steers.refused = {"trimtab-ads": code, "trimtab-maps": code}
    acting = bring_about(steers, _all_going_back(steers))
    assert acting.problems == [f"trimtab-ads: {code}: refused"]
    steers.refused = {}
    bring_about(steers, steers.ledger)
    assert steers.world.levels() == BASELINE


def test_an_object_that_is_not_kept_as_it_was_sent_is_told_and_not_written_for_ever(steers: Steering) -> None:
    send = steers.apply

    def altered(path: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        answer = send(path, manifest)
        return {**answer, "metadata": {**answer["metadata"], "annotations": {}}} if "trimtab-ads" in path else answer

    steers.apply = altered  # type: ignore[method-assign]  # a mutating webhook of somebody else
    ledger = steers.ledger
    for change in ledger.active:
        ledger = ledger.with_change(replace(change.returning(steers.world.now, "over"), amount=2))
    acting = bring_about(steers, ledger)
    assert [name for name, _ in steers.writes].count("trimtab-ads") == 2, "once in the fixture, and once now"
    assert acting.problems == ["trimtab-ads: ALTERED: the API server keeps something else than it was sent"]
    assert steers.world.levels()["trimtab-maps"] == 10
