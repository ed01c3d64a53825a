"""What every verb prints with: data to stdout, talk to stderr; tables for people, versioned JSON for scripts.

Nothing here knows what is printed. Without a terminal there is no colour; the width is the terminal's, or COLUMNS.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Final

import orjson
import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

SCHEMA_VERSION: Final = 1
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""

OK: Final = 0
FINDINGS: Final = 1
BAD_INPUT: Final = 2
UNREACHABLE: Final = 3
REFUSED: Final = 4


class Failed(Exception):
    """A verb can not do what was asked: the sentence that says why, and the exit code."""

    def __init__(self, sentence: str, code: int) -> None:
        self.sentence, self.code = sentence, code
        super().__init__(sentence)


class Unwritten(Exception):
    """What should go to stdout can not be written. `error`: why; a BrokenPipeError when its reader has gone."""

    def __init__(self, error: OSError) -> None:
        self.error = error
        super().__init__(str(error))


class Output(StrEnum):
    """For people or for scripts."""

    TEXT = "text"
    JSON = "json"


@contextmanager
def _writing() -> Iterator[None]:
    """Tells a stdout that takes nothing from every other trouble with files."""
    if sys.stdout is None:
        raise Unwritten(OSError(errno.EBADF, "closed"))
    try:
        yield
    except OSError as error:
        raise Unwritten(error) from error


class _Screen(Console):
    """A console that ends no process by itself, as the library's does when its reader has gone."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print now. Raises Unwritten."""
        with _writing():
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Its reader has gone."""
        raise Unwritten(BrokenPipeError())


def console() -> Console:
    """Where data for people goes."""
    return _Screen(highlight=False, markup=False, emoji=False)


def print_json(document: Mapping[str, Any]) -> None:
    """The whole answer as one JSON object. Raises Unwritten."""
    text = orjson.dumps({"schema_version": SCHEMA_VERSION, **document}, option=orjson.OPT_INDENT_2)
    print_text(text.decode() + "\n")


def print_text(text: str) -> None:
    """Text as it is, to stdout. Raises Unwritten."""
    with _writing():
        typer.echo(text, nl=False)


def talk(sentence: str) -> None:
    """One sentence to the person, beside the data."""
    typer.echo(sentence, err=True)


def section(title: str, *parts: RenderableType) -> RenderableType:
    """A titled part of a screen."""
    return Group(Text(title, style="bold"), *(Padding(part, (0, 0, 0, 2), expand=False) for part in parts), Text(""))


def table(*columns: Column) -> Table:
    """A table without frame: only its columns and a dim head."""
    return Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=False)


def left(title: str, **options: Any) -> Column:
    """A column of words; wrapped where the screen ends."""
    return Column(title, overflow="fold", **options)


def right(title: str) -> Column:
    """A column of numbers, never wrapped."""
    return Column(title, justify="right", no_wrap=True)


class NotedRows:
    """Rows of short cells, each with a sentence over the whole width below it; equal sentences in a row stand once."""

    def __init__(self, columns: Sequence[Column], rows: Iterable[tuple[Sequence[str | Text], str]]) -> None:
        self._columns, self._rows = columns, list(rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        """Cells are as wide as their column needs in all rows; the widest words give way when the screen is narrow."""
        widths = self._widths(options.max_width)
        yield self._line([Text(str(column.header), style="dim") for column in self._columns], widths)
        previous = ""
        for number, (cells, note) in enumerate(self._rows):
            if note != previous and number:
                yield from self._note(previous)
            previous = note
            yield self._line([cell if isinstance(cell, Text) else Text(cell) for cell in cells], widths)
        yield from self._note(previous)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As wide as its longest row or sentence, so that no line is filled up with blanks to the screen's end."""
        sentences = [cell_len(note) + 2 for _, note in self._rows]
        widest = max([sum(self._widths(options.max_width)) + 2 * len(self._columns), *sentences])
        return Measurement(1, min(options.max_width, widest))

    def _note(self, note: str) -> Iterable[RenderableType]:
        if note:
            yield Padding(Text(note, style="italic"), (0, 0, 0, 2), expand=False)

    def _line(self, cells: Sequence[Text], widths: Sequence[int]) -> Table:
        line = Table.grid(padding=(0, 2, 0, 0))
        for column, width in zip(self._columns, widths, strict=True):
            line.add_column(width=width, justify=column.justify, overflow="fold")  # a name must stay whole to be copied
        line.add_row(*cells)
        return line

    def _widths(self, screen: int) -> list[int]:
        lines = [
            [str(column.header) for column in self._columns],
            *([str(c) for c in cells] for cells, _ in self._rows),
        ]
        widths = [max(cell_len(line[index]) for line in lines) for index in range(len(self._columns))]
        excess = sum(widths) + 2 * len(widths) - screen
        while excess > 0:
            widest = widths.index(max(widths))
            widths[widest] -= 1
            excess -= 1
        return widths


class CountTable:
    """Rows of numbers behind their names: a table where it fits, else each row in words that fill the lines."""

    def __init__(self, names: Sequence[str], counts: Sequence[str]) -> None:
        self._names, self._titles = len(names), (*names, *counts)
        self._rows: list[tuple[tuple[Text, ...], str]] = []

    def add_row(self, *cells: str | Text, style: str = "") -> None:
        """A cell for each title."""
        self._rows.append((tuple(Text(cell) if isinstance(cell, str) else cell for cell in cells), style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        """The form that the width allows."""
        if self._width() > options.max_width:
            yield from map(self._in_words, self._rows)
            return
        columns = (left(title) if at < self._names else right(title) for at, title in enumerate(self._titles))
        shown = table(*columns)
        for cells, style in self._rows:
            shown.add_row(*cells, style=style)
        yield shown

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As wide as the table, so that no line is filled up with blanks to the screen's end."""
        return Measurement(1, min(options.max_width, self._width()))

    def _width(self) -> int:
        lines = [self._titles, *(tuple(map(str, cells)) for cells, _ in self._rows)]
        return sum(max(map(cell_len, column)) + 2 for column in zip(*lines, strict=True)) - 2

    def _in_words(self, row: tuple[tuple[Text, ...], str]) -> Text:
        cells, _ = row
        words = Text(" ".join(map(str, cells[: self._names])), style="bold")
        for at, (title, cell) in enumerate(zip(self._titles[self._names :], cells[self._names :], strict=True)):
            words.append(f"{', ' if at else ': '}{title.lower()} ", style="not bold").append_text(cell)
        return words


def shortened(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    listed = ", ".join(names[:most])
    return f"{listed} and {len(names) - most} more" if len(names) > most else listed
