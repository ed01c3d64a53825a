"""Everything that ucx_perftest prints: tables and CSV, intervals and the result, among log lines. Pure: no I/O.

One row is the result: the one marked Final, or the last of a CSV, which marks none. Rows of intervals are passed on,
and a table that ends without Final is a run that was cut off: its result is Unknown. Latencies are half a round trip.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from collector.catalogue import rdma as names
from collector.model.collected import Collected, NormalReading, SampleCounts
from collector.model.reading import Known, Reading, Unknown
from collector.parse.plain_series import unit_of
from collector.parse.ucx import CSV_HEADER, complaint

SOURCE: Final = "ucx"
NO_FIT: Final = "row does not fit its header"
NO_HEADER: Final = "row without a header"

_PER_SECOND: Final = 1e6
_MIB: Final = 1024.0 * 1024.0
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_CSV_LIKE: Final = re.compile(r"\s*[0-9](?:[0-9., ]|inf|-?nan)*")
"""What a row would be, were it whole."""
_NO_NUMBER: Final = re.compile(r"inf|-?nan")
_TABLE_ROW: Final = re.compile(r"\s*(?:(?P<stage>Final:)|\[thread\s+[0-9]+\])(?P<rest>.*)")
_TITLE: Final = re.compile(r"\|.*\b(latency|overhead)\b.*\(usec\)")
_COLUMNS: Final = re.compile(r"\|\s*Stage\s*\|\s*#\s*iterations\s*\|(?P<rest>.*)\|")
_TEST: Final = re.compile(r"\|\s*Test:\s+(?P<test>[^|]+?)\s*\|")
_RANK: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?)(?:%ile|_percentile_lat)")
_WORDS: Final = ("_percentile_lat", "avg_lat", "Stage", "(usec)", "Final:", "[thread")
_FULL_TABLE: Final = ("50.0%ile", "average", "overall", "average", "overall", "average", "overall")
_CONTENT: Final = 3
"""Columns about time come first, then two about bandwidth and two about messages."""


@dataclass(slots=True)
class _Reader:
    time: float | None
    csv: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    is_overhead: bool = False
    operation: str = ""
    rows: list[Sequence[float]] = field(default_factory=list)
    """Of the run that is being read, not yet known to be its result."""
    readings: list[NormalReading] = field(default_factory=list)
    used: int = 0
    passed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    unfinished: bool = False

    def read(self, lines: Sequence[str]) -> None:
        for line in lines:
            if not self._notices(line):
                self._read_row(line)
        self._end_run()

    def _notices(self, line: str) -> bool:
        stripped = line.strip()
        if CSV_HEADER.fullmatch(stripped):
            self._end_run()
            self.csv, self.table = tuple(stripped.split(",")), ()
            return True
        title, columns, test = _TITLE.search(line), _COLUMNS.search(line), _TEST.search(line)
        if title:
            self._end_run()
            self.is_overhead, self.csv = title[1] == "overhead", ()
        if columns:
            self.table = tuple(cell.strip() for cell in columns["rest"].split("|"))
        if test:
            self.operation = test["test"]
        return bool(title or columns or test) or stripped.startswith(("|", "+"))

    def _read_row(self, line: str) -> None:
        row = _TABLE_ROW.match(line)
        if row is not None:
            self._read_table_row(row["rest"].split(), is_final=row["stage"] is not None)
        elif _CSV_LIKE.fullmatch(line) and ("," in line or not self.table):
            self._read_csv_row(line)

    def _read_table_row(self, words: Sequence[str], is_final: bool) -> None:
        columns = self.table or _FULL_TABLE
        if not all(_NUMBER.fullmatch(word) for word in words) or not 2 <= len(words) <= len(columns) + 1:
            self.dropped[NO_FIT] += 1
        elif not is_final:
            self.passed += 1
            self.unfinished = True
        elif len(words) == len(columns) + 1:
            self.used += 1
            self.unfinished = False
            self._say([float(word) for word in words[1:]], columns)
        else:
            self.dropped[NO_FIT] += 1
            self.unfinished = False

    def _read_csv_row(self, line: str) -> None:
        words = [word.strip() for word in line.split(",")]
        if not self.csv:
            if len(words) > 1:
                self.dropped[NO_HEADER] += 1
        elif len(words) != len(self.csv) or not all(
            _NUMBER.fullmatch(word) or _NO_NUMBER.fullmatch(word) for word in words
        ):
            self.dropped[NO_FIT] += 1
        else:
            self.rows.append([float(word) for word in words])

    def _end_run(self) -> None:
        """Of a CSV the last row is the result; a table without one was cut off."""
        if self.rows:
            self.passed += len(self.rows) - 1
            self.used += 1
            self._say(self.rows[-1][1:], self.csv[1:])
        if self.unfinished or (self.csv and not self.rows):
            name = names.PROBE_OVERHEAD if self.is_overhead else names.PROBE_LATENCY
            self._emit(name, "median", Unknown("the run ended before its result"))
        self.rows, self.csv, self.unfinished = [], (), False

    def _say(self, values: Sequence[float], columns: Sequence[str]) -> None:
        times = len(columns) - 4 if len(columns) > _CONTENT else 1
        seen = Counter[str]()
        for place, (column, value) in enumerate(zip(columns, values, strict=True)):
            statistic = _statistic(column)
            if place < times:
                name = names.PROBE_OVERHEAD if self.is_overhead else names.PROBE_LATENCY
                self._emit(name, statistic, _known(value / _PER_SECOND))
            elif "bw" in column or ("mr" not in column and seen[statistic] == 0):
                self._emit(names.PROBE_BANDWIDTH, statistic, _known(value * _MIB))
            else:
                self._emit(names.PROBE_RATE, statistic, _known(value))
            seen[statistic] += place >= times

    def _emit(self, name: str, statistic: str, value: Reading[float]) -> None:
        one_way = name in (names.PROBE_BANDWIDTH, names.PROBE_RATE, names.PROBE_OVERHEAD)
        labels = {
            "tool": "ucx",
            "operation": self.operation,
            "path": "way" if one_way else "half",
            "device": "",
            "bytes": "",
            "statistic": statistic,
        }
        self.readings.append(NormalReading(name, value, unit_of(name), labels, self.time, SOURCE))


def ucx_readings(text: str, time: float | None = None) -> Collected:
    """The result of every run in the text."""
    reader = _Reader(time)
    reader.read(text.splitlines())
    said = complaint(text)
    notes = (f"UCX said: {said}",) if said else ()
    counts = SampleCounts(reader.used, reader.passed, dict(reader.dropped))
    return Collected(tuple(reader.readings), counts, (SOURCE,), notes)


def looks_like_ucx(text: str) -> bool:
    """Whether a header or a row of it stands in the text."""
    return any(mark in text for mark in _WORDS) and any(
        (line.startswith("|") and (_COLUMNS.search(line) or _TITLE.search(line)))
        or _TABLE_ROW.match(line)
        or CSV_HEADER.fullmatch(line.strip())
        for line in text.splitlines()
    )


def _known(value: float) -> Reading[float]:
    # A run whose last interval had no iteration says "inf" and "-nan" for that interval, and the rest is sound.
    return Known(value) if math.isfinite(value) else Unknown("its interval had no iteration")


def _statistic(column: str) -> str:
    rank = _RANK.match(column)
    if rank is not None:
        return "median" if float(rank[1]) == 50 else f"p{float(rank[1]):g}"
    if column.startswith(("avg", "average")):
        return "interval_mean"
    return "mean" if column.startswith("overall") else "median" if column == "typical" else column
