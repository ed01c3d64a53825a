"""A frame of the demonstration fits the terminal and keeps the newest; what is told at the end is whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console, RenderableType

from controller.cli.demo_screen import bars, closing_words, last_told, screen
from controller.demo.chronicle import Entry, Kind
from controller.demo.live_cluster import TenantView
from controller.demo.performance import Performance
from controller.demo.summary import Summary
from tests.unit.controller.demo.rehearsal import CURTAIN, Rehearsal

SUMMARY = Summary(2, 1, {"helped": 1, "hurt": 0}, (), True, 60.0, 120.0, 1)
LONG = "speech is starved in pool h100: move 3 GPUs from trimtab-shared to trimtab-speech, so that " * 6


@dataclass
class OnStage:
    """What a screen asks of a performance, out of a rehearsal."""

    rehearsal: Rehearsal
    page_url: str = "http://127.0.0.1:38301"
    prometheus_url: str = "http://127.0.0.1:23749"
    elapsed_seconds: float = 72.0
    play: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(time_scale=120.0))

    def __post_init__(self) -> None:
        self.cluster, self.chronicle = self.rehearsal.cluster, self.rehearsal.chronicle
        self.board = SimpleNamespace(last=self.rehearsal.reports[-1])


def shown(part: RenderableType, width: int = 80, height: int = 24) -> list[str]:
    out = Console(width=width, height=height, force_terminal=True, color_system=None)
    return ["".join(segment.text for segment in line).rstrip() for line in out.render_lines(part)]


def out(width: int, height: int) -> Console:
    return Console(width=width, height=height, force_terminal=True, color_system=None)


def entries(count: int) -> list[Entry]:
    return [Entry(CURTAIN + number, Kind.CHANGE, f"{number}: {LONG}") for number in range(count)]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 30), (160, 50)])
@pytest.mark.parametrize("seconds", [None, 120.0])
def test_a_frame_fits_the_terminal_and_shows_the_newest(
    tmp_path: Path, width: int, height: int, seconds: float | None
) -> None:
    rehearsal = Rehearsal(tmp_path, 2)
    rehearsal.play(72)
    stage = cast("Performance", OnStage(rehearsal))
    lines = shown(screen(stage, SUMMARY, seconds, out(width, height)), width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    newest = rehearsal.chronicle.entries[-1]
    moment = int(newest.at - CURTAIN)
    assert any(f"+{moment // 60:02}:{moment % 60:02}  {newest.kind.value}" in line for line in lines)
    assert "+01:12" in lines[0]
    assert stage.page_url in "\n".join(lines)


@pytest.mark.parametrize(("width", "height"), [(40, 20), (60, 12)])
def test_on_a_terminal_that_is_too_small_the_marks_are_seen(tmp_path: Path, width: int, height: int) -> None:
    rehearsal = Rehearsal(tmp_path, 2)
    rehearsal.play(72)
    lines = shown(screen(cast("Performance", OnStage(rehearsal)), SUMMARY, None, out(width, height)), width, height)
    assert "storage fault named" in " ".join(lines[:height])


def test_bars_of_many_gpus_stand_on_one_line_each() -> None:
    views = [TenantView("research", 4, 36, 90), TenantView("vision", 12, 6, 0)]
    lines = shown(bars(views, {"research": 20}, 78), 78)
    assert len(lines) == 3
    assert "one sign: 2 GPUs" in lines[2]
    assert (lines[0].count("█"), lines[1].count("█"), lines[1].count("░")) == (18, 3, 3)


def test_a_small_screen_keeps_the_newest_entries_and_cuts_each() -> None:
    lines = shown(last_told(entries(9), CURTAIN, out(80, 24), 6))
    assert [line.split()[0] for line in lines[::2]] == ["+00:06", "+00:07", "+00:08"]
    assert all(line.endswith("…") for line in lines[1::2])


def test_the_closing_words_tell_everything_from_the_first_on_and_name_a_change_for_a_wrong_cause() -> None:
    wrong = Summary(2, 1, {"helped": 1}, ("c1", "c2"), True, 60.0, 120.0, 1)
    text = " ".join("\n".join(shown(closing_words(wrong, entries(20), CURTAIN), 400, 100)).split())
    assert all(f"{number}: speech" in text for number in range(20))
    assert "2 alerts delivered, 1 change made (1 helped), 2 for a wrong cause (c1, c2)" in text


def test_of_very_many_entries_the_first_and_the_last_are_told() -> None:
    text = "\n".join(shown(closing_words(SUMMARY, entries(200), CURTAIN), 700, 100))
    for told in ("0: speech", "199: speech", "… 140 more in between …"):
        assert told in text
