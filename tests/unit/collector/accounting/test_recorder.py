"""Between looks and database: nothing is lost while it is away for a while, and what is lost is a gap."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.accounting.address import read_address
from collector.accounting.recorder import Recorder
from collector.accounting.schema.rows import PolicyStep, State
from collector.accounting.store import Store, Wanted
from collector.assemble.clocks import WaitClocks
from tests.unit.collector.accounting.lives import CLUSTER, START, Life, told, turns
from tests.unit.collector.accounting.test_derive import WHOLE

STEP = PolicyStep(CLUSTER, "c-1", "intended", START, "default", "vision", "h100", "trimtab-shared", "trimtab-vision", 8)
YEAR = 365 * 86400.0


class Scene:
    """A recorder as the collector drives it, on a database in a folder that may be absent."""

    def __init__(self, folder: Path, *lives: Life, most: int = 1000) -> None:
        self.folder, self.lives = folder, lives
        self.store = Store(read_address(str(folder / "history.db")))
        self.recorder = Recorder(self.store, CLUSTER, YEAR, lambda: START, most)
        self.clocks = WaitClocks()

    def look(self, after: float) -> None:
        now = START + after
        self.clocks = self.recorder.seeded(self.clocks)
        found = tuple(seen for life in self.lives if (seen := life.seen(now)) is not None)
        self.clocks = self.clocks.advance([seen.sighting for seen in found], now)
        self.recorder.look(found, self.clocks, {"h100": 64}, now)

    def rows(self) -> list[tuple[State, float]]:
        return told(self.store.transitions(Wanted()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "volume"


def test_what_is_seen_is_written_by_whoever_writes(folder: Path) -> None:
    folder.mkdir()
    scene = Scene(folder, WHOLE)
    assert scene.recorder.write() == ""
    scene.look(200)
    assert scene.rows() == []
    assert scene.recorder.close() == ""
    assert scene.rows() == [(State.PENDING, 0), (State.ADMITTED, 100), (State.RUNNING, 130)]


def test_a_database_that_is_away_is_told_and_nothing_is_lost_for_a_while(folder: Path) -> None:
    folder.mkdir()
    scene = Scene(folder, WHOLE)
    scene.recorder.write()
    scene.look(50)
    scene.store.close()
    aside = folder.rename(folder.with_name("aside"))
    assert "unable to open database file" in scene.recorder.write()
    for after in range(55, 1000, 5):
        scene.look(after)
        scene.recorder.write()
    aside.rename(folder)
    assert scene.recorder.write() == ""
    assert scene.rows() == [(state, at - START) for state, at in WHOLE.turns]
    assert [look.until for look in scene.store.looks(CLUSTER, START, START + 2000)] == [START + 995]


def test_a_database_that_is_away_at_the_start_is_waited_for_and_the_waits_are_known_once_it_is_there(
    folder: Path,
) -> None:
    folder.mkdir()
    before = Scene(folder, WHOLE)
    before.recorder.write()
    for after in range(0, 600, 5):
        before.look(after)
    before.recorder.close()
    aside = folder.rename(folder.with_name("aside"))
    scene = Scene(folder, WHOLE)
    assert scene.recorder.write() != ""
    assert scene.recorder.settled.is_set(), "the collector goes on"
    scene.look(640)
    assert scene.clocks.clocks["w"].lower_bound
    aside.rename(folder)
    assert scene.recorder.write() == ""
    scene.look(650)
    clock = scene.clocks.clocks["w"]
    assert (clock.waited_seconds(START + 650), clock.lower_bound) == (130 + 150, False)


def test_what_does_not_fit_into_memory_is_let_go_and_is_a_gap(folder: Path) -> None:
    folder.mkdir()
    many = [Life(f"w{n}", turns((State.PENDING, 100 + n))) for n in range(40)]
    scene = Scene(folder, WHOLE, *many, most=30)
    scene.recorder.write()
    scene.look(50)
    assert scene.recorder.write() == ""
    scene.look(200)
    scene.look(205)
    assert scene.recorder.write() == "", "it reads again where it stands"
    scene.look(300)
    scene.lives = (WHOLE,)
    scene.recorder.write()
    scene.look(400)
    scene.recorder.write()
    looks = scene.store.looks(CLUSTER, START, START + 1000)
    assert sorted((look.begin - START, look.until - START) for look in looks) == [(50, 50), (400, 400)]
    assert (State.RUNNING, 130) in scene.rows(), "what the object still tells is not lost"


def test_a_policy_change_is_written_once_and_again_when_it_changed(folder: Path) -> None:
    folder.mkdir()
    scene = Scene(folder)
    scene.recorder.add_policy([STEP])
    scene.recorder.write()
    scene.recorder.add_policy([STEP, STEP])
    scene.recorder.write()
    assert scene.store.policy_steps(Wanted()) == (STEP,)
