"""Pictures of a run: both kinds of file, names of tenants on them, and what is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.evaluate.chart import drawer
from controller.evaluate.trace_run import Request, TraceRun, simulate_trace
from controller.simulate.baselines import Baseline


@pytest.fixture
def run(tmp_path: Path) -> TraceRun:
    path = tmp_path / "trace.csv"
    rows = [f"tenant-{number},{number},{100 + number},8" for number in range(12)]
    path.write_text("\n".join(["tenant,submitted,run_seconds,gpus", *rows]), encoding="utf-8")
    return simulate_trace(Request(path, Baseline.KUEUE_FIXED))


def test_a_page_is_one_file_that_loads_nothing(tmp_path: Path, run: TraceRun) -> None:
    drawer(tmp_path / "run.html")(run)
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "<title>kueue-fixed on 192 GPUs (counts): 12 jobs, mean wait 0 s</title>" in text
    assert "<script" not in text
    assert "src=" not in text


def test_a_picture_is_a_png(tmp_path: Path, run: TraceRun) -> None:
    drawer(tmp_path / "run.png")(run)
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "said"), [("run.pdf", r"ends in \.png or \.html"), ("absent/run.png", "a folder that is there")]
)
def test_what_can_not_be_drawn_is_refused_at_once(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        drawer(tmp_path / name)
