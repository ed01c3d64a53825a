"""What a small history says: parts that close, what is not seen, promises, waits, changes, the light."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model.reading import Known, Unknown
from collector.model.tenancy import Engine, Entitlement, Objective, ObjectiveKind, Pool, Site, Tenant
from controller.policy.change import Verdict
from controller.policy.ledger import KEEP_ENDED, Ledger
from controller.reports.model import Light, ReportModel, TenantUse
from controller.reports.samples import (
    CAPACITY,
    FLOATING,
    FREE,
    GUARANTEE,
    HELD,
    IDLE_HELD,
    RUNNING,
    SHORTFALL,
    UNJUDGED,
    WAITED,
)
from tests.unit.controller.reports.histories import HOUR, NO_LEDGER, START, change, report, steady

SLOTS = 40
KEY = ("a", "vision", "h100")


def use_of(made: ReportModel) -> TenantUse:
    return made.tenants[0].uses[0]


def promised(target: float) -> Site:
    objective = Objective("start", ObjectiveKind.QUEUE_WAIT, target, 28 * 24 * HOUR)
    tenant = Tenant("vision", "critical", entitlements=(Entitlement("h100", 4),), objectives=(objective,))
    return Site("c1", (Pool("h100", "nvidia.com/gpu", {}, Engine.KUEUE, flavor="h100"),), (), (tenant,))


def test_the_parts_of_a_pool_are_its_capacity() -> None:
    pool = report(SLOTS, steady(SLOTS)).pools[0]
    assert pool.capacity == Known(16.0 * SLOTS)
    assert (pool.running, pool.starting, pool.phase_unknown) == (8.0 * SLOTS, 2.0 * SLOTS, 0.0)
    assert (pool.free, dict(pool.unusable)) == (4.0 * SLOTS, {"cordoned": 2.0 * SLOTS, "not ready": 0.0})
    assert (pool.not_seen, pool.difference, pool.misfit) == (0.0, 0.0, 0.0)
    assert pool.admitted_without_node == 1.0 * SLOTS


@pytest.mark.parametrize("name", [CAPACITY, FREE, HELD])
def test_hours_without_samples_are_not_seen_and_never_free_or_used(name: str) -> None:
    series = steady(SLOTS)
    for row in series[name].values():
        row[5:9] = [None] * 4
    pool = report(SLOTS, series).pools[0]
    assert pool.seen_hours == SLOTS - 4
    assert pool.not_seen == 16.0 * 4
    assert pool.capacity == Known(16.0 * SLOTS)
    assert (pool.held, pool.free) == (10.0 * (SLOTS - 4), 4.0 * (SLOTS - 4))
    assert pool.difference == 0.0


def test_a_pool_that_grew_within_a_gap_is_carried_on_as_it_was() -> None:
    series = steady(4)
    series[CAPACITY]["a", "h100"] = [16.0, 16.0, None, 24.0, 24.0]
    series[FREE]["a", "h100"] = [4.0, 4.0, None, 12.0, 12.0]
    pool = report(4, series).pools[0]
    assert pool.not_seen == 16.0
    assert pool.capacity == Known(16.0 + 16.0 + 24.0 + 24.0)


def test_a_pool_that_only_the_documents_know_is_not_known() -> None:
    made = report(SLOTS, {}, site=promised(0.9))
    assert made.pools[0].capacity == Unknown("nothing was seen of this pool in the window")
    assert made.light is Light.RED
    assert made.sentences[0] == "Nothing was seen of any GPU in this window."
    assert isinstance(use_of(made).idle_held, Unknown)
    assert isinstance(use_of(made).guaranteed, Unknown)
    assert isinstance(made.tenants[0].waits.waited_hours, Unknown)


def test_parts_that_do_not_fit_are_said_and_not_spread() -> None:
    series = steady(SLOTS)
    series[FREE]["a", "h100"][1:5] = [6.0, 2.0, 6.0, 2.0]
    pool = report(SLOTS, series).pools[0]
    assert pool.difference == 0.0
    assert pool.misfit == 8.0
    assert pool.free == 4.0 * SLOTS


@pytest.mark.parametrize(("excess", "light"), [(0.05, Light.GREEN), (0.2, Light.AMBER), (0.5, Light.RED)])
def test_the_light_follows_what_does_not_fit(excess: float, light: Light) -> None:
    assert report(SLOTS, steady(SLOTS, free=4.0 + excess)).light is light


@pytest.mark.parametrize(("blind", "light"), [(0, Light.GREEN), (2, Light.GREEN), (3, Light.AMBER), (9, Light.RED)])
def test_the_light_follows_what_was_seen(blind: int, light: Light) -> None:
    series = steady(SLOTS)
    series[FREE]["a", "h100"][1 : 1 + blind] = [None] * blind
    assert report(SLOTS, series).light is light


def test_what_a_tenant_held_counts_against_guarantee_then_floating_then_others() -> None:
    use = use_of(report(SLOTS, steady(SLOTS)))
    assert (use.within_guarantee, use.floating, use.borrowed) == (4.0 * SLOTS, 3.0 * SLOTS, 3.0 * SLOTS)
    assert use.guaranteed == Known(4.0 * SLOTS)


def test_beyond_the_guarantee_is_not_called_borrowed_while_the_floating_part_is_not_known() -> None:
    series = steady(SLOTS)
    series[FLOATING][KEY][1:3] = [None, None]
    use = use_of(report(SLOTS, series))
    assert use.agreement_unknown == 6.0 * 2
    assert use.borrowed == 3.0 * (SLOTS - 2)
    assert use.within_guarantee == 4.0 * SLOTS


def test_who_has_no_agreement_in_a_pool_borrows_all_of_it() -> None:
    series = steady(SLOTS)
    del series[GUARANTEE][KEY], series[FLOATING][KEY]
    use = use_of(report(SLOTS, series))
    assert (use.within_guarantee, use.floating, use.borrowed) == (0.0, 0.0, 10.0 * SLOTS)
    assert isinstance(use.guaranteed, Unknown)


def test_what_nobody_owns_borrows_whatever_the_engine_says_of_a_floating_part() -> None:
    series = steady(SLOTS)
    series[HELD]["a", "unassigned", "h100"] = series[HELD].pop(KEY)
    series[GUARANTEE]["a", "unassigned", "h100"] = [0.0] * (SLOTS + 1)
    unassigned = next(tenant for tenant in report(SLOTS, series).tenants if tenant.name == "unassigned")
    assert unassigned.uses[0].borrowed == 10.0 * SLOTS


def test_without_phases_held_stays_held() -> None:
    series = steady(SLOTS)
    del series[RUNNING]
    pool = report(SLOTS, series).pools[0]
    assert (pool.running, pool.starting, pool.phase_unknown) == (0.0, 0.0, 10.0 * SLOTS)


def test_idle_held_is_a_lower_bound_and_the_rest_is_not_judged() -> None:
    use = use_of(report(SLOTS, steady(SLOTS)))
    assert (use.idle_held, use.unjudged) == (Known(2.0 * SLOTS), 1.0 * SLOTS)


def test_without_any_activity_known_idle_held_is_not_known() -> None:
    series = steady(SLOTS, unjudged=10.0)
    series[IDLE_HELD] = {}
    made = report(SLOTS, series)
    assert use_of(made).idle_held == Unknown("no activity known of the GPUs held")
    assert made.light is Light.AMBER
    assert "how much of what was held computed nothing is not known" in made.sentences[0]


def test_hours_in_which_activity_was_not_exported_are_not_judged() -> None:
    series = steady(SLOTS)
    series[UNJUDGED][KEY][1:11] = [None] * 10
    use = use_of(report(SLOTS, series))
    assert use.unjudged == 10.0 * 10 + 1.0 * (SLOTS - 10)
    assert use.idle_held == Known(2.0 * (SLOTS - 10))


def test_attainment_weighs_each_slot_with_its_demand() -> None:
    assert use_of(report(SLOTS, steady(SLOTS))).attainment == Known(0.75)


def test_no_demand_is_not_all_served() -> None:
    use = use_of(report(SLOTS, steady(SLOTS, entitled=0.0, shortfall=0.0)))
    assert use.attainment == Unknown("no demand")


def test_too_little_seen_is_no_verdict() -> None:
    series = steady(SLOTS)
    series[SHORTFALL][KEY][1:5] = [None] * 4
    assert use_of(report(SLOTS, series)).attainment == Unknown("no verdict: only 90 % of the window was seen")


@pytest.mark.parametrize(("target", "kept"), [(0.7, True), (0.9, False)])
def test_a_promise_is_kept_or_not(target: float, kept: bool) -> None:
    made = report(SLOTS, steady(SLOTS), site=promised(target))
    assert use_of(made).kept is kept
    words = "Every promise" if kept else "0 of 1 promises of a start in time were kept, not those to vision in h100"
    assert made.sentences[1].startswith(words)


def test_waits_and_evictions_are_told() -> None:
    made = report(SLOTS, steady(SLOTS))
    waits = made.tenants[0].waits
    assert waits.waited_hours == Known(float(SLOTS))
    assert waits.oldest_wait_seconds == Known(1800.0)
    assert waits.evictions == Known(0.0)
    assert not waits.at_least
    assert made.sentences[1] == (
        "Worst served was vision in h100: 75 % of its entitled demand in time; "
        "work waited 40 hours in all, the longest 30m (tenant vision), and was never evicted."
    )


def test_waits_are_lower_bounds_while_part_of_the_window_was_not_seen() -> None:
    series = steady(SLOTS)
    series[CAPACITY]["a", "h100"][1:4] = [None] * 3
    series[WAITED]["a", "vision", "critical", "vision/q"][1:4] = [None] * 3
    assert report(SLOTS, series).tenants[0].waits.at_least


def test_changes_are_those_of_the_window_with_their_verdicts() -> None:
    end = START + SLOTS * HOUR
    ledger = Ledger(
        (
            change("old", START - 10 * HOUR),
            change("crossing", START - HOUR),
            change("mid", START + HOUR, Verdict.NO_EFFECT),
            change("trial", START + 2 * HOUR, None),
            change("later", end),
        )
    )
    made = report(SLOTS, steady(SLOTS), Known(ledger))
    assert isinstance(made.changes, Known)
    lines = {line.id: line for line in made.changes.value}
    assert list(lines) == ["crossing", "mid", "trial"]
    assert lines["crossing"].before_window
    assert lines["mid"].expected_ready == ("vision-train/late",)
    assert lines["mid"].may_evict == ("nlp/j3",)
    assert lines["trial"].verdict is None
    assert made.sentences[2] == "Trimtab made 2 changes: 1 had no effect and 1 is still on trial."


def test_no_change_is_said_and_no_ledger_is_not_no_change() -> None:
    assert report(SLOTS, steady(SLOTS)).sentences[2] == "Trimtab changed nothing."
    made = report(SLOTS, steady(SLOTS), NO_LEDGER)
    assert made.sentences[2] == "What Trimtab changed is not known: no cluster to ask."
    assert made.light is Light.AMBER


def test_a_ledger_that_may_have_forgotten_says_so() -> None:
    changes = tuple(change(f"c{number}", START + HOUR + number) for number in range(KEEP_ENDED))
    assert (
        "older ones of this window may be missing" in report(SLOTS, steady(SLOTS), Known(Ledger(changes))).changes_note
    )
    reaching_back = Ledger((change("old", START - HOUR), *changes))
    assert report(SLOTS, steady(SLOTS), Known(reaching_back)).changes_note == ""


def test_a_window_that_has_not_ended_is_amber() -> None:
    made = report(SLOTS, steady(SLOTS), closed=False)
    assert (made.light, made.light_reasons) == (Light.AMBER, ("the window has not ended yet",))


def test_two_replicas_report_as_one() -> None:
    alone = steady(SLOTS)
    both = {name: {**rows, **{("b", *key[1:]): list(row) for key, row in rows.items()}} for name, rows in alone.items()}
    assert report(SLOTS, both) == report(SLOTS, alone)


def test_the_same_input_gives_the_same_report() -> None:
    assert report(SLOTS, steady(SLOTS)) == report(SLOTS, steady(SLOTS))
    assert replace(report(SLOTS, steady(SLOTS)), light=Light.RED) != report(SLOTS, steady(SLOTS))
