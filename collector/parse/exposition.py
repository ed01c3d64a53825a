"""Prometheus text format 0.0.4 → samples, fast and total: each line is used or reported. Does no I/O.

Exporters of a big cluster answer with hundreds of thousands of lines, so the loop does little per line.
Names, label blocks, label pairs and value texts repeat a lot inside one text: each is checked once and
remembered for the length of one call. Only lines that are not written the usual way take the slow road.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

EXCERPT_CHARACTERS: Final = 80
CUT_OFF: Final = "a whole last line (the text is cut off)"

_A_LINE: Final = 'a line like name{label="value"} number, the name of letters, digits, _ and :'
_LABELS: Final = 'labels like name="value", with \\, " and line feed escaped'
_ONE_OF_EACH: Final = "each label name once, none empty or __name__"
_A_NUMBER: Final = "one number, then at most a time in whole milliseconds"

_NAME: Final = re.compile(r"[ \t]*([a-zA-Z_:][a-zA-Z0-9_:]*)[ \t]*")
_PAIR: Final = re.compile(r'(?!__name__=)([a-zA-Z_][a-zA-Z0-9_]*)="([^"\\]*)')
_BLANKS: Final = re.compile(r"[ \t]*")
_QUOTED: Final = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_LABEL: Final = re.compile(rf"[ \t]*(?:([a-zA-Z_][a-zA-Z0-9_]*)|{_QUOTED})[ \t]*=[ \t]*{_QUOTED}[ \t]*(?:,|$)")
_PLAIN_LINE: Final = re.compile(r"[ \t]*([a-zA-Z_:][a-zA-Z0-9_:]*)()[ \t]+([^{}]*)")
_QUOTED_NAME_LINE: Final = re.compile(rf"[ \t]*\{{[ \t]*{_QUOTED}[ \t]*(?:,(.*)|)\}}(.*)")
_TIME: Final = re.compile(r"-?[0-9]{1,19}")
_ESCAPE: Final = re.compile(r'\\([\\"n])')
_NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})


class Sample(NamedTuple):
    """One line: name and labels as written (read-only, empty values kept), and the time if it names one."""

    name: str
    labels: Mapping[str, str]
    value: float
    timestamp_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that could not be used: where (from 1), how it begins, and what was expected there."""

    line_number: int
    text_excerpt: str
    expected: str

    def __str__(self) -> str:
        return f"line {self.line_number}: {self.text_excerpt!r}: expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Exposition:
    """What one scrape said. Empty lines and comments (HELP and TYPE too) are neither samples nor problems."""

    samples: tuple[Sample, ...]
    problems: tuple[Problem, ...] = ()
    foreign_lines: int = 0
    """Lines left out because their name was not asked for; only their names were checked."""

    @property
    def cut_off(self) -> bool:
        """The text stops inside a line that cannot be read, so what should follow is missing as well."""
        return bool(self.problems) and self.problems[-1].expected == CUT_OFF


def parse_exposition(text: str, names: Collection[str] | None = None) -> Exposition:
    """All samples of `text` in its order, and each line that is none; with `names` only those names.

    As tolerant as Prometheus (repeated or missing TYPE, blanks, trailing commas, quoted UTF-8 names) and as
    strict (a time is whole milliseconds, a label name stands once). Names stay as written, `_total` or not.
    Never raises; how long a text may be is for the caller to limit.
    """
    lines = text.split("\n")
    reader = _Reader(names if names is None else frozenset(names))
    reader.read(lines)
    problems = reader.problems
    if problems and problems[-1].line_number == len(lines):
        problems[-1] = replace(problems[-1], expected=CUT_OFF)
    return Exposition(tuple(reader.samples), tuple(problems), reader.foreign_lines)


def scrape_problem(exposition: Exposition) -> str | None:
    """Why the scrape as a whole cannot be trusted, in words; None when it can.

    Single bad lines among good ones are no reason: they stand in `problems`.
    """
    if exposition.cut_off:
        return f"the scrape is cut off at {exposition.problems[-1]}"
    if exposition.samples or exposition.foreign_lines:
        return None
    if exposition.problems:
        return f"the scrape is not in the Prometheus text format: {exposition.problems[0]}"
    return "the scrape holds no sample"


class _MalformedError(ValueError):
    """Carries what was expected."""


class _Names(dict[str, str]):
    """Metric name as cut from the line → the name."""

    def __missing__(self, text: str) -> str:
        match = _NAME.fullmatch(text)
        if match is None:
            raise _MalformedError(_A_LINE)
        self[text] = name = match[1]
        return name


