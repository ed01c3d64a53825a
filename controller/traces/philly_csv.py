"""Reads a trace as CSV, plain or gzip, in the form of the published Philly trace; also for traces of one's own.

Columns, in any order, others are ignored:

    timestamp   when the job was handed in: 2017-10-09 07:01:55 (any ISO form; all rows in one time zone)
    duration    seconds that it ran
    num_gpus    GPUs of the whole job
    cluster     who handed it in: virtual cluster, queue, team

A row that can not be read is left out and counted by its reason; only a file that is no such trace is an error.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from controller.api.errors import InputError, Mistake

COLUMNS = ("timestamp", "duration", "num_gpus", "cluster")
_GZIP = b"\x1f\x8b"


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
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data.startswith(_GZIP) else data).decode("utf-8-sig", errors="replace")
    except (OSError, EOFError) as error:
        raise _refused(path, str(error), "a CSV file, plain or gzip") from error
    rows = csv.DictReader(io.StringIO(text))
    missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise _refused(path, f"no column {', '.join(missing)}", f"a first line with {', '.join(COLUMNS)}")
    skipped: Counter[str] = Counter()
    jobs = sorted(_jobs(rows, skipped), key=lambda job: (job.submitted_seconds, job.tenant))
    if not jobs:
        raise _refused(path, f"no job that can be read ({dict(skipped) or 'no rows'})", "at least one job")
    return Trace(tuple(jobs), dict(skipped))


def _jobs(rows: csv.DictReader[str], skipped: Counter[str]) -> Iterator[TraceJob]:
    try:
        for row in rows:
            job = _job(row)
            if isinstance(job, str):
                skipped[job] += 1
            else:
                yield job
    except csv.Error as error:
        skipped[f"the rest, from line {rows.line_num} on: {error}"] += 1


def _job(row: Mapping[str, str | None]) -> TraceJob | str:
    """The job of a row, or why it is none."""
    stamp, duration, gpus, tenant = (row.get(name) or "" for name in COLUMNS)
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return "timestamp is no ISO time"
    try:
        run_seconds, whole = float(duration), int(gpus)
    except ValueError:
        return "duration or num_gpus is no number"
    if not (math.isfinite(run_seconds) and run_seconds > 0):
        return "duration is not above 0"
    if whole < 1:
        return "num_gpus is not above 0"
    if not tenant:
        return "no cluster"
    return TraceJob((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), run_seconds, whole, tenant)


def _refused(path: Path, value: str, expected: str) -> InputError:
    return InputError((Mistake(str(path), value, expected),))
