"""Opens a table of text: plain or gzip, in the encodings that spreadsheets write; gives rows and line numbers."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from pathlib import Path

from controller.api.errors import InputError, Mistake

_GZIP = b"\x1f\x8b"


def read_text(path: Path) -> str:
    """The whole file as text. Raises InputError when it can not be read.

    Where only its gzip is there (the name and .gz), that is read. UTF-8 with or without mark, UTF-16 with mark; what is
    neither is taken as Latin-1, in which every byte is a letter.
    """
    try:
        packed = path.with_name(path.name + ".gz")
        data = (packed if packed.is_file() and not path.exists() else path).read_bytes()
        plain = gzip.decompress(data) if data.startswith(_GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else "a gzip file that is cut or damaged"
        raise InputError((Mistake(str(path), said, "a table as text, plain or gzip"),)) from error
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
        return cls(read_text(path))

    def __iter__(self) -> Iterator[tuple[int, Mapping[str, str]]]:
        """Rows that hold anything; blank lines are no rows."""
        names = self.columns
        try:
            for cells in self._reader:
                if cells:
                    cells += [""] * (len(names) - len(cells))
                    yield self._reader.line_num, dict(zip(names, map(str.strip, cells), strict=False))
        except csv.Error as error:
            self.broken = f"the rest, from line {self._reader.line_num} on: {error}"

    def _head(self) -> tuple[str, ...]:
        try:
            return tuple(name.strip() for name in next(self._reader, []))
        except csv.Error as error:
            self.broken = f"the first line: {error}"
            return ()
