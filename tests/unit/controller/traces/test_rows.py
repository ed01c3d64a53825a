"""Tables of text in whatever encoding and packing they come."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from controller.api.errors import InputError
from controller.traces.rows import Rows, read_table


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings_that_spreadsheets_write_are_understood(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes("tenant\nMünchen\n".encode(encoding))
    assert list(Rows.open(path)) == [(2, {"tenant": "München"})]


def test_where_only_the_gzip_is_there_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"a\n1\n"))
    assert read_table(tmp_path / "table.csv") == "a\n1\n"


@pytest.mark.parametrize("content", [b"\x1f\x8b", gzip.compress(b"a" * 999)[:-12], gzip.compress(b"a")[:-4] + b"0000"])
def test_a_damaged_gzip_is_refused_in_plain_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match="got a gzip file that is cut off or damaged"):
        read_table(path)


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got a folder"):
        read_table(tmp_path)


def test_short_rows_are_filled_and_blank_lines_are_none() -> None:
    assert list(Rows("a, b\n1\n\n 2 ,3,4\n")) == [(2, {"a": "1", "b": ""}), (4, {"a": "2", "b": "3"})]


def test_a_row_that_breaks_the_reader_ends_it_and_is_told() -> None:
    rows = Rows("a\n1\n" + "x" * 200_000 + "\n2\n")
    assert list(rows) == [(2, {"a": "1"})]
    assert rows.broken is not None
    assert rows.broken.startswith("this and all after line 3")
