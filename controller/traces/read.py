"""Reads a recorded workload of any known format, plain or gzip, and accounts for every row: a job, or a counted reason.

One's own traces are CSV with a first line of names, columns in any order, others ignored:

    tenant        who handed the job in: team, queue, virtual cluster
    submitted     when: ISO (2026-11-30 07:01:55; all rows in one time zone) or seconds
    run_seconds   how long it ran
    gpus          GPUs of the whole job, whole ones
    id            (may be left out) its name; a second row of one name is left out
    priority      (may be left out) whole number, higher is served first
    deadline      (may be left out) when it should have ended, as `submitted`

Only a file that is no trace at all is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from controller.api.errors import InputError, Mistake
from controller.api.shown_values import printable
from controller.files.reading import mistaken
from controller.traces.formats import FORMATS, Format
from controller.traces.rows import Rows, read_table
from controller.traces.trace import Trace, TraceJob

_TELEMETRY = ("running_gpu_num", "pending_gpu_num")


def read_trace(path: Path, form: str | None = None) -> Trace:
    """The whole trace; `form` names its format, else its columns do.

    Raises InputError when the file can not be read, is of no known format, lacks a column, or holds no job.
    """
    text = read_table(path)
    chosen = _detected(text, path) if form is None else format_named(form)
    rows = Rows(text, chosen.headless, "\t") if chosen.headless else Rows(text)
    missing = [name for name in chosen.columns if name not in rows.columns]
    if missing:
        expected = f"format {chosen.name}, with columns {', '.join(chosen.columns)}"
        raise mistaken(path, f"no column {', '.join(missing)}", expected)
    account = _Account()
    jobs = list(_jobs(chosen, rows, account))
    if rows.broken:
        account.skipped[rows.broken] += 1
    if not jobs:
        found = "; ".join(in_words(account.skipped)) or "no rows"
        raise mistaken(path, f"no job that can be read ({found})", "at least one job")
    late = sum(1 for one, other in pairwise(jobs) if other.submitted_seconds < one.submitted_seconds)
    jobs.sort(key=lambda job: job.submitted_seconds)
    notes = {"earlier than the row before it": late} if late else {}
    return Trace(tuple(jobs), dict(account.skipped), chosen.name, notes)


def in_words(counts: Mapping[str, int]) -> list[str]:
    """What was left out: "3 rows: no tenant", the most frequent reason first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count} row{'s' if count > 1 else ''}: {reason}" for reason, count in ordered]


def format_named(name: str) -> Format:
    """The format of that name. Raises InputError with the names there are."""
    for one in FORMATS:
        if one.name == name:
            return one
    raise InputError((Mistake("--format", printable(name), f"one of {', '.join(one.name for one in FORMATS)}"),))


def _detected(text: str, path: Path) -> Format:
    head = Rows(text[: text.find("\n") + 1] or text).columns
    for one in FORMATS:
        if one.marks and set(one.marks) <= set(head):
            return one
    for one in FORMATS:
        if one.headless and text.partition("\n")[0].count("\t") == len(one.headless) - 1:
            return one
    if set(_TELEMETRY) <= set(head):
        found = "counts per minute and no jobs (Helios)"
    else:
        said = printable(", ".join(head[:6])[:120])
        found = f"a first line that no known format has ({said or 'empty'})"
    raise mistaken(path, found, f"a trace of jobs: {', '.join(one.name for one in FORMATS)}")


@dataclass(slots=True)
class _Account:
    """What became of the rows that gave no job."""

    skipped: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def is_second(self, row: Mapping[str, str], column: str | None) -> bool:
        """Whether a row of that name was there before."""
        name = row.get(column, "") if column else ""
        if not name:
            return False
        if name in self.seen:
            return True
        self.seen.add(name)
        return False


def _jobs(form: Format, rows: Rows, account: _Account) -> Iterator[TraceJob]:
    if form.jobs is not None:
        yield from form.jobs((row for _, row in rows), account.skipped)
    if form.job is None:
        return
    for _, row in rows:
        if account.is_second(row, form.identity):
            account.skipped[f"{form.identity} was there before"] += 1
            continue
        job = form.job(row)
        if isinstance(job, str):
            account.skipped[job] += 1
        else:
            yield job
