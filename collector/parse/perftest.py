"""Output of perftest (ib_write_lat and its kin) → rows in seconds and bytes, whatever version and options it had. Pure.

Text and JSON, old JSON that is none, columns that ran into each other, warnings between rows, outputs of several runs
mixed. A row is read by the header above it; one that does not fit it is dropped and counted. Write and send report half
a round trip, read and atomic a whole one: the rows say which.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from collector.catalogue import rdma as names
from collector.model.collected import Collected, NormalReading, SampleCounts
from collector.model.reading import Known
from collector.parse.perftest_json import json_results, looks_like_json
from collector.parse.plain_series import unit_of

SOURCE: Final = "perftest"
NO_HEADER: Final = "row without a header"
NO_FIT: Final = "row does not fit its header"
TRUNCATED: Final = "truncated row"
NOT_FINITE: Final = "not a number"

_PER_SECOND: Final = 1e6
_MIB: Final = 1024.0 * 1024.0
_GIGABIT: Final = 1e9 / 8
_MEGA: Final = 1e6

_COLUMN: Final = re.compile(
    r"#bytes|#iterations|#, usec|"
    r"t_(?:min|max|typical|avg|stdev)\[(?P<time>[a-z]+)\]|99(?:\.9)?% ?percentile\[[a-z]+\]|tps average|"
    r"BW[ _](?:peak|average)\[(?P<speed>[A-Za-z]+)/sec\]|MsgRate\[[A-Za-z]+\]|CPU_Util\[%\]"
)
_ROW: Final = re.compile(r"\s*[0-9]")
_LONGEST_ROW: Final = 512
_NUMBER: Final = r"-?(?:[0-9]{1,15}(?:\.[0-9]{1,15})?(?:e[+-][0-9]{1,2})?|nan|inf)"
_FUSED: Final = re.compile(r"-?(?:[0-9]{1,15}\.[0-9]{2}|nan|inf)")
_HISTOGRAM_HEADER: Final = re.compile(r"#, (?:usec|cycles)")
_HISTOGRAM_ROW: Final = re.compile(rf"\s*([0-9]+), ({_NUMBER})\s*")
_BARE: Final = re.compile(r"\s*([0-9]{1,15}\.[0-9]{1,15})\s*")
_TITLE: Final = re.compile(r"\s*(?:RDMA_)?(Write|Read|Send|Atomic)(?:_IMM)?.*?(Latency|BW|Bandwidth)", re.IGNORECASE)
_DEVICE: Final = re.compile(r"\bDevice\s*:\s*(\S+)")
_CYCLES: Final = "times in processor cycles can not be read: run perftest without -C"
_WHOLE_TRIP: Final = frozenset({"read", "atomic"})

_STATISTICS: Final[Mapping[str, str]] = {
    "t_min": "min",
    "t_max": "max",
    "t_typical": "median",
    "t_avg": "mean",
    "t_stdev": "stdev",
    "99%": "p99",
    "99.9%": "p99.9",
    "BW peak": "peak",
    "BW average": "mean",
    "BW_peak": "peak",
    "BW_average": "mean",
    "MsgRate": "mean",
    "tps average": "mean",
}


@dataclass(slots=True)
class _Run:
    """What the lines above a row said about the run it belongs to."""

    operation: str = ""
    device: str = ""
    columns: tuple[str, ...] = ()
    histogram: bool = False
    in_cycles: bool = False

    def labels(self, size: str, statistic: str, one_way: bool) -> dict[str, str]:
        path = "way" if one_way else "whole" if self.operation in _WHOLE_TRIP else "half" if self.operation else ""
        return {
            "tool": "perftest",
            "operation": self.operation,
            "path": path,
            "device": self.device,
            "bytes": size,
            "statistic": statistic,
        }


@dataclass(slots=True)
class _Output:
    readings: list[NormalReading] = field(default_factory=list)
    used: int = 0
    passed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    samples: list[float] = field(default_factory=list)
    """Of the histogram that is being read, in microseconds."""
    notes: dict[str, None] = field(default_factory=dict)


def perftest_readings(text: str, time: float | None = None) -> Collected:
    """Every row of every run in the text, or of the JSON that it is."""
    reader = _Reader(time)
    if looks_like_json(text):
        reader.read_json(text)
    else:
        reader.read_lines(text.splitlines())
    output = reader.output
    counts = SampleCounts(output.used, output.passed, dict(output.dropped))
    return Collected(tuple(output.readings), counts, (SOURCE,), tuple(output.notes))


class _Reader:
    """Goes through one text once."""

    def __init__(self, time: float | None) -> None:
        self._time, self._run, self.output = time, _Run(), _Output()

    def read_lines(self, lines: Sequence[str]) -> None:
        """Text as printed."""
        for number, line in enumerate(lines, 1):
            if not self._notices(line):
                self._read_row(line, number == len(lines))
        self._end_histogram()

    def read_json(self, text: str) -> None:
        """What --out_json wrote."""
        found = json_results(text)
        self._run.operation, self._run.device = _operation(found.test), found.device
        self.output.dropped.update(found.dropped)
        for row in found.rows:
            size, values = row.get("MsgSize", ""), [(key, value) for key, value in row.items() if key in _JSON_KEYS]
            if not values:
                self.output.dropped[NO_FIT] += 1
                continue
            self.output.used += 1
            for key, value in values:
                column = _JSON_KEYS[key]
                if column.startswith("BW"):
                    column += "[Gb]" if "gb" in found.bandwidth_unit.lower() else "[MB]"
                    if not found.bandwidth_unit:
                        self.output.notes["the unit of its bandwidth is not told: taken for MB of 2^20 bytes"] = None
                self._add(column, size, float(value))

    def _notices(self, line: str) -> bool:
        """A line that tells about the rows below it. False: it may be a row."""
        title = _TITLE.match(line)
        if title and not _ROW.match(line):
            self._run = _Run(operation=title[1].lower())
            return True
        device = _DEVICE.search(line)
        if device:
            self._run.device = device[1]
            return True
        if _HISTOGRAM_HEADER.match(line.strip()):
            self._end_histogram()
            self._run.histogram, self._run.in_cycles = True, "cycles" in line
            return True
        columns = _columns(line) if "#bytes" in line else ()
        if columns:
            self._end_histogram()
            self._run.columns = columns
            return True
        return False

    def _read_row(self, line: str, is_last: bool) -> None:
        if not _ROW.match(line):
            return
        if self._run.histogram:
            self._read_histogram_row(line)
            return
        bare = _BARE.fullmatch(line)
        if not self._run.columns and bare:
            self.output.used += 1  # --output=latency prints nothing but the mean
            self._add("t_avg[usec]", "", float(bare[1]))
        elif not self._run.columns:
            if len(line.split()) > 1 and all(re.fullmatch(_NUMBER, word) for word in line.split()):
                self.output.dropped[NO_HEADER] += 1
        else:
            self._read_table_row(line, is_last)

    def _read_table_row(self, line: str, is_last: bool) -> None:
        words, width = line.split(), len(self._run.columns)
        if len(words) > width and len(words) % width == 0:  # two runs that wrote at once
            for start in range(0, len(words), width):
                self._read_table_row(" ".join(words[start : start + width]), is_last)
            return
        values = split_row(line, self._run.columns)
        if values is None:
            fewer = len(line.split()) < len(self._run.columns)
            self.output.dropped[TRUNCATED if fewer and is_last else NO_FIT] += 1
            return
        if not all(math.isfinite(value) for value in values):
            self.output.dropped[NOT_FINITE] += 1
            return
        self.output.used += 1
        for column, value in zip(self._run.columns[2:], values[2:], strict=True):
            self._add(column, f"{values[0]:.0f}", value)

    def _read_histogram_row(self, line: str) -> None:
        match = _HISTOGRAM_ROW.fullmatch(line)
        if match is None:
            if len(line.split()) > 2 and self._run.columns:  # the summary below the histogram
                self._end_histogram()
                self._read_table_row(line, is_last=False)
            else:
                self.output.dropped[NO_FIT] += 1
            return
        value = float(match[2])
        if not math.isfinite(value):
            self.output.dropped[NOT_FINITE] += 1
            return
        if self._run.in_cycles:
            self.output.passed += 1
            self.output.notes[_CYCLES] = None
            return
        self.output.used += 1
        self.output.samples.append(value)

    def _end_histogram(self) -> None:
        samples, self.output.samples = sorted(self.output.samples), []
        self._run.histogram = False
        for statistic, quantile in (("median", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
            if samples:
                self._emit(names.PROBE_LATENCY, _quantile(samples, quantile) / _PER_SECOND, "", statistic)

    def _add(self, column: str, size: str, value: float) -> None:
        title, _, unit = column.partition("[")
        title = title.removesuffix(" percentile").removesuffix("percentile").strip()
        statistic = _STATISTICS.get(title, "")
        if title in ("CPU_Util", "tps average") or not statistic:
            if title == "tps average":
                self._emit(names.PROBE_RATE, value, size, statistic, one_way=True)
            return
        if unit.startswith("cycles"):
            self.output.notes[_CYCLES] = None
        elif title.startswith("BW"):
            factor = _GIGABIT if unit.startswith("Gb") else _MIB
            self._emit(names.PROBE_BANDWIDTH, value * factor, size, statistic, one_way=True)
        elif title == "MsgRate":
            self._emit(names.PROBE_RATE, value * _MEGA, size, statistic, one_way=True)
        else:
            self._emit(names.PROBE_LATENCY, value / _PER_SECOND, size, statistic)

    def _emit(self, name: str, value: float, size: str, statistic: str, one_way: bool = False) -> None:
        labels = self._run.labels(size, statistic, one_way)
        self.output.readings.append(NormalReading(name, Known(value), unit_of(name), labels, self._time, SOURCE))


_JSON_KEYS: Final[Mapping[str, str]] = {
    "t_min": "t_min[usec]",
    "t_max": "t_max[usec]",
    "t_typical": "t_typical[usec]",
    "t_avg": "t_avg[usec]",
    "t_stdev": "t_stdev[usec]",
    "percentile_99": "99% percentile[usec]",
    "percentile_99.9": "99.9% percentile[usec]",
    "tps_average": "tps average",
    "BW_peak": "BW peak",
    "BW_average": "BW average",
    "MsgRate": "MsgRate[Mpps]",
}


def _columns(header: str) -> tuple[str, ...]:
    """The columns of a header; of two that were written at once, those of the first."""
    columns = tuple(match.group() for match in _COLUMN.finditer(header))
    again = columns.index("#bytes", 1) if columns.count("#bytes") > 1 else len(columns)
    return columns[:again]


def split_row(line: str, columns: Sequence[str]) -> list[float] | None:
    """The numbers of a row, one for each column; None when it does not have them.

    Wide values run into their neighbours; times always have two decimals, which tells where each ends.
    """
    words = line.split() if len(line) <= _LONGEST_ROW else []
    if len(words) == len(columns) and all(re.fullmatch(_NUMBER, word) for word in words):
        return [float(word) for word in words]
    if len(words) < 2 or not (words[0].isdecimal() and words[1].isdecimal()) or "BW" in " ".join(columns):
        return None
    values: list[str] = []
    for word in words[2:]:
        parts = _FUSED.findall(word)
        if "".join(parts) != word:
            return None
        values += parts
    if len(values) != len(columns) - 2:
        return None
    return [float(words[0]), float(words[1]), *map(float, values)]


def _quantile(ordered: Sequence[float], quantile: float) -> float:
    return ordered[min(len(ordered) - 1, int(quantile * len(ordered)))]


def _operation(test: str) -> str:
    match = _TITLE.match(test.replace("_", " ").replace("RDMA ", "")) or re.search(
        r"(write|read|send|atomic)", test, re.IGNORECASE
    )
    return match[1].lower() if match else ""
