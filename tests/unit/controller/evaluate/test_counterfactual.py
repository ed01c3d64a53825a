"""The same jobs under two arrangements: who gains, who loses, and when chance alone would do as much."""

from __future__ import annotations

from dataclasses import replace

import pytest

from controller.evaluate.counterfactual import Arrangement, Felt, Question, Spread, compared
from controller.evaluate.effect_words import policy_sentence, quota_sentence
from controller.evaluate.quota_shift import shifted
from controller.simulate.baselines import Baseline, Conditions
from controller.simulate.shares import share_of
from controller.traces.trace import TraceJob

DAY = 86400.0
SHARES = (share_of("giver", 32), share_of("taker", 16), share_of("third", 8))
JOBS = [
    TraceJob(DAY + 600.0 * number, 7200.0, 8, tenant)
    for number in range(60)
    for tenant in ("taker", "giver")
    if tenant == "taker" or number % 2
]


def question(policy: Baseline = Baseline.STATIC, gpus: int = 16, seeds: int = 3) -> Question:
    after = shifted(SHARES, {"giver": -gpus, "taker": gpus})
    return Question(JOBS, 0.0, Arrangement(SHARES, policy), Arrangement(after, policy), Conditions(), seeds)


def test_who_gets_quota_waits_less_and_who_gives_it_waits_more() -> None:
    answer = compared(question())
    assert (answer.tenants["taker"].felt, answer.tenants["giver"].felt) == (Felt.SHORTER, Felt.LONGER)
    wait = answer.tenants["taker"].figures["mean_wait_seconds"]
    assert wait.before is not None
    assert wait.after is not None
    assert wait.difference is not None
    assert wait.after.median < wait.before.median
    assert wait.difference.low <= wait.difference.median <= wait.difference.high < 0
    assert answer.tenants["taker"].quota_gpus == (16, 32)


def test_the_sentence_names_both_parties_and_everybody_else() -> None:
    sentence = quota_sentence(compared(question()), {"giver": -16, "taker": 16}, "over 1.0 days")
    assert sentence.startswith("Moving 16 GPUs from giver to taker, over 1.0 days: giver waits ")
    assert "; taker waits " in sentence
    assert " less with each of 3 seeds)" in sentence
    assert sentence.endswith("; of 1 others 1 feels nothing.")


def test_a_tenant_without_jobs_feels_nothing_and_has_no_figures() -> None:
    third = compared(question()).tenants["third"]
    assert (third.felt, third.figures["mean_wait_seconds"].difference) == (Felt.SAME, None)


def test_nothing_is_told_where_nothing_changes() -> None:
    asked = question()
    answer = compared(replace(asked, after=asked.before))
    assert {effect.felt for effect in answer.tenants.values()} == {Felt.SAME}
    assert "all waits" in policy_sentence(answer, "static", "static", "over 1.0 days")


def test_equal_seeds_give_equal_answers() -> None:
    assert compared(question(seeds=2)) == compared(question(seeds=2))


def test_what_chance_may_do_as_well_is_unclear() -> None:
    effect = compared(question()).tenants["taker"]
    wait = replace(effect.figures["mean_wait_seconds"], difference=Spread(-9e3, -2e4, 90.0))
    assert replace(effect, figures={**effect.figures, "mean_wait_seconds": wait}).felt is Felt.UNCLEAR


def test_jobs_of_the_time_before_fill_the_cluster_and_are_not_counted() -> None:
    whole = compared(question())
    half = compared(replace(question(), counted_from=DAY + 600.0 * 30))
    assert half.all.jobs < whole.all.jobs
    first, second = (one.tenants["taker"].figures["mean_wait_seconds"].before for one in (whole, half))
    assert first is not None
    assert second is not None
    assert second.median > first.median  # the queue of the morning is still there


def test_gangs_that_could_never_start_after_it_are_told() -> None:
    shares = (share_of("giver", 32), share_of("taker", 16))
    jobs = [TraceJob(DAY, 100.0, 32, "giver"), TraceJob(DAY, 100.0, 8, "giver"), TraceJob(DAY, 100.0, 64, "giver")]
    after = shifted(shares, {"giver": -16})
    asked = Question(
        jobs, 0.0, Arrangement(shares, Baseline.STATIC), Arrangement(after, Baseline.STATIC), Conditions(), 1
    )
    answer = compared(asked)
    assert (answer.tenants["giver"].shut_out, answer.all.shut_out) == (1, 1)
    assert answer.tenants["giver"].felt is Felt.LONGER
    assert answer.left_out == {"larger than all its tenant can be given": 2}
    assert "1 job could never start" in quota_sentence(answer, {"giver": -16}, "today")


@pytest.mark.parametrize("seeds", [1, 2])
def test_it_says_how_far_it_is(seeds: int) -> None:
    heard: list[float] = []
    compared(question(seeds=seeds), heard.append)
    assert heard == sorted(heard)
    assert 0.9 < heard[-1] <= 1.0
