"""A file that can not be written is a mistake with its option and its name, in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.api.errors import InputError, Mistake
from controller.files.writing import write_text


def test_text_is_written_as_utf_8(tmp_path: Path) -> None:
    write_text(tmp_path / "out", "wörd", "--out")
    assert (tmp_path / "out").read_bytes() == b"w\xc3\xb6rd"


def test_a_place_that_takes_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        write_text(tmp_path, "word", "--out")
    assert caught.value.mistakes == (Mistake(f"--out {tmp_path}", "a folder", "a file to write to"),)
