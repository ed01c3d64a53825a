"""People's word and people's baseline, as they are kept in the cluster or in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.knobs.own import Baseline, baseline_text, read_baseline
from controller.runtime import control as control_module
from controller.runtime.control import BaselineSource, Control, read_control, write_control
from tests.unit.controller.runtime.stage import CONFIG_MAPS, HOME, Stage

BASELINE = f"{CONFIG_MAPS}/trimtab-baseline"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def keep(stage: Stage, text: str) -> None:
    stage.api.objects[BASELINE] = {"metadata": {"resourceVersion": "1"}, "data": {"baseline.yaml": text}}


def test_what_was_said_is_read_and_nothing_said_is_no_pause(stage: Stage) -> None:
    assert read_control(stage.api, HOME) == Control()
    write_control(stage.api, HOME, Control("maintenance"))
    assert read_control(stage.api, HOME) == Control("maintenance")
    write_control(stage.api, HOME, Control())
    assert read_control(stage.api, HOME) == Control()


def test_the_baseline_comes_from_the_cluster_where_no_file_is_named(stage: Stage) -> None:
    source = BaselineSource(stage.api, HOME)
    assert source.read() == Baseline()
    keep(stage, baseline_text(stage.world.baseline))
    assert source.read() == stage.world.baseline
    del stage.api.objects[BASELINE]
    assert source.read() == Baseline()


def test_its_text_is_parsed_when_it_changes_and_not_in_every_tick(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def reading(text: str, origin: str) -> Baseline:
        parsed.append(text)
        return read_baseline(text, origin)

    monkeypatch.setattr(control_module, "read_baseline", reading)
    source = BaselineSource(stage.api, HOME)
    keep(stage, baseline_text(stage.world.baseline))
    assert source.read() == source.read()
    assert len(parsed) == 1
    keep(stage, "")
    assert source.read() == Baseline()


def test_a_broken_text_is_told_each_time_with_its_place(stage: Stage) -> None:
    keep(stage, "kind: Pod")
    source = BaselineSource(stage.api, HOME)
    for _ in range(2):
        with pytest.raises(InputError, match="ConfigMap home/trimtab-baseline: document 1: kind"):
            source.read()
