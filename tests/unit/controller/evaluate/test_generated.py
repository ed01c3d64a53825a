"""A drawn workload runs as a recorded one does, in the span that was asked for, and its seed decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.evaluate.generated import GENERATED, generated, is_generated
from controller.evaluate.trace_run import Request, simulate_trace
from controller.simulate.baselines import Baseline

DAY = 86400.0


def test_it_is_drawn_by_its_seed_within_the_span() -> None:
    trace = generated(1, 100 * DAY, 101 * DAY)
    assert trace == generated(1, 100 * DAY, 101 * DAY) != generated(2, 100 * DAY, 101 * DAY)
    times = [job.submitted_seconds for job in trace.jobs]
    assert times == sorted(times)
    assert times[0] >= 100 * DAY
    assert times[-1] < 101 * DAY
    assert len({job.tenant for job in trace.jobs}) == 8


def test_without_a_begin_it_is_the_four_weeks_before_the_end() -> None:
    trace = generated(1, float("-inf"), 100 * DAY)
    assert 72 * DAY <= trace.jobs[0].submitted_seconds < 73 * DAY


def test_it_is_simulated_as_a_file_is() -> None:
    run = simulate_trace(Request(GENERATED, Baseline.KUEUE_FIXED, begin=100 * DAY, end=102 * DAY, capacity_ratio=0.5))
    assert run.document()["trace"]["format"] == "generated"
    assert run.outcome.all.jobs == len(run.jobs) > 100
    assert run.outcome.unfinished == 0


def test_a_file_of_that_name_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_generated(Path("generated"))
    Path("generated").touch()
    assert not is_generated(Path("generated"))


@pytest.mark.parametrize(
    ("form", "end", "place"), [("philly", 102 * DAY, "--format"), (None, 100 * DAY, "--from, --to")]
)
def test_what_makes_no_sense_with_it_is_refused(form: str | None, end: float, place: str) -> None:
    with pytest.raises(InputError) as refused:
        simulate_trace(Request(GENERATED, Baseline.POOL, form, 100 * DAY, end))
    assert refused.value.mistakes[0].place == place
