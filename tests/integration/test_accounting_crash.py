"""Killed in the middle of its work, again and again: no row is lost and none is double, on SQLite and PostgreSQL."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from collector.accounting.address import read_address
from collector.accounting.recorder import Recorder
from collector.accounting.store import Store, Wanted
from collector.assemble.clocks import WaitClocks
from tests.integration.accounting_child import SECONDS, lives_of
from tests.testbed import Testbed
from tests.unit.collector.accounting.lives import CLUSTER, START

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_between_and_within_batches_the_history_is_whole(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "sqlite":
        address = str(tmp_path / "history.db")
    else:
        bed: Testbed = request.getfixturevalue("database")
        address = bed.postgres.url("crash")
    chance, second, kills = random.Random(7), 0, 0
    while second < SECONDS:
        lines_until_kill = chance.randrange(60, 110)
        second, killed = run_until_killed(address, second, lines_until_kill)
        kills += killed
    assert kills >= 2
    store = Store(read_address(address))
    rows = list(store.transitions(Wanted()))
    for life in lives_of(7):
        own = [row for row in rows if row.uid == life.uid]
        assert [(row.state, row.at) for row in own] == [turn for turn in life.turns if turn[1] < START + SECONDS]
        assert [row.step for row in own] == list(range(own[0].step, own[0].step + len(own)))
        assert all(abs(row.waited_seconds - life.waited(row.at)) <= 1 for row in own), "waits went on over the kills"
    (look,) = store.looks(CLUSTER, START, START + SECONDS)
    assert (look.begin, look.until) == (START, START + SECONDS - 1), "no restart took a minute: no gap"
    store.close()


def run_until_killed(address: str, first: int, lines: int) -> tuple[int, bool]:
    """Runs from that second on, kills it after so many lines; the second to go on from, and whether it was killed.

    The second after the last that was printed is looked at again: it may be written or not.
    """
    command = [sys.executable, "-m", "tests.integration.accounting_child", address, "7", str(first)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        last = first - 1
        for count, line in enumerate(child.stdout, 1):
            last = int(line)
            if count == lines:
                child.kill()
                break
        child.wait(30)
    return last + 1, child.returncode < 0


def test_a_database_server_that_dies_and_comes_back_costs_no_row(database: Testbed) -> None:
    lives, server = lives_of(3, count=10), database.postgres
    recorder = Recorder(Store(read_address(server.url("dies"))), CLUSTER, 1e9)
    clocks, problems = WaitClocks(), []
    for second in range(SECONDS):
        if second == 80:
            server.service.kill()
        if second == 160:
            server.service.start()
        clocks = recorder.seeded(clocks)
        found = tuple(seen for life in lives if (seen := life.seen(START + second)) is not None)
        clocks = clocks.advance([seen.sighting for seen in found], START + second)
        recorder.look(found, clocks, {"h100": 64}, START + second)
        problems.append(recorder.write())
    assert not any(problems[:80]), problems[:80]
    assert all(problems[80:160])
    assert not any(problems[161:]), problems[161:]
    store = Store(read_address(server.url("dies")))
    rows = list(store.transitions(Wanted()))
    last = START + SECONDS - 1
    for life in lives:
        assert [(row.state, row.at) for row in rows if row.uid == life.uid] == [t for t in life.turns if t[1] <= last]
    assert len(store.looks(CLUSTER, START, last)) == 1, "what was seen meanwhile was kept"
    store.close()
    recorder.close()
