"""The store on a real SQLite and PostgreSQL: idempotent, exact over restarts, pruned, migrated, clear in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from collector.accounting.address import read_address
from collector.accounting.errors import StoreProblem
from collector.accounting.schema.clock_text import resumed
from collector.accounting.schema.rows import Batch, Capacity, PolicyStep, State
from collector.accounting.store import Store, Wanted
from collector.accounting.tables import MIGRATIONS
from collector.assemble.clocks import WaitClocks
from tests.testbed import Testbed
from tests.unit.collector.accounting.lives import CLUSTER, START, Life, Looker, told, turns
from tests.unit.collector.accounting.test_derive import WHOLE, every_five_seconds

STEP = PolicyStep(CLUSTER, "c-1", "intended", START, "default", "vision", "h100", "trimtab-shared", "trimtab-vision", 8)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of this test's own."""
    if request.param == "sqlite":
        return str(tmp_path / "history.db")
    bed: Testbed = request.getfixturevalue("database")
    return bed.postgres.url(f"test_{abs(hash(request.node.name)) % 10**8}")


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    made = Store(read_address(address))
    made.begin_writing()
    yield made
    made.close()


def written(store: Store, looker: Looker) -> None:
    store.write(reduce(Batch.then, looker.batches))


def test_what_was_written_is_read_back(store: Store) -> None:
    looker = Looker([WHOLE])
    every_five_seconds(looker, 1000)
    written(store, looker)
    assert list(store.transitions(Wanted())) == looker.rows
    assert store.looks(CLUSTER, START, START + 1) == (looker.batches[-1].looks[-1],)
    assert [one.gpus for one in store.capacities(CLUSTER, START + 1)] == [64]
    assert store.clusters() == (CLUSTER,)


def test_a_batch_written_twice_changes_nothing(store: Store) -> None:
    looker = Looker([WHOLE])
    every_five_seconds(looker, 1000)
    for batch in (*looker.batches, *looker.batches[::-1][:50]):
        store.write(batch)
    written(store, looker)
    store.write(Batch(policy=(STEP,)))
    store.write(Batch(policy=(STEP,)))
    assert list(store.transitions(Wanted())) == looker.rows
    assert store.policy_steps(Wanted()) == (STEP,)


def test_rows_are_found_by_tenant_time_and_work(store: Store) -> None:
    looker = Looker([WHOLE, Life("n", turns((State.PENDING, 50)), tenant="nlp")])
    every_five_seconds(looker, 600)
    written(store, looker)
    assert {row.tenant for row in store.transitions(Wanted(tenant="nlp"))} == {"nlp"}
    assert told(store.transitions(Wanted(begin=START + 100, end=START + 500))) == [
        (State.ADMITTED, 100),
        (State.RUNNING, 130),
    ]
    assert [row.name for row in store.standing_at(CLUSTER, START + 120)] == ["n", "w"]
    assert {row.uid: row.state for row in store.standing_at(CLUSTER, START + 120)}["w"] is State.ADMITTED


def test_after_a_restart_the_waits_go_on_and_are_no_lower_bounds(store: Store) -> None:
    looker = Looker([WHOLE])
    every_five_seconds(looker, 600)
    written(store, looker)
    memory = store.memory(CLUSTER)
    assert memory.standings["w"].last == looker.rows[-1]
    again = Looker([WHOLE], memory, resumed(WaitClocks(), memory))
    again.look(800)
    clock = again.clocks.clocks["w"]
    assert (clock.waited_seconds(START + 800), clock.lower_bound, clock.evictions) == (350, False, 1)
    assert told(again.rows) == [(State.ADMITTED, 700), (State.RUNNING, 720)]
    without_history = WaitClocks().advance([seen.sighting for seen in [WHOLE.seen(START + 800)] if seen], START + 800)
    assert without_history.clocks["w"].lower_bound


