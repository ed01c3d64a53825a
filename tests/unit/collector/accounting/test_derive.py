"""What a look adds to the history: the moments that objects tell, and what nobody saw."""

from __future__ import annotations

from dataclasses import replace

from collector.accounting.schema.rows import State
from tests.unit.collector.accounting.lives import START, Life, Looker, told, turns

PENDING, ADMITTED, RUNNING, EVICTED = State.PENDING, State.ADMITTED, State.RUNNING, State.EVICTED
FINISHED, FAILED, GONE = State.FINISHED, State.FAILED, State.GONE

WHOLE = Life(
    "w",
    turns(
        (PENDING, 0),
        (ADMITTED, 100),
        (RUNNING, 130),
        (EVICTED, 500),
        (ADMITTED, 700),
        (RUNNING, 720),
        (FINISHED, 900),
    ),
)


def every_five_seconds(looker: Looker, until: int, begin: int = 0) -> None:
    for after in range(begin, until + 1, 5):
        looker.look(after)


def test_every_change_of_state_is_one_row_at_the_moment_the_object_tells() -> None:
    looker = Looker([WHOLE])
    every_five_seconds(looker, 1000)
    assert told(looker.rows) == [(state, at - START) for state, at in WHOLE.turns]
    assert [row.step for row in looker.rows] == list(range(int(START), int(START) + 7))
    assert all(row.seen_before is None and not row.unseen for row in looker.rows)
    evicted = looker.rows[3]
    assert (evicted.evicted_by, evicted.why, evicted.evictions) == ("nlp", "Preempted", 1)


def test_waits_are_summed_over_evictions() -> None:
    looker = Looker([WHOLE])
    every_five_seconds(looker, 1000)
    assert [row.waited_seconds for row in looker.rows] == [0, 100, 130, 130, 330, 350, 350]
    assert not any(row.waited_is_lower_bound for row in looker.rows)


def test_a_look_that_shows_nothing_new_adds_no_row() -> None:
    looker = Looker([WHOLE])
    looker.look(200)
    batch = looker.look(205)
    assert (batch.rows, dict(batch.standings), batch.capacities) == ((), {}, ())
    assert batch.looks[0].until == START + 205


def test_work_that_is_seen_late_tells_its_past() -> None:
    looker = Looker([WHOLE])
    looker.look(300)
    assert told(looker.rows) == [(PENDING, 0), (ADMITTED, 100), (RUNNING, 130)]


def test_work_that_ended_unseen_has_its_end_and_says_what_is_missing() -> None:
    looker = Looker([Life("w", turns((PENDING, 0), (ADMITTED, 100), (RUNNING, 130), (FINISHED, 200)))])
    looker.look(300)
    assert told(looker.rows) == [(PENDING, 0), (ADMITTED, 100), (FINISHED, 200)]
    last = looker.rows[-1]
    assert (last.unseen, last.seen_before) == (1, None), "it held its GPUs until its end, Ready or not"
    assert (last.waited_seconds, last.waited_is_lower_bound) == (100, True)


def test_work_that_failed_need_not_have_been_ready() -> None:
    looker = Looker([Life("w", turns((PENDING, 0), (ADMITTED, 100), (FAILED, 200)))])
    every_five_seconds(looker, 300)
    assert (told(looker.rows)[-1], looker.rows[-1].unseen) == ((FAILED, 200), 0)


def test_an_eviction_that_nobody_saw_is_counted_and_its_moment_is_a_span() -> None:
    looker = Looker([WHOLE])
    looker.look(200)
    looker.look(800)
    assert told(looker.rows[3:]) == [(EVICTED, 700), (ADMITTED, 700), (RUNNING, 720)]
    evicted = looker.rows[3]
    assert (evicted.seen_before, evicted.unseen) == (START + 200, 0)


def test_a_wait_that_hides_between_two_looks_makes_the_sum_a_lower_bound() -> None:
    life = Life("w", turns((PENDING, 0), (ADMITTED, 10), (RUNNING, 20), (EVICTED, 30), (ADMITTED, 40)))
    looker = Looker([life])
    looker.look(25)
    looker.look(45)
    assert (looker.rows[-1].state, looker.rows[-1].waited_is_lower_bound) == (ADMITTED, True)
    assert looker.clocks.clocks["w"].lower_bound


