"""What a run of the recipe wrong-cause counts as wrong; the runs themselves stand in tests/integration."""

from __future__ import annotations

from collections.abc import Sequence

from controller.evaluate.wrong_cause import GREEDY, SLOW, STARVED, TRIALS, Seen, note
from controller.policy.finding import Cause, Finding, Trouble


def finding(tenant: str, cause: Cause) -> Finding:
    return Finding(tenant, "", Trouble.STORAGE_SLOW, cause, 0, (), f"{tenant}: {cause.value}")


def noted(ticks: Sequence[tuple[float, Sequence[Finding]]]) -> Seen:
    """What is made of ticks: seconds since Ceph broke, and findings."""
    seen = Seen()
    for since, findings in ticks:
        note(findings, TRIALS["ceph"], since, seen)
    return seen


def test_the_first_right_word_counts_in_periods() -> None:
    seen = noted([(0.0, []), (60.0, [finding(SLOW, Cause.SCHEDULING)]), (120.0, [finding(SLOW, Cause.CEPH)])])
    assert (seen.periods_to_cause, seen.wrong) == (2.0, [])


def test_another_cause_of_work_is_wrong_for_anybody() -> None:
    found = [finding(SLOW, Cause.RDMA), finding(STARVED, Cause.CEPH), finding(GREEDY, Cause.WORKLOAD)]
    assert len(noted([(60.0, found)]).wrong) == 3


def test_scheduling_is_wrong_once_the_cause_was_told_and_never_for_the_starved() -> None:
    told, again = finding(SLOW, Cause.CEPH), finding(SLOW, Cause.SCHEDULING)
    assert noted([(60.0, [told]), (120.0, [again])]).wrong == ["slow: scheduling"]
    assert noted([(60.0, [told]), (120.0, [finding(STARVED, Cause.SCHEDULING)])]).wrong == []


def test_what_is_told_before_anything_broke_is_wrong() -> None:
    assert len(noted([(-60.0, [finding(SLOW, Cause.CEPH)])]).wrong) == 1
