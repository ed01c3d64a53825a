"""Whatever a person names as a file is read within bounds or refused in plain words; nothing hangs or crashes."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.api.errors import InputError, Mistake
from controller.files.reading import MOST_TEXT_BYTES, read_packed, read_text, trouble_in_words


def refused(path: Path, read: Callable[[Path], object] = lambda path: read_text(path, "a manifest")) -> Mistake:
    with pytest.raises(InputError) as caught:
        read(path)
    (mistake,) = caught.value.mistakes
    return mistake


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfw\xc3\xb6rd")
    assert read_text(tmp_path / "file", "a manifest") == "wörd"


def test_a_file_behind_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("word")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_text(tmp_path / "link", "a manifest") == "word"


def test_a_pipe_is_refused_at_once_though_nobody_writes_to_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe") == Mistake(str(tmp_path / "pipe"), "a pipe", "a manifest")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused_however_much_it_would_give(device: str) -> None:
    assert refused(Path(device)).value == "a device"


def test_folders_absent_files_broken_links_and_circles_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    said = {
        tmp_path: "a folder",
        tmp_path / "absent": "no such file or folder",
        tmp_path / "broken": "a link to a file that is not there",
        tmp_path / "circle": "a link that leads in a circle",
        tmp_path / ("long" * 100): "a name that is too long",
    }
    assert {path: refused(path).value for path in said} == said


def test_more_than_the_bound_is_refused_and_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(MOST_TEXT_BYTES + 1)
    assert refused(tmp_path / "file").value == "more than 16 MiB"


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kind: Policy", encoding="utf-16")
    assert refused(tmp_path / "file") == Mistake(
        str(tmp_path / "file"), "bytes that are no UTF-8", "a manifest in UTF-8"
    )


def test_the_option_that_named_the_file_is_part_of_the_place(tmp_path: Path) -> None:
    mistake = refused(tmp_path / "no", lambda path: read_text(path, "a token", "--token-file"))
    assert mistake.place == f"--token-file {tmp_path / 'no'}"


def test_gzip_is_unpacked_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(gzip.compress(b"word"))
    assert read_packed(tmp_path / "file", "a trace", 100) == b"word"
    assert refused(tmp_path / "file").value == "bytes that are no UTF-8"


@pytest.mark.parametrize("end", [1, 5, 12, 20, -1])
def test_gzip_that_is_cut_off_is_refused(tmp_path: Path, end: int) -> None:
    (tmp_path / "file").write_bytes(gzip.compress(b"word" * 100)[:end] if end > 1 else b"\x1f\x8b")
    mistake = refused(tmp_path / "file", lambda path: read_packed(path, "a trace", 1000))
    assert mistake.value == "a gzip file that is cut off or damaged"


def test_gzip_that_is_damaged_is_refused(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(bytes(range(256)) * 20))
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "file").write_bytes(bytes(data))
    mistake = refused(tmp_path / "file", lambda path: read_packed(path, "a trace", 2**20))
    assert mistake.value == "a gzip file that is cut off or damaged"


def test_gzip_is_bounded_by_what_comes_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(gzip.compress(bytes(3 * 2**20)))
    mistake = refused(tmp_path / "file", lambda path: read_packed(path, "a trace", 2 * 2**20))
    assert mistake.value == "more than 2 MiB"


def test_what_the_system_says_is_never_shown() -> None:
    assert trouble_in_words(OSError(28, "No space left on device")) == "a place with no room left"
    assert trouble_in_words(OSError(9999, "Weird")) == "a place that can not be used"
