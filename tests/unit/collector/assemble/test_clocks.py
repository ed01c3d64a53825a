"""Wait clocks: cumulative over evictions and resubmissions, never counted twice, honest about what was not seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collector.assemble.clocks import Clock, Sighting, WaitClocks

T = 1_000_000.0
QUEUE = ("vision", "critical", "gpus")
GANG = Sighting(key="vision/Job/train/t1", uid="a", queue=QUEUE, waits=True, created_at=T)
RUNNING = replace(GANG, waits=False)


def looking() -> WaitClocks:
    """Clocks that have looked before, at a cluster without work."""
    return WaitClocks().advance([], T - 30)


def clock_of(clocks: WaitClocks, sighting: Sighting) -> Clock:
    found = clocks.of(sighting)
    assert found is not None
    return found


def waited(clocks: WaitClocks, sighting: Sighting, now: float) -> float:
    return clock_of(clocks, sighting).waited_seconds(now)


def test_a_clock_runs_from_creation_until_its_pods_are_ready() -> None:
    clocks = looking().advance([GANG], T + 10)
    assert waited(clocks, GANG, T + 10) == 10
    ready = replace(RUNNING, ready_at=T + 25)
    clocks = clocks.advance([ready], T + 40)
    assert waited(clocks, ready, T + 400) == 25
    assert not clock_of(clocks, ready).lower_bound
    assert clocks.wait_seconds_total == {QUEUE: 25}


def test_an_eviction_resumes_the_clock_at_the_time_of_its_condition() -> None:
    ready = replace(RUNNING, ready_at=T + 20)
    evicted = replace(GANG, evicted_at=T + 100, eviction_count=1, evicted_by="nlp")
    clocks = looking().advance([GANG], T + 10).advance([ready], T + 30).advance([evicted], T + 110)
    assert waited(clocks, evicted, T + 110) == 20 + 10
    clocks = clocks.advance([replace(evicted, waits=False, ready_at=T + 150)], T + 160)
    found = clock_of(clocks, evicted)
    assert found.waited_seconds(T + 160) == 20 + 50
    assert (found.evictions, found.evicted_by, found.evictions_by) == (1, "nlp", {"nlp": 1})
    assert clocks.wait_seconds_total == {QUEUE: 70}
    assert clocks.evictions_total == {QUEUE: 1}


def test_an_eviction_is_seen_also_where_the_object_counts_none() -> None:
    ready = replace(RUNNING, ready_at=T + 20)
    evicted = replace(GANG, evicted_at=T + 100)
    clocks = looking().advance([GANG], T + 10).advance([ready], T + 30).advance([evicted], T + 110)
    assert clock_of(clocks, evicted).evictions == 1


def test_an_eviction_that_the_object_counts_only_later_is_not_counted_twice() -> None:
    ready = replace(RUNNING, ready_at=T + 20)
    evicted = replace(GANG, evicted_at=T + 100)
    clocks = looking().advance([GANG], T + 10).advance([ready], T + 30).advance([evicted], T + 110)
    clocks = clocks.advance([replace(evicted, eviction_count=1)], T + 120)
    assert clock_of(clocks, evicted).evictions == 1


def test_evictions_belong_to_whoever_caused_each_of_them() -> None:
    ready = replace(RUNNING, ready_at=T + 1)
    first = replace(GANG, evicted_at=T + 10, eviction_count=2, evicted_by="nlp")
    second = replace(GANG, evicted_at=T + 30, eviction_count=3, evicted_by="ads")
    clocks = looking().advance([ready], T + 5).advance([first], T + 15)
    clocks = clocks.advance([replace(ready, eviction_count=2, ready_at=T + 20)], T + 25).advance([second], T + 35)
    assert clock_of(clocks, second).evictions_by == {"nlp": 2, "ads": 1}


def test_a_stint_between_two_looks_counts_from_its_admission_and_is_a_lower_bound() -> None:
    ready = replace(RUNNING, ready_at=T + 20)
    again = replace(RUNNING, ready_at=T + 55, evicted_at=T + 50, eviction_count=1)
    clocks = looking().advance([ready], T + 30).advance([again], T + 60)
    found = clock_of(clocks, again)
    assert found.waited_seconds(T + 60) == 20 + 5
    assert found.lower_bound


def test_a_resubmission_within_half_an_hour_continues_the_clock() -> None:
    again = replace(GANG, uid="b", created_at=T + 1000)
    clocks = looking().advance([GANG], T + 300).advance([], T + 600).advance([again], T + 1100)
    assert waited(clocks, again, T + 1100) == 300 + 100
    assert clocks.wait_seconds_total == {QUEUE: 400}


def test_a_resubmission_that_was_ready_at_the_next_look_counts_its_short_wait() -> None:
    again = replace(RUNNING, uid="b", created_at=T + 310, ready_at=T + 320)
    clocks = looking().advance([GANG], T + 300).advance([again], T + 330)
    assert waited(clocks, again, T + 330) == 300 + 10


def test_a_later_resubmission_starts_anew_however_seldom_we_look() -> None:
    again = replace(GANG, uid="b", created_at=T + 300 + 1801)
    often = looking().advance([GANG], T + 300)
    for step in range(1, 61):
        often = often.advance([], T + 300 + 30 * step)
    seldom = looking().advance([GANG], T + 300)
    for clocks in (often, seldom):
        assert waited(clocks.advance([again], T + 2200), again, T + 2200) == 2200 - 2101


def test_after_a_finish_the_same_name_starts_anew() -> None:
    again = replace(GANG, uid="b", created_at=T + 500)
    clocks = looking().advance([GANG], T + 300).advance([replace(RUNNING, finished=True)], T + 400)
    clocks = clocks.advance([again], T + 510)
    assert waited(clocks, again, T + 510) == 10


def test_a_resubmission_that_already_finished_ends_the_clock() -> None:
    short = replace(RUNNING, uid="b", created_at=T + 310, finished=True)
    again = replace(GANG, uid="c", created_at=T + 400)
    clocks = looking().advance([GANG], T + 300).advance([short], T + 390).advance([again], T + 410)
    assert waited(clocks, again, T + 410) == 10


def test_a_finished_object_that_stays_adds_nothing() -> None:
    finished = replace(RUNNING, finished=True)
    clocks = looking().advance([GANG], T + 30).advance([finished], T + 60)
    before = dict(clocks.wait_seconds_total)
    for step in range(5):
        clocks = clocks.advance([finished], T + 90 + 30 * step)
    assert clocks.wait_seconds_total == before == {QUEUE: 30}
    assert not clocks.clocks


def test_two_live_works_with_one_key_do_not_mix() -> None:
    twin = replace(GANG, uid="b", created_at=T + 50)
    clocks = looking().advance([GANG], T + 10).advance([GANG, twin], T + 100)
    assert [waited(clocks, work, T + 100) for work in (GANG, twin)] == [100, 50]
    clocks = clocks.advance([replace(RUNNING, finished=True), twin], T + 200)
    assert waited(clocks, twin, T + 200) == 150
    clocks = clocks.advance([twin], T + 300)
    assert waited(clocks, twin, T + 300) == 250


def test_a_work_keeps_its_clock_when_its_key_changes() -> None:
    orphan = replace(GANG, key="vision/Job/train/")
    clocks = looking().advance([GANG], T + 10).advance([orphan], T + 20)
    assert waited(clocks, orphan, T + 20) == 20


def test_a_fresh_start_counts_what_the_objects_tell_and_says_that_it_is_a_lower_bound() -> None:
    evicted = replace(GANG, evicted_at=T + 100, eviction_count=3, evicted_by="nlp")
    clocks = WaitClocks().advance([evicted], T + 130)
    found = clock_of(clocks, evicted)
    assert (found.waited_seconds(T + 130), found.lower_bound, found.evictions) == (30, True, 3)
    assert found.evictions_by == {"nlp": 1}


@pytest.mark.parametrize(
    ("sighting", "seconds", "lower_bound"),
    [
        (GANG, 60, False),
        (replace(RUNNING, ready_at=T + 20), 20, False),
        (RUNNING, 0, True),
        (replace(GANG, eviction_count=1), 0, True),
        (replace(RUNNING, eviction_count=1, ready_at=T + 40), 0, True),
        (replace(RUNNING, evicted_at=T + 30, ready_at=T + 40), 10, True),
        (replace(GANG, created_at=T + 90), 0, False),
    ],
    ids=[
        "waits since creation",
        "became ready",
        "suspended, or ready at an unknown time",
        "evicted at an unknown time",
        "evicted at an unknown time, ready again",
        "evicted and ready again",
        "created ahead of our clock",
    ],
)
def test_a_first_look_never_counts_more_than_is_known(sighting: Sighting, seconds: float, lower_bound: bool) -> None:
    found = clock_of(WaitClocks().advance([sighting], T + 60), sighting)
    assert (found.waited_seconds(T + 60), found.lower_bound) == (seconds, lower_bound)


def test_totals_count_from_the_first_look_on() -> None:
    evicted = replace(GANG, evicted_at=T + 100, eviction_count=3)
    clocks = WaitClocks().advance([evicted], T + 130)
    assert not clocks.wait_seconds_total
    clocks = clocks.advance([evicted], T + 150)
    assert (clocks.wait_seconds_total, clocks.evictions_total) == ({QUEUE: 20}, {QUEUE: 0})


def test_a_ready_time_before_the_last_look_takes_nothing_back() -> None:
    clocks = looking().advance([GANG], T + 100).advance([replace(RUNNING, ready_at=T + 99)], T + 130)
    assert waited(clocks, GANG, T + 130) == 100
    assert clocks.wait_seconds_total == {QUEUE: 100}


def test_a_wait_that_a_user_stopped_ends_when_it_was_last_seen() -> None:
    suspended = RUNNING
    clocks = looking().advance([GANG], T + 100).advance([suspended], T + 130)
    assert (waited(clocks, suspended, T + 500), clock_of(clocks, suspended).lower_bound) == (100, True)
    clocks = clocks.advance([GANG], T + 530)
    assert waited(clocks, GANG, T + 560) == 100 + 30


def test_a_clock_that_goes_back_takes_nothing_back() -> None:
    clocks = looking().advance([GANG], T + 100).advance([GANG], T + 40).advance([GANG], T + 110)
    assert clocks.wait_seconds_total == {QUEUE: 110}


def test_work_that_is_gone_for_long_is_forgotten() -> None:
    clocks = looking().advance([GANG], T).advance([], T + 1801)
    assert not clocks.clocks
