"""What `trimtab demo` needs is looked at before anything is started, and what it leaves out of a trace is counted."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from controller.cli.demo import _replayed
from controller.cli.main import run

HEAD = "timestamp,duration,num_gpus,cluster\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    rows = [f"2017-10-09 07:{minute:02}:00,600,1,a\n" for minute in range(20)]
    rows += ["2017-10-09 07:30:00,600,64,a\n", "soon,600,1,a\n", "2017-10-09 07:31:00,600,1,\n", "later,1,1,a\n"]
    (tmp_path / "trace.csv").write_text(HEAD + "".join(rows), encoding="utf-8")
    return tmp_path / "trace.csv"


def test_rows_and_jobs_that_are_left_out_of_a_trace_are_counted_and_said(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _replayed(trace, 1)
    *rows, jobs = capsys.readouterr().err.splitlines()
    assert rows == [f"{trace}: left out 2 rows: a time that is no time", f"{trace}: left out 1 row: no tenant"]
    assert jobs.startswith(f"{trace}: replaying 20 of 21 jobs: one day of its busiest tenants (1), without jobs that")


def test_a_trace_without_jobs_is_refused_in_plain_words(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace.write_text(f"{HEAD}soon,1,1,a\n", encoding="utf-8")
    assert run(["demo", f"--trace={trace}"]) == 2
    said = capsys.readouterr().err
    assert "no job that can be read (1 row: a time that is no time)" in said
    assert "{" not in said


def test_the_form_of_times_in_a_trace_is_part_of_the_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["demo", "--help"]) == 0
    assert "ISO" in capsys.readouterr().out


def test_a_full_folder_for_temporary_files_is_said_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tempfile.gettempdir()
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=3 * 2**20))
    assert run(["demo"]) == 2
    assert f"TMPDIR {folder}: got 3 MiB free, expected a folder with at least 256 MiB free" in capsys.readouterr().err


def test_no_folder_for_temporary_files_is_said_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in a list")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    assert run(["demo"]) == 2
    assert "TMPDIR: got no folder that can be written to, expected a folder" in capsys.readouterr().err
