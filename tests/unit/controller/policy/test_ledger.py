"""The ledger: what is in force, what was confirmed, what was used of each budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.api.policy import Budgets
from controller.policy.change import Change, Forecast, Stage, Verdict, WorkRef
from controller.policy.ledger import KEEP_ENDED, Ledger, budget_use

NOW, HOUR, DAY = 1_750_000_000.0, 3600.0, 86400.0
VICTIM = WorkRef("nlp/Job/job3/", "nlp/job3", 8)


def change(name: str, ago: float = 0.0, *, tenant: str = "vision", ended: bool = False, **more: object) -> Change:
    made = Change(
        id=name,
        policy="default",
        tenant=tenant,
        pool="h100",
        source="trimtab-shared",
        destination=f"trimtab-{tenant}",
        amount=8,
        reason="why",
        finding="what",
        forecast=Forecast((), NOW, (VICTIM,), 2.5),
        created_at=NOW - ago,
        expires_at=NOW - ago + 3600,
    )
    made = replace(made, **more)  # type: ignore[arg-type] # fields by name
    return made.ended(NOW) if ended else made


def test_changes_stand_in_the_order_in_which_they_were_made() -> None:
    ledger = Ledger().with_change(change("b", 10)).with_change(change("c", 5)).with_change(change("a", 10))
    assert [one.id for one in ledger.changes] == ["a", "b", "c"]
    again = ledger.with_change(replace(ledger.changes[1], stage=Stage.KEPT))
    assert [(one.id, one.stage) for one in again.changes][1] == ("b", Stage.KEPT)


def test_only_what_ended_and_is_old_is_forgotten() -> None:
    ended = [change(f"e{number:03}", 2 * DAY - number, ended=True) for number in range(KEEP_ENDED + 20)]
    recent = [change(f"r{number:03}", 100, ended=True) for number in range(KEEP_ENDED + 20)]
    old_and_active = change("active", 9 * DAY)
    kept = Ledger((old_and_active, *ended, *recent)).pruned(NOW - DAY)
    assert [one.id for one in kept.changes] == ["active", *(one.id for one in (*ended[20:], *recent))]


def test_a_finding_counts_ticks_in_a_row() -> None:
    ads, vision = ("ads", "h100", "starved"), ("vision", "h100", "starved")
    ledger = Ledger()
    for number, seen in enumerate(([ads, vision, vision], [vision], [ads, vision])):
        ledger = ledger.confirmed(seen, 30.0 * number, HOUR)
    assert ledger.confirmations == {ads: 1, vision: 3}


def test_it_is_noted_when_a_finding_goes_by_itself_and_forgotten_after_a_while() -> None:
    ads = ("ads", "h100", "starved")
    ledger = Ledger().confirmed([ads], 0.0, HOUR).confirmed([], 30.0, HOUR).confirmed([ads], 60.0, HOUR)
    assert ledger.vanished == {ads: (30.0,)}
    assert ledger.confirmed([ads], 30.0 + HOUR, HOUR).vanished == {}


def test_a_finding_that_changes_its_name_or_is_answered_by_a_change_did_not_go_by_itself() -> None:
    starved, short = ("ads", "h100", "starved"), ("ads", "h100", "short-of-capacity")
    assert Ledger().confirmed([starved], 0.0, HOUR).confirmed([short], 30.0, HOUR).vanished == {}
    in_force = Ledger((change("a", tenant="ads"),)).confirmed([starved], 0.0, HOUR)
    assert in_force.confirmed([], 30.0, HOUR).vanished == {}


def test_what_was_counted_while_nothing_can_be_seen_starts_again() -> None:
    ads = ("ads", "h100", "starved")
    ledger = Ledger().confirmed([ads], 0.0, HOUR).unconfirmed()
    assert (ledger.confirmations, ledger.vanished) == ({}, {})


def test_a_change_is_found_by_the_beginning_of_its_id_when_only_one_has_it() -> None:
    ledger = Ledger((change("2025-vision"), change("2025-nlp"), change("2024-nlp")))
    assert ledger.find("2025-v") == ledger.changes[0]
    assert ledger.find("2025") is None
    assert ledger.find("2026") is None


def test_the_last_change_of_a_tenant_and_its_failures_are_its_own() -> None:
    ledger = Ledger(
        (
            change("a", 300, verdict=Verdict.NO_EFFECT),
            change("b", 200, verdict=Verdict.HURT),
            change("c", 100, tenant="nlp", verdict=Verdict.HURT),
            change("d", 50, verdict=Verdict.HELPED),
        )
    )
    last = ledger.last_for("vision", "h100")
    assert last is not None
    assert last.id == "d"
    assert ledger.last_for("vision", "a100") is None
    assert ledger.failures("vision", "h100", NOW - DAY) == 2
    assert ledger.failures("vision", "h100", NOW - 250) == 1


def test_a_day_and_an_hour_end_to_the_second() -> None:
    ledger = Ledger((change("a", DAY), change("b", DAY - 1), change("c", 3600, tenant="nlp"), change("d", 3599)))
    used = budget_use(ledger, NOW, DAY)
    assert used.changes_today == 3
    assert used.tenants_this_hour == {"vision"}
    assert used.added_evictions_today == 3
    assert used.added_lost_gpu_hours_today == 7.5


def test_a_scaled_day_has_scaled_hours() -> None:
    ledger = Ledger((change("a", 61), change("b", 59, tenant="nlp")))
    assert budget_use(ledger, NOW, 24 * 60).tenants_this_hour == {"nlp"}


@pytest.mark.parametrize(
    ("budgets", "left"),
    [
        (Budgets(4, 2, 4, 10.0), (0.75, 0.5, 0.75, 0.75)),
        (Budgets(1, 1, 1, 1.0), (0.0, 0.0, 0.0, 0.0)),
        (Budgets(0, 0, 0, 0.0), (0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_what_remains_of_a_budget_is_a_share_of_it(budgets: Budgets, left: tuple[float, ...]) -> None:
    used = budget_use(Ledger((change("a"),)), NOW, DAY)
    assert tuple(used.remaining(budgets).values()) == left


def test_once_on_its_way_back_a_change_keeps_its_reason_and_may_only_become_hard() -> None:
    soft = change("a", stage=Stage.KEPT).returning(NOW, "first")
    hard = soft.returning(NOW + 9, "second", hard=True)
    assert (hard.return_reason, hard.returning_since, hard.hard) == ("first", NOW, True)
    assert hard.returning(NOW + 9, "third").hard
    assert hard.ended(NOW + 9, "fourth").return_reason == "first"
    assert hard.ended(NOW + 9).returning(NOW + 10, "fifth").stage is Stage.ENDED


def test_a_change_says_what_undoes_it() -> None:
    given = change("a", given=8)
    assert given.inverse == "give 8 GPUs of pool h100 back from trimtab-vision to trimtab-shared"
