"""The arranged story, rehearsed without waiting: each seed shows what the demonstration promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.demo.chronicle import Kind
from controller.demo.replay import replayed
from controller.demo.story import WARM_SECONDS, arranged
from controller.traces.read import read_trace
from tests.unit.controller.demo.rehearsal import CURTAIN, Rehearsal


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_a_starving_tenant_is_helped_and_slow_storage_left_alone(tmp_path: Path, seed: int) -> None:
    rehearsal = Rehearsal(tmp_path, seed)
    rehearsal.play(110)
    told = rehearsal.chronicle
    shown = (Kind.FINDING, Kind.CHANGE, Kind.VERDICT)
    first = {kind: next(entry.at - CURTAIN for entry in told.entries if entry.kind is kind) for kind in shown}
    assert first[Kind.FINDING] < first[Kind.CHANGE] < first[Kind.VERDICT] < 60
    assert told.verdict_counts()["helped"] >= 1
    assert "vision" in told.changes.values()
    assert (told.storage_named, told.wrong_cause_changes) == ({"speech"}, [])
    assert any("speech lacks" in entry.text for entry in told.entries if entry.kind is Kind.LEFT_ALONE), (
        "it looks alike"
    )


@pytest.mark.parametrize("seed", [3, 4, 38])
def test_nobody_is_just_being_helped_when_his_storage_gets_slow_however_often_the_loop_looks(
    tmp_path: Path, seed: int
) -> None:
    rehearsal = Rehearsal(tmp_path, seed, ring_seconds=2.0)
    rehearsal.play(120)
    trouble = rehearsal.cluster.story.troubles[0]
    begins, ends = CURTAIN + trouble.begins / 120, CURTAIN + trouble.ends / 120
    changes = rehearsal.controller.ledger.changes
    assert not [one.id for one in changes if one.tenant == trouble.tenant and begins - 5 < one.created_at < ends]
    assert rehearsal.chronicle.wrong_cause_changes == []
    assert not any(report.problems or report.ledger.latched for report in rehearsal.reports)


def test_the_same_seed_is_the_same_run(tmp_path: Path) -> None:
    runs = []
    for _ in range(2):
        rehearsal = Rehearsal(tmp_path, 7)
        rehearsal.play(60)
        runs.append(rehearsal.chronicle.entries)
    assert runs[0] == runs[1]


def test_what_was_moved_comes_back_when_it_is_no_longer_needed(tmp_path: Path) -> None:
    rehearsal = Rehearsal(tmp_path, 1)
    rehearsal.play(170)
    assert any(entry.kind is Kind.BACK for entry in rehearsal.chronicle.entries)
    assert any(not change.active for change in rehearsal.controller.ledger.changes)


def test_a_story_has_everyday_work_bursts_and_slow_storage() -> None:
    story = arranged(3)
    assert {one.job.tenant for one in story.submissions} == {"vision", "nlp", "speech", "research"}
    assert all(trouble.begins < trouble.ends for trouble in story.troubles)
    assert min(one.at for one in story.submissions) == 0.0
    assert arranged(3) == story
    assert arranged(4) != story


def test_a_trace_becomes_a_site_that_can_play_it(tmp_path: Path, shared_folder: Path) -> None:
    trace = read_trace(shared_folder / "traces" / "philly" / "philly.csv.gz")
    scenery, story = replayed(trace.jobs, seed=1)
    assert len(scenery.tenants) == 4
    assert sum(one.floor + one.floating for one in scenery.tenants) + scenery.shared <= 64
    assert any(one.at > WARM_SECONDS for one in story.submissions)
    rehearsal = Rehearsal(tmp_path, scenery=scenery, story=story)
    rehearsal.play(30)
    assert all(report.outcome is not None for report in rehearsal.reports)
