"""How the rows of known traces become jobs: one small function per format, all in one list. Reads no file.

A function answers with the job, or with the reason why the row is none. Adding a format is adding a function and a line
in `FORMATS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Final, TypeAlias

from controller.traces.history import COLUMNS as HISTORY_COLUMNS
from controller.traces.history import jobs_of_history
from controller.traces.trace import TraceJob
from controller.traces.values import NO_TIME, number_of, seconds_of, whole_of

Row: TypeAlias = Mapping[str, str]

ONE_TENANT: Final = "all"
"""The tenant of traces that name none."""
_LATEST_SECONDS: Final = 4_102_444_800.0  # the year 2100
_LONGEST_SECONDS: Final = 10 * 365.25 * 86400
"""One row beyond these would stretch every average and picture over all others."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of trace."""

    name: str
    line: str
    """What it is, for help."""
    marks: tuple[str, ...]
    """Columns by which it is told from the others."""
    columns: tuple[str, ...]
    """Columns that it needs."""
    job: Callable[[Row], TraceJob | str] | None = None
    """The job of a row, or why it is none."""
    jobs: Callable[[Iterable[Row], Counter[str]], Iterator[TraceJob]] | None = None
    """Where several rows make a job: all jobs of all rows; rows that give none are counted by reason."""
    identity: str | None = None
    """Column that names a job; the second row of one name is left out."""
    headless: tuple[str, ...] = ()
    """For tables without a first line of names, parted by tabs: the names."""


def _job(
    submitted: float | str, run: str, gpus: str, tenant: str, unit_seconds: float = 1.0, deadline: float | None = None
) -> TraceJob | str:
    """What all formats ask of a job. `unit_seconds` is what one unit of `run` lasts."""
    if isinstance(submitted, str):
        return submitted
    run_seconds, many = number_of(run) * unit_seconds, number_of(gpus)
    if isnan(many) or (isnan(run_seconds) and run.lower() != "nan"):
        return "duration or GPUs is no number"
    if not (isfinite(run_seconds) and run_seconds > 0):
        return "duration is not above 0"
    whole = whole_of(gpus)
    if whole is None:
        return "GPUs is no whole number"
    if whole < 1:
        return "GPUs is not above 0"
    if submitted < 0:
        return "a time before 1970"
    if submitted > _LATEST_SECONDS or run_seconds > _LONGEST_SECONDS:
        return "a time after 2100, or a duration of more than ten years"
    if not tenant.isprintable():
        return "a tenant whose name is more than one line"
    return TraceJob(submitted, run_seconds, whole, tenant, 0, deadline) if tenant else "no tenant"


def _philly(row: Row) -> TraceJob | str:
    return _job(seconds_of(row["timestamp"]), row["duration"], row["num_gpus"], row["cluster"])


def _own(row: Row) -> TraceJob | str:
    deadline = seconds_of(row["deadline"]) if row.get("deadline") else None
    if isinstance(deadline, str):
        return "a deadline that is no time"
    priority = row.get("priority") or "0"
    rank = whole_of(priority)
    if rank is None:
        return "priority is no whole number"
    job = _job(seconds_of(row["submitted"]), row["run_seconds"], row["gpus"], row["tenant"], 1.0, deadline)
    return job if isinstance(job, str) or not rank else _with_priority(job, rank)


def _with_priority(job: TraceJob, priority: int) -> TraceJob:
    return TraceJob(job.submitted_seconds, job.run_seconds, job.gpus, job.tenant, priority, job.deadline_seconds)


def _chronus(row: Row) -> TraceJob | str:
    """Minutes; the deadline counts from submission, a soft job's last one is taken."""
    submitted = seconds_of(row["submit_time"], 60.0)
    deadline: float | None = None
    if row["job_type"] in ("strict", "soft") and not isinstance(submitted, str):
        after = seconds_of(row["expect_time_list"].split("-")[-1], 60.0)
        if isinstance(after, str):
            return "a deadline that is no time"
        deadline = submitted + after
    return _job(submitted, row["duration"], row["num_gpu"], row["user"].removeprefix("vc_"), 60.0, deadline)


def _muri(row: Row) -> TraceJob | str:
    """Milliseconds; one virtual cluster per file; what its priority means is not written down, so it is not used."""
    return _job(seconds_of(row["submit_time"], 0.001), row["duration"], row["num_gpu"], ONE_TENANT, 0.001)


def _elasticflow(row: Row) -> TraceJob | str:
    deadline = seconds_of(row["ddl"], 1.0)
    if isinstance(deadline, str):
        return "a deadline that is no time"
    return _job(seconds_of(row["submit_time"]), row["duration"], row["num_gpu"], ONE_TENANT, 1.0, deadline)


def _shockwave(row: Row) -> TraceJob | str:
    return _job(seconds_of(row["arrival"]), row["duration"], row["scale_factor"], ONE_TENANT)


def _openb(row: Row) -> TraceJob | str:
    """Pods; the class of service stands in for the tenant; a part of a GPU counts as one; it ran once scheduled."""
    if not row["scheduled_time"]:
        return "never scheduled"
    begin, end = seconds_of(row["scheduled_time"], 1.0), seconds_of(row["deletion_time"], 1.0)
    if isinstance(begin, str) or isinstance(end, str):
        return NO_TIME
    return _job(seconds_of(row["creation_time"], 1.0), str(end - begin), row["num_gpu"], row["qos"])


_SHOCKWAVE_FIELDS: Final = (
    "job_type", "command", "working_directory", "steps_argument", "needs_data", "total_steps", "scale_factor", "mode",
    "weight", "slo", "duration", "arrival",
)  # fmt: skip

FORMATS: Final = (
    Format(
        "trimtab",
        "your own, see the documentation",
        ("tenant", "submitted", "run_seconds", "gpus"),
        ("tenant", "submitted", "run_seconds", "gpus"),
        _own,
        identity="id",
    ),
    Format(
        "history",
        "what the collector kept, by trimtab accounting export",
        ("uid", "step", "state", "waited_seconds"),
        HISTORY_COLUMNS,
        jobs=jobs_of_history,
    ),
    Format(
        "philly",
        "Microsoft's cluster of 2017, as reduced by Pollux",
        ("timestamp", "num_gpus", "cluster"),
        ("timestamp", "duration", "num_gpus", "cluster"),
        _philly,
    ),
    Format(
        "chronus",
        "job mixes with deadlines, in minutes",
        ("job_id", "expect_time_list", "job_type"),
        ("job_id", "user", "num_gpu", "submit_time", "duration", "expect_time_list", "job_type"),
        _chronus,
        identity="job_id",
    ),
    Format(
        "muri",
        "virtual clusters of Philly, in milliseconds",
        ("job_id", "iteration_time", "resource_time_0"),
        ("job_id", "num_gpu", "submit_time", "duration"),
        _muri,
        identity="job_id",
    ),
    Format(
        "elasticflow",
        "a virtual cluster of Philly with deadlines",
        ("job_id", "ddl", "num_gpu"),
        ("job_id", "submit_time", "ddl", "num_gpu", "duration"),
        _elasticflow,
        identity="job_id",
    ),
    Format(
        "openb",
        "Alibaba's pods of 2023; tenants are classes of service",
        ("name", "gpu_milli", "num_gpu"),
        ("name", "num_gpu", "qos", "creation_time", "deletion_time", "scheduled_time"),
        _openb,
        identity="name",
    ),
    Format(
        "shockwave",
        "adaptive training jobs, parted by tabs",
        (),
        ("scale_factor", "duration", "arrival"),
        _shockwave,
        headless=_SHOCKWAVE_FIELDS,
    ),
)
