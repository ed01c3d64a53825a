"""The output of `ucx_perftest -f -v`: a CSV header and one row, among warnings, or neither. Pure.

Latencies are half a round trip, in microseconds there and in seconds here. Only a finished run is read: without `-f`
there are rows of intervals, and of a run that was cut off there is a header at most.
"""

from __future__ import annotations

import re
from typing import Final

from collector.model.reading import Known, Reading, Unknown

CSV_HEADER: Final = re.compile(r"iterations(?:,([0-9]{1,3}(?:\.[0-9]{1,6})?)_percentile_lat)?(?:,\w+)+")
"""Its group: the rank of the percentile; versions without `-R` have no such column."""
_NUMBER: Final = r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
CSV_ROW: Final = re.compile(rf"[0-9]{{1,15}},{_NUMBER}(?:,(?:{_NUMBER}|inf|-?nan))*")
"""A run whose last interval had no iteration, on a busy machine, has no number for the average of that interval."""
_COMPLAINT: Final = re.compile(r"\bUCX\s+(?:ERROR|FATAL)\s+(.+)")
_LONGEST_COMPLAINT: Final = 200
_MICROSECONDS: Final = 1e6


def percentile_latency(text: str, rank: float, iterations: int) -> Reading[float]:
    """The latency in seconds at a rank (`-R`, 0-100) of a run of so many iterations, or why there is none."""
    lines = text.splitlines()
    found = [(number, match) for number, line in enumerate(lines) if (match := CSV_HEADER.fullmatch(line.strip()))]
    if not found:
        return Unknown(f"ucx_perftest gave no result{_because(text)}")
    number, header = found[-1]
    if header.group(1) is None:
        return Unknown("ucx_perftest gave no percentile")
    if float(header.group(1)) != rank:
        return Unknown(f"ucx_perftest gave percentile {header.group(1)}, asked was {rank:g}")
    columns = header.group().count(",")
    rows = [line for line in lines[number + 1 :] if CSV_ROW.fullmatch(line.strip()) and line.count(",") == columns]
    if not rows:
        return Unknown(f"ucx_perftest ended before its result{_because(text)}")
    done, microseconds = rows[-1].split(",")[:2]
    if int(done) < iterations:
        return Unknown(f"ucx_perftest ended after {int(done)} of {iterations} iterations{_because(text)}")
    if float(microseconds) <= 0:
        return Unknown(f"ucx_perftest gave a latency of {microseconds} µs")
    return Known(float(microseconds) / _MICROSECONDS)


def complaint(text: str) -> str | None:
    """The first error that UCX wrote, without its prefix; None when it wrote none."""
    match = _COMPLAINT.search(text)
    return None if match is None else " ".join(match.group(1).split())[:_LONGEST_COMPLAINT]


def _because(text: str) -> str:
    error = complaint(text)
    return f": {error}" if error else ""