def test_evictions_between_two_looks_are_all_counted() -> None:
    life = Life("w", turns((PENDING, 0), (ADMITTED, 10), (EVICTED, 20), (ADMITTED, 30), (EVICTED, 40), (ADMITTED, 50)))
    looker = Looker([life])
    looker.look(5)
    looker.look(45)
    (evicted,) = looker.rows[1:]
    assert (evicted.at - START, evicted.evictions) == (40, 2)
    assert evicted.unseen == 3, "admitted, evicted and admitted again before it was evicted"
    assert evicted.seen_before == START + 0


def test_what_goes_while_somebody_looks_is_gone_then() -> None:
    looker = Looker([Life("w", turns((PENDING, 0), (GONE, 42)))])
    every_five_seconds(looker, 60)
    assert told(looker.rows) == [(PENDING, 0), (GONE, 45)]
    assert looker.rows[-1].seen_before is None


def test_what_goes_while_nobody_looks_is_a_gap_and_not_guessed() -> None:
    looker = Looker([Life("w", turns((PENDING, 0), (ADMITTED, 10), (RUNNING, 20), (GONE, 5000)))])
    looker.look(100)
    looker.look(9000)
    gone = looker.rows[-1]
    assert (gone.state, gone.at, gone.seen_before) == (GONE, START + 9000, START + 100)
    assert looker.memory.look is not None
    assert looker.memory.look.begin == START + 9000, "a new span: what lies between is a gap"


def test_a_change_of_size_is_a_row_of_the_same_state() -> None:
    small = Life("w", turns((PENDING, 0), (ADMITTED, 10), (RUNNING, 20)), gpus=4)
    looker = Looker([small])
    looker.look(30)
    looker.lives = [replace(small, gpus=8)]
    looker.look(35)
    assert [(row.state, row.gpus) for row in looker.rows[-2:]] == [(RUNNING, 4), (RUNNING, 8)]
    assert looker.rows[-1].at == START + 35


def test_a_resubmission_in_time_goes_on_with_the_wait_of_the_first() -> None:
    first = Life("a", turns((PENDING, 0), (GONE, 600)), key="same")
    second = Life("b", turns((PENDING, 900), (ADMITTED, 1000), (RUNNING, 1010)), key="same")
    looker = Looker([first, second])
    every_five_seconds(looker, 1100)
    running = looker.rows[-1]
    assert (running.uid, running.state, running.waited_seconds) == ("b", RUNNING, 595 + 110)


def test_of_a_sweep_only_what_vanished_while_it_waited_goes_on() -> None:
    ran = Life("a", turns((PENDING, 0), (ADMITTED, 50), (RUNNING, 60), (GONE, 600)), key="s*", generated=True)
    after = Life("b", turns((PENDING, 700), (ADMITTED, 720), (RUNNING, 730)), key="s*", generated=True)
    looker = Looker([ran, after])
    every_five_seconds(looker, 800)
    assert looker.rows[-1].waited_seconds == 30, "its predecessor had its turn"
    waited = replace(ran, turns=turns((PENDING, 0), (GONE, 600)))
    looker = Looker([waited, after])
    every_five_seconds(looker, 800)
    assert looker.rows[-1].waited_seconds == 595 + 30


def test_of_a_sweep_the_one_that_waited_goes_on_whatever_else_ended_after_it() -> None:
    waited = Life("a", turns((PENDING, 0), (GONE, 300)), key="s*", generated=True)
    ran = Life("b", turns((PENDING, 10), (ADMITTED, 20), (RUNNING, 30), (GONE, 600)), key="s*", generated=True)
    after = Life("c", turns((PENDING, 700), (ADMITTED, 720), (RUNNING, 730)), key="s*", generated=True)
    looker = Looker([waited, ran, after])
    every_five_seconds(looker, 800)
    assert looker.rows[-1].waited_seconds == 295 + 30


def test_an_owner_that_comes_back_after_it_was_gone_begins_anew() -> None:
    looker = Looker([Life("rs", turns((PENDING, 0), (ADMITTED, 5), (RUNNING, 10), (GONE, 50)))])
    every_five_seconds(looker, 60)
    looker.lives = [Life("rs", turns((PENDING, 100), (ADMITTED, 105), (RUNNING, 110)))]
    every_five_seconds(looker, 120, 65)
    assert told(looker.rows)[3:] == [(GONE, 50), (PENDING, 100), (ADMITTED, 105), (RUNNING, 110)]
    assert len({row.step for row in looker.rows}) == len(looker.rows)


def test_capacity_is_a_row_when_it_changes() -> None:
    looker = Looker([])
    looker.look(0)
    looker.look(5)
    looker.capacity = 56
    looker.look(10)
    assert [(one.at - START, one.gpus) for batch in looker.batches for one in batch.capacities] == [(0, 64), (10, 56)]
