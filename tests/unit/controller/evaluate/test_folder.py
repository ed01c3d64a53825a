"""Where traces are looked for, and what is said when they are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.evaluate.folder import TraceFolder


def test_a_file_is_found_plain_or_packed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    (tmp_path / "b.csv.gz").touch()
    folder = TraceFolder.found(tmp_path)
    assert folder.file("a.csv").name == "a.csv"
    assert folder.file("b.csv").name == "b.csv.gz"
    with pytest.raises(InputError, match=r"c\.csv, expected this file, plain or with \.gz"):
        folder.file("c.csv")


def test_the_usual_places_are_looked_at_when_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"--traces: got not given, expected the folder that holds a\.csv"):
        TraceFolder.found(None).file("a.csv")
    (tmp_path / "traces").mkdir()
    assert TraceFolder.found(None).path == Path("traces")


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a folder with one folder per trace"):
        TraceFolder.found(tmp_path / "absent")