class _Pairs(dict[str, tuple[str, str]]):
    """Label as usually written, up to its closing quote → name and value."""

    def __missing__(self, text: str) -> tuple[str, str]:
        match = _PAIR.fullmatch(text)
        if match is None:
            raise _MalformedError(_LABELS)
        self[text] = pair = (match[1], match[2])
        return pair


class _Blocks(dict[str, Mapping[str, str]]):
    """Text between the braces → labels."""

    def __init__(self) -> None:
        self[""] = _NO_LABELS
        self._pair = _Pairs().__getitem__

    def __missing__(self, block: str) -> Mapping[str, str]:
        # The usual form, `a="1",b="2"`: nothing but pairs between the `",` marks. Any other form makes no pairs.
        parts = block[:-1].split('",')
        try:
            labels = dict(map(self._pair, parts)) if block[-1] == '"' else {}
        except _MalformedError:
            labels = {}
        if len(labels) != len(parts):
            labels = _labels(block)
        self[block] = shared = MappingProxyType(labels)
        return shared


class _Tails(dict[str, tuple[float, float | None]]):
    """Text after the series → value and time in seconds."""

    def __missing__(self, text: str) -> tuple[float, float | None]:
        fields = text.split()
        timed = len(fields) == 2 and _TIME.fullmatch(fields[1]) is not None
        # float() also takes digits of other scripts and 1_000, which are no numbers here.
        if not (timed or len(fields) == 1) or not text.isascii() or "_" in text:
            raise _MalformedError(_A_NUMBER)
        try:
            value = float(fields[0])
        except ValueError:
            raise _MalformedError(_A_NUMBER) from None
        self[text] = tail = (value, int(fields[1]) / 1000 if timed else None)
        return tail


def _labels(block: str) -> dict[str, str]:
    """Labels in any allowed form: blanks, escapes, quoted names, one trailing comma; says what is wrong."""
    labels: dict[str, str] = {}
    position = 0
    while not _BLANKS.fullmatch(block, position):
        match = _LABEL.match(block, position)
        if match is None:
            raise _MalformedError(_LABELS)
        name = match[1] or _unescaped(match[2])
        if name in labels or name in ("", "__name__"):
            raise _MalformedError(_ONE_OF_EACH)
        labels[name] = _unescaped(match[3])
        position = match.end()
    return labels


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text) if "\\" in text else text


class _Reader:
    """What one call remembers and finds."""

    def __init__(self, wanted: frozenset[str] | None) -> None:
        self.wanted = wanted
        self.names = _Names()
        self.blocks = _Blocks()
        self.tails = _Tails()
        self.samples: list[Sample] = []
        self.problems: list[Problem] = []
        self.foreign_lines = 0

    def read(self, lines: list[str]) -> None:
        """Sort every line into samples, problems and foreign lines."""
        names, blocks, tails, wanted = self.names, self.blocks, self.tails, self.wanted
        keep, make = self.samples.append, tuple.__new__  # half the price of Sample(...)
        for number, line in enumerate(lines, 1):
            if not line or line[0] == "#":
                continue
            # No value holds a brace, so the last one closes the labels, whatever stands inside their quotes.
            head, closing, tail = line.rpartition("}")
            try:
                if closing:
                    name, separator, block = head.partition("{")
                else:
                    name, separator, tail = line.partition(" ")
                    block = ""
                name = names[name]
                if not separator:
                    raise _MalformedError(_A_LINE)
                if wanted is not None and name not in wanted:
                    self.foreign_lines += 1
                    continue
                keep(make(Sample, (name, blocks[block], *tails[tail])))
            except _MalformedError as error:
                self._read_odd(number, line, str(error))

    def _read_odd(self, number: int, line: str, expected: str) -> None:
        """A line not written the usual way: blank, indented, with tabs, with a quoted name, or wrong."""
        text = line.strip(" \t\r")
        if not text or text[0] == "#":
            return
        match = _PLAIN_LINE.fullmatch(line) or _QUOTED_NAME_LINE.fullmatch(line)
        name = _unescaped(match[1]) if match else ""
        if match is None or not name:
            self._report(number, line, expected)
            return
        if self.wanted is not None and name not in self.wanted:
            self.foreign_lines += 1
            return
        try:
            value, timestamp_seconds = self.tails[match[3]]
            self.samples.append(Sample(name, self.blocks[match[2] or ""], value, timestamp_seconds))
        except _MalformedError as error:
            self._report(number, line, str(error))

    def _report(self, number: int, line: str, expected: str) -> None:
        self.problems.append(Problem(number, line[:EXCERPT_CHARACTERS], expected))
