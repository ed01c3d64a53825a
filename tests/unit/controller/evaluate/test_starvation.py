"""The recipe starvation on made-up minutes: what is true, what is found, and how the two are compared."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from collector.model.snapshot import WaitingName
from controller.api.errors import InputError
from controller.evaluate.counts import Counts, Telemetry, by_minute
from controller.evaluate.folder import TraceFolder
from controller.evaluate.starvation import Detection, Episode, Rows, detections, episodes, load_rows, scored, thinned


def minutes(*runs: tuple[int, int, int], tenant: str = "vision", running: int = 8) -> Rows:
    """So many minutes with so many GPUs pending and idle, one run after the other."""
    counts = [Counts(tenant, running, pending, idle) for length, pending, idle in runs for _ in range(length)]
    return {tenant: {60.0 * number: one for number, one in enumerate(counts)}}


def test_an_episode_is_an_hour_of_waiting_without_a_break() -> None:
    assert episodes(minutes((10, 0, 8), (59, 8, 0), (10, 0, 8))) == ()
    found = episodes(minutes((10, 0, 8), (60, 8, 0), (1, 0, 8), (70, 8, 9)))
    assert found == (
        Episode("vision", 600.0, 600.0 + 59 * 60, own_idle=False),
        Episode("vision", 71 * 60.0, 140 * 60.0, own_idle=True),
    )


def test_a_minute_without_a_row_ends_an_episode() -> None:
    rows = {"vision": dict(minutes((80, 8, 0))["vision"])}
    del rows["vision"][40 * 60.0]
    assert episodes(rows) == ()


def test_the_class_is_that_of_most_minutes() -> None:
    (episode,) = episodes(minutes((40, 8, 8), (39, 8, 0)))
    assert episode.own_idle
    (episode,) = episodes(minutes((40, 8, 8), (40, 8, 0)))
    assert not episode.own_idle


def test_it_is_found_in_the_sixtieth_minute_and_named() -> None:
    (found,) = detections(minutes((10, 0, 8), (65, 8, 0), (10, 0, 8)))
    assert (found.first, found.last, found.own_idle) == ((10 + 59) * 60.0, (10 + 64) * 60.0, False)
    (found,) = detections(minutes((10, 0, 8), (65, 8, 8), (10, 0, 8)))
    assert found.own_idle
    assert detections(minutes((10, 0, 8), (59, 8, 0), (10, 0, 8))) == ()


def test_a_lost_minute_neither_hides_nor_makes_a_wait() -> None:
    rows = dict(minutes((10, 0, 8), (65, 8, 0), (10, 0, 8))["vision"])
    for lost in (10, 30, 31, 50):
        del rows[lost * 60.0]
    (found,) = detections({"vision": rows})
    assert found.first == (10 + 59) * 60.0
    short = dict(minutes((10, 0, 8), (50, 8, 0), (1, 0, 8), (50, 8, 0))["vision"])
    for lost in (9, 20, 111 - 1):
        del short[lost * 60.0]
    assert detections({"vision": short}) == ()


def test_one_minute_says_what_the_live_loop_would_say() -> None:
    telemetry = Telemetry(["vision"], limit_seconds=30.0)
    telemetry.look(0.0, (Counts("vision", 8, 8, 0),))
    snapshot = telemetry.look(60.0, (Counts("vision", 8, 8, 0),))
    assert [work.waiting for work in snapshot.works] == [WaitingName.SHORT_OF_CAPACITY]
    assert [(state.shortfall, state.entitlement.guarantee) for state in snapshot.tenants] == [(8, 8)]
    idle = telemetry.look(120.0, (Counts("vision", 8, 8, 8),))
    assert [work.waiting for work in idle.works] == [WaitingName.BLOCKED]
    assert idle.works[0].why.endswith("where free GPUs lie is not known; perhaps fragmentation.")


def test_after_a_long_silence_the_wait_begins_anew() -> None:
    telemetry = Telemetry(["vision"], limit_seconds=3599.0)
    waiting = (Counts("vision", 8, 8, 0),)
    telemetry.look(0.0, waiting)
    (work,) = telemetry.look(3600.0, waiting).works
    assert work.waited_seconds == 60.0
    assert work.created_at == 3600.0


def test_minutes_are_in_order_and_so_are_tenants() -> None:
    rows = {"b": {60.0: Counts("b", 1, 0, 0)}, "a": {60.0: Counts("a", 1, 0, 0), 0.0: Counts("a", 2, 0, 0)}}
    assert [(at, [one.tenant for one in minute]) for at, minute in by_minute(rows)] == [
        (0.0, ["a"]),
        (60.0, ["a", "b"]),
    ]


TRUTH = (Episode("a", 0.0, 7200.0, own_idle=False), Episode("b", 0.0, 7200.0, own_idle=True))


def test_the_score_of_a_perfect_detector_and_of_none() -> None:
    perfect = [Detection("a", 3540.0, 7200.0, [False]), Detection("b", 3540.0, 7200.0, [True])]
    assert scored(TRUTH, perfect) == {
        "recall": 1.0,
        "precision": 1.0,
        "max_detection_periods": 0.0,
        "class_accuracy": 1.0,
    }
    nothing = scored(TRUTH, [])
    assert nothing["recall"] == 0.0
    assert math.isnan(nothing["precision"])


def test_late_false_and_wrongly_named_detections_cost() -> None:
    found = [Detection("a", 3720.0, 7200.0, [True]), Detection("b", 9000.0, 9060.0, [True])]
    assert scored(TRUTH, found) == {
        "recall": 0.5,
        "precision": 0.5,
        "max_detection_periods": 3.0,
        "class_accuracy": 0.0,
    }


def test_about_so_many_minutes_are_removed_and_the_same_for_the_same_seed() -> None:
    rows = minutes((2000, 8, 0))
    assert 1850 < len(thinned(rows, 0)["vision"]) < 1950
    assert thinned(rows, 0) == thinned(rows, 0) != thinned(rows, 1)


def test_a_folder_without_the_files_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="helios-earth"):
        load_rows(TraceFolder(tmp_path))