def test_what_was_away_at_a_restart_can_still_be_submitted_again(store: Store) -> None:
    first = Life("a", turns((State.PENDING, 0), (State.GONE, 60)), key="same")
    looker = Looker([first])
    every_five_seconds(looker, 100)
    written(store, looker)
    memory = store.memory(CLUSTER)
    second = Life("b", turns((State.PENDING, 1000)), key="same")
    again = Looker([second], memory, resumed(WaitClocks(), memory))
    again.look(1010)
    assert again.clocks.clocks["b"].waited_seconds(START + 1010) == 55 + 10
    too_late = Looker([replace(second, turns=turns((State.PENDING, 3000)))], memory, resumed(WaitClocks(), memory))
    too_late.look(3010)
    assert too_late.clocks.clocks["b"].waited_seconds(START + 3010) == 10


def test_pruning_forgets_what_was_over_and_keeps_what_was_still_so(store: Store) -> None:
    old = Life("old", turns((State.PENDING, 0), (State.FINISHED, 100)))
    runs = Life("runs", turns((State.PENDING, 0), (State.ADMITTED, 10), (State.RUNNING, 20)))
    looker = Looker([old, runs])
    every_five_seconds(looker, 200)
    looker.lives = [runs]
    looker.look(205)
    written(store, looker)
    assert store.prune(START + 150) > 0
    assert told(store.transitions(Wanted())) == [(State.RUNNING, 20)]
    assert store.capacities(CLUSTER, START + 300), "the size that is still so stays"
    assert store.prune(START + 150) == 0


def test_an_older_schema_is_brought_to_this_one_and_keeps_its_rows(address: str) -> None:
    url = read_address(address)
    old = Store(url)
    old.begin_writing()
    looker = Looker([WHOLE])
    looker.look(300)
    written(old, looker)
    old.close()

    def add_column(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE trimtab_transitions ADD COLUMN node VARCHAR DEFAULT '' NOT NULL"))

    newer = Store(url, (*MIGRATIONS, add_column))
    with pytest.raises(StoreProblem, match="has schema version 1, this program needs 2: start the collector"):
        newer.begin_reading()
    newer.begin_writing()
    newer.begin_writing()
    assert list(newer.transitions(Wanted())) == looker.rows
    newer.close()
    with pytest.raises(StoreProblem, match="has schema version 2, this program knows 1: a newer Trimtab wrote it"):
        old.begin_reading()
    old.close()


def test_a_migration_that_fails_leaves_the_schema_as_it_was(address: str) -> None:
    store = Store(read_address(address))
    store.begin_writing()

    def half(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE half_done (a INTEGER)"))
        connection.execute(text("ALTER TABLE nowhere ADD COLUMN b INTEGER"))

    failing = Store(read_address(address), (*MIGRATIONS, half))
    with pytest.raises(StoreProblem, match="nowhere"):
        failing.begin_writing()
    failing.close()
    store.begin_reading()
    store.close()

    def again(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE half_done (a INTEGER)"))

    later = Store(read_address(address), (*MIGRATIONS, again))
    later.begin_writing()
    later.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "there is no such file"), (b"", "holds no history of Trimtab"), (b"nonsense" * 600, "not a database")],
)
def test_a_file_that_is_no_history_is_told_in_words(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "history.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreProblem, match=f"accounting {path}: .*{said}"):
        Store(read_address(str(path))).begin_reading()


def test_what_no_database_can_hold_is_bounded_and_blocks_nothing(store: Store) -> None:
    row = Looker([WHOLE]).look(10).rows[0]
    odd = replace(row, name="a\0b", why="half a \ud83d", gpus=9 * 10**18 * 100, queue="größer")
    store.write(
        Batch(rows=(odd,), policy=(replace(STEP, reason="\0"),), capacities=(Capacity(CLUSTER, "p", 1, 10**30),))
    )
    (found,) = store.transitions(Wanted())
    assert (found.name, found.why, found.gpus, found.queue) == ("ab", "half a ?", 2**62, "größer")
    assert store.policy_steps(Wanted())[0].reason == ""


def test_a_reader_and_the_writer_do_not_hold_each_other_up(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    writer = Store(read_address(str(path)))
    writer.begin_writing()
    looker = Looker([WHOLE])
    looker.look(300)
    written(writer, looker)
    reader = Store(read_address(str(path)))
    reader.begin_reading()
    assert list(reader.transitions(Wanted())) == looker.rows
    looker.look(700)
    written(writer, looker)
    assert list(reader.transitions(Wanted())) == looker.rows, "both at once"
    reader.close()
    writer.close()
