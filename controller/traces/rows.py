"""Opens a table of text: plain or gzip, in the encodings that spreadsheets write; gives rows and line numbers."""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from controller.files.reading import read_packed

MOST_BYTES: Final = 2**30
_EXPECTED: Final = "a table as text, plain or gzip"


def read_table(path: Path) -> str:
    """The whole file as text. Raises InputError when it can not be read.

    Where only its gzip is there (the name and .gz), that is read. UTF-8 with or without mark, UTF-16 with mark; what is
    neither is taken as Latin-1, in which every byte is a letter.
    """
    packed = path.with_name(path.name + ".gz")
    plain = read_packed(packed if packed.is_file() and not path.exists() else path, _EXPECTED, MOST_BYTES)
    encoding = "utf-16" if plain.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return plain.decode(encoding)
    except UnicodeDecodeError:
        return plain.decode("latin-1")


class Rows:
    """A table with named columns. Iterating gives (line number, column → text without blanks around it).

    An empty cell, and one that a short row lacks, is the empty text. `broken` says why reading ended early, if it did.
    """

    def __init__(self, text: str, columns: tuple[str, ...] | None = None, delimiter: str = ",") -> None:
        self._reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        self.broken: str | None = None
        self.columns = columns if columns is not None else self._head()

    @classmethod
    def open(cls, path: Path) -> Rows:
        """A CSV file whose first line names its columns."""
        return cls(read_table(path))

    def __iter__(self) -> Iterator[tuple[int, Mapping[str, str]]]:
        """Rows that hold anything; blank lines are no rows."""
        names = self.columns
        try:
            for cells in self._reader:
                if cells:
                    cells += [""] * (len(names) - len(cells))
                    yield self._reader.line_num, dict(zip(names, map(str.strip, cells), strict=False))
        except csv.Error as error:
            self.broken = f"this and all after line {self._reader.line_num}: {error}"

    def _head(self) -> tuple[str, ...]:
        try:
            return tuple(name.strip() for name in next(self._reader, []))
        except csv.Error as error:
            self.broken = f"the first line: {error}"
            return ()
