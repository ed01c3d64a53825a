"""Reads a trace as CSV, plain or gzip, in the form of the published Philly trace; also for traces of one's own.

Columns, in any order, others are ignored:

    timestamp   when the job was handed in, in ISO form: 2017-10-09 07:01:55 (all rows in one time zone)
    duration    seconds that it ran
    num_gpus    GPUs of the whole job
    cluster     who handed it in: virtual cluster, queue, team

A row that can not be read is left out and counted by its reason; only a file that is no such trace is an error.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from controller.files.reading import mistaken, read_packed

COLUMNS = ("timestamp", "duration", "num_gpus", "cluster")
MOST_TRACE_BYTES = 2**30
# Narrower than Python's own: no digits of other scripts, no underscores, no more digits than a count of GPUs has.
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|nan|inf", re.IGNORECASE)
_WHOLE = re.compile(r"[-+]?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One job. `submitted_seconds` counts from 1970 in the trace's own time zone."""

    submitted_seconds: float
    run_seconds: float
    gpus: int
    tenant: str


@dataclass(frozen=True, slots=True)
class Trace:
    """The jobs in order of time, and how many rows were left out, by reason."""

    jobs: tuple[TraceJob, ...]
    skipped: Mapping[str, int]


def read_trace(path: Path) -> Trace:
    """The whole trace. Raises InputError when the file can not be read, lacks a column, or holds no job."""
    text = read_packed(path, "a CSV file, plain or gzip", MOST_TRACE_BYTES).decode("utf-8-sig", errors="replace")
    rows = csv.DictReader(io.StringIO(text))
    head, skipped = _head(rows), Counter[str]()
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        raise mistaken(path, f"no column {', '.join(missing)}", f"a first line with {', '.join(COLUMNS)}")
    jobs = sorted(_jobs(rows, skipped), key=lambda job: (job.submitted_seconds, job.tenant))
    if not jobs:
        found = "; ".join(in_words(skipped)) or "no rows"
        raise mistaken(path, f"no job that can be read ({found})", "at least one job")
    return Trace(tuple(jobs), dict(skipped))


def in_words(skipped: Mapping[str, int]) -> list[str]:
    """What was left out: "3 rows: no cluster", the most frequent reason first."""
    ordered = sorted(skipped.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count} row{'s' if count > 1 else ''}: {reason}" for reason, count in ordered]


def _head(rows: csv.DictReader[str]) -> Sequence[str]:
    try:
        return rows.fieldnames or ()
    except csv.Error:  # a first line without end
        return ()


def _jobs(rows: csv.DictReader[str], skipped: Counter[str]) -> Iterator[TraceJob]:
    try:
        for row in rows:
            job = _job(row)
            if isinstance(job, str):
                skipped[job] += 1
            else:
                yield job
    except csv.Error as error:
        skipped[f"this and all after line {rows.line_num}: {error}"] += 1


def _job(row: Mapping[str, str | None]) -> TraceJob | str:
    """The job of a row, or why it is none."""
    stamp, duration, gpus, tenant = (row.get(name) or "" for name in COLUMNS)
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return "timestamp is no ISO time"
    if not (_NUMBER.fullmatch(duration.strip()) and _WHOLE.fullmatch(gpus.strip())):
        return "duration or num_gpus is no number"
    run_seconds, whole = float(duration), int(gpus)
    if not (math.isfinite(run_seconds) and run_seconds > 0):
        return "duration is not above 0"
    if whole < 1:
        return "num_gpus is not above 0"
    if not tenant:
        return "no cluster"
    return TraceJob((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), run_seconds, whole, tenant)
