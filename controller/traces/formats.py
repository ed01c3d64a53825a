"""How the rows of known traces become jobs: one small function per format, all in one list. Reads no file.

A function answers with the job, or with the reason why the row is none. Adding a format is adding a function and a line
in `FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite, nan
from typing import Final, TypeAlias

from controller.traces.trace import TraceJob

Row: TypeAlias = Mapping[str, str]

ONE_TENANT: Final = "all"
"""The tenant of traces that name none."""


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
    job: Callable[[Row], TraceJob | str]
    identity: str | None = None
    """Column that names a job; the second row of one name is left out."""
    headless: tuple[str, ...] = ()
    """For tables without a first line of names, parted by tabs: the names."""


# Narrower than Python's own: no digits of other scripts, no underscores, no more digits than a count of GPUs has.
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|nan|inf", re.IGNORECASE)
_WHOLE = re.compile(r"[-+]?[0-9]{1,9}(\.0+)?")
_NO_TIME = "a time that is no time"


def _value(text: str) -> float:
    """The number that a text is; NaN for none."""
    return float(text) if _NUMBER.fullmatch(text) else nan


def _seconds(text: str) -> float | str:
    """A moment: seconds, or any ISO form; without time zone as if it were UTC."""
    number = _value(text)
    if isfinite(number):
        return number
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        return _NO_TIME


def _number(text: str, unit_seconds: float) -> float | str:
    number = _value(text) * unit_seconds
    return number if isfinite(number) else _NO_TIME


def _job(
    submitted: float | str, run: str, gpus: str, tenant: str, unit_seconds: float = 1.0, deadline: float | None = None
) -> TraceJob | str:
    """What all formats ask of a job. `unit_seconds` is what one unit of `run` lasts."""
    if isinstance(submitted, str):
        return submitted
    if not (_NUMBER.fullmatch(run) and _NUMBER.fullmatch(gpus)):
        return "duration or GPUs is no number"
    run_seconds = float(run) * unit_seconds
    if not (isfinite(run_seconds) and run_seconds > 0):
        return "duration is not above 0"
    if not _WHOLE.fullmatch(gpus):
        return "GPUs is no whole number"
    whole = int(float(gpus))
    if whole < 1:
        return "GPUs is not above 0"
    return TraceJob(submitted, run_seconds, whole, tenant, 0, deadline) if tenant else "no tenant"


def _philly(row: Row) -> TraceJob | str:
    return _job(_seconds(row["timestamp"]), row["duration"], row["num_gpus"], row["cluster"])


def _own(row: Row) -> TraceJob | str:
    deadline = _seconds(row["deadline"]) if row.get("deadline") else None
    if isinstance(deadline, str):
        return "a deadline that is no time"
    priority = row.get("priority") or "0"
    if not re.fullmatch(r"[-+]?[0-9]{1,9}", priority):
        return "priority is no whole number"
    job = _job(_seconds(row["submitted"]), row["run_seconds"], row["gpus"], row["tenant"], 1.0, deadline)
    return job if isinstance(job, str) or priority == "0" else _with_priority(job, int(priority))


def _with_priority(job: TraceJob, priority: int) -> TraceJob:
    return TraceJob(job.submitted_seconds, job.run_seconds, job.gpus, job.tenant, priority, job.deadline_seconds)


def _chronus(row: Row) -> TraceJob | str:
    """Minutes; the deadline counts from submission, a soft job's last one is taken."""
    submitted = _number(row["submit_time"], 60.0)
    deadline: float | None = None
    if row["job_type"] in ("strict", "soft") and not isinstance(submitted, str):
        after = _number(row["expect_time_list"].split("-")[-1], 60.0)
        if isinstance(after, str):
            return "a deadline that is no time"
        deadline = submitted + after
    return _job(submitted, row["duration"], row["num_gpu"], row["user"].removeprefix("vc_"), 60.0, deadline)


def _muri(row: Row) -> TraceJob | str:
    """Milliseconds; one virtual cluster per file; what its priority means is not written down, so it is not used."""
    return _job(_number(row["submit_time"], 0.001), row["duration"], row["num_gpu"], ONE_TENANT, 0.001)


def _elasticflow(row: Row) -> TraceJob | str:
    deadline = _number(row["ddl"], 1.0)
    if isinstance(deadline, str):
        return "a deadline that is no time"
    return _job(_number(row["submit_time"], 1.0), row["duration"], row["num_gpu"], ONE_TENANT, 1.0, deadline)


def _shockwave(row: Row) -> TraceJob | str:
    return _job(_number(row["arrival"], 1.0), row["duration"], row["scale_factor"], ONE_TENANT)


def _openb(row: Row) -> TraceJob | str:
    """Pods; the class of service stands in for the tenant; a part of a GPU counts as one; it ran once scheduled."""
    if not row["scheduled_time"]:
        return "never scheduled"
    begin, end = _number(row["scheduled_time"], 1.0), _number(row["deletion_time"], 1.0)
    if isinstance(begin, str) or isinstance(end, str):
        return _NO_TIME
    return _job(_number(row["creation_time"], 1.0), str(end - begin), row["num_gpu"], row["qos"])


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
        "id",
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
        "job_id",
    ),
    Format(
        "muri",
        "virtual clusters of Philly, in milliseconds",
        ("job_id", "iteration_time", "resource_time_0"),
        ("job_id", "num_gpu", "submit_time", "duration"),
        _muri,
        "job_id",
    ),
    Format(
        "elasticflow",
        "a virtual cluster of Philly with deadlines",
        ("job_id", "ddl", "num_gpu"),
        ("job_id", "submit_time", "ddl", "num_gpu", "duration"),
        _elasticflow,
        "job_id",
    ),
    Format(
        "openb",
        "Alibaba's pods of 2023; tenants are classes of service",
        ("name", "gpu_milli", "num_gpu"),
        ("name", "num_gpu", "qos", "creation_time", "deletion_time", "scheduled_time"),
        _openb,
        "name",
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
