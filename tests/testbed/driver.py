"""Replays a window of a real trace as batch/v1 Jobs: who asked for how many GPUs, when, and for how long.

The plan is a pure function of the trace; only `Driver` waits and submits. Queue waits of the trace play no part: the
cluster under test makes its own.
"""

from __future__ import annotations

import csv
import gzip
import io
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import urllib3

from tests.testbed.api import ApiRefused, KubeApi, Manifest
from tests.testbed.cluster import BORROW, GPU, gpu_job

GPUS_PER_NODE = 8
JOBS_PER_SECOND = 5.0
SHORTEST_RUN_SECONDS = 1.0
_RETRY_SECONDS = 1.0


class BadTrace(ValueError):
    """A line of a trace cannot be read; the message names file, line and value."""


@dataclass(frozen=True)
class TraceJob:
    """One job of a trace: when it was submitted (local wall clock of the trace), and for how long it then ran."""

    submitted: datetime
    run_seconds: float
    gpus: int
    virtual_cluster: str


@dataclass(frozen=True)
class PlannedJob:
    """One Job to submit, `due_seconds` after the start of the replay; times are scaled already."""

    name: str
    tenant: str
    due_seconds: float
    run_seconds: float
    pods: int
    gpus_per_pod: int

    @property
    def gpus(self) -> int:
        """GPUs of the whole gang."""
        return self.pods * self.gpus_per_pod

    def manifest(self, queue: str | None, priority_class: str | None = None) -> Manifest:
        """The Job, in the namespace that bears the tenant's name."""
        shape, run_seconds = (self.gpus_per_pod, self.pods), self.run_seconds
        return gpu_job(
            self.name, self.tenant, *shape, run_seconds=run_seconds, queue=queue, priority_class=priority_class
        )


@dataclass(frozen=True)
class Plan:
    """What is going to be submitted, in order of time, and how many jobs of the window are left out, by reason."""

    jobs: tuple[PlannedJob, ...]
    skipped: Mapping[str, int]


@dataclass
class Report:
    """How a replay went. Lag: by how many wall seconds jobs were submitted later than the plan says."""

    submitted: int = 0
    lags_seconds: list[float] = field(default_factory=list, repr=False)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def max_lag_seconds(self) -> float:
        """The worst lag; 0 when nothing was submitted."""
        return max(self.lags_seconds, default=0.0)

    @property
    def mean_lag_seconds(self) -> float:
        """The mean lag; 0 when nothing was submitted."""
        return sum(self.lags_seconds) / len(self.lags_seconds) if self.lags_seconds else 0.0

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "submitted": self.submitted,
            "max_lag_seconds": round(self.max_lag_seconds, 3),
            "mean_lag_seconds": round(self.mean_lag_seconds, 3),
            "skipped": dict(self.skipped),
        }


def read_philly(path: Path) -> Iterator[TraceJob]:
    """The jobs of philly.csv.gz, in the order of the file; raises BadTrace."""
    with gzip.open(path) as packed:
        rows = csv.DictReader(io.TextIOWrapper(packed, encoding="utf-8"))
        for row in rows:
            try:
                submitted = datetime.fromisoformat(row["timestamp"])
                yield TraceJob(submitted, float(row["duration"]), int(row["num_gpus"]), row["cluster"])
            except (KeyError, TypeError, ValueError) as error:
                raise BadTrace(f"{path}, line {rows.line_num}: {error}") from error


READERS = {"philly": read_philly}


def window_of(jobs: Iterable[TraceJob], start: datetime, end: datetime) -> list[TraceJob]:
    """The jobs submitted from `start` up to, not including, `end`, in order of time."""
    return sorted((job for job in jobs if start <= job.submitted < end), key=lambda job: job.submitted)


def busiest_first(jobs: Iterable[TraceJob]) -> list[str]:
    """The virtual clusters of the jobs, the one that asked for most GPU time first."""
    gpu_seconds: Counter[str] = Counter()
    for job in jobs:
        gpu_seconds[job.virtual_cluster] += int(job.gpus * job.run_seconds)
    return [name for name, _ in gpu_seconds.most_common()]


def tenants_of(window: Sequence[TraceJob], tenants: Sequence[str]) -> dict[str, str]:
    """Maps virtual clusters to tenants. "vision=6214e9" says it; a bare "vision" takes the busiest that is left."""
    named = {cluster: tenant for tenant, _, cluster in (one.partition("=") for one in tenants) if cluster}
    left = (cluster for cluster in busiest_first(window) if cluster not in named)
    return named | dict(zip(left, (one for one in tenants if "=" not in one), strict=False))


def shape_of(gpus: int) -> tuple[int, int] | None:
    """(pods, GPUs of each) of a gang: one pod up to a node, else whole nodes; None when it is no whole number."""
    if 0 < gpus <= GPUS_PER_NODE:
        return 1, gpus
    if gpus > 0 and gpus % GPUS_PER_NODE == 0:
        return gpus // GPUS_PER_NODE, GPUS_PER_NODE
    return None


def plan(
    window: Sequence[TraceJob],
    start: datetime,
    tenants: Mapping[str, str],
    time_scale: float,
    max_gpus: int | None = None,
) -> Plan:
    """Turns a window into Jobs: time runs `time_scale` times faster, gangs above `max_gpus` are left out."""
    jobs: list[PlannedJob] = []
    skipped: Counter[str] = Counter()
    for number, job in enumerate(window):
        shape = shape_of(job.gpus)
        if job.virtual_cluster not in tenants:
            skipped["virtual cluster without tenant"] += 1
        elif shape is None:
            skipped["gang is no whole number of nodes"] += 1
        elif max_gpus is not None and job.gpus > max_gpus:
            skipped["gang larger than allowed"] += 1
        else:
            due_seconds = (job.submitted - start).total_seconds() / time_scale
            run_seconds = max(job.run_seconds / time_scale, SHORTEST_RUN_SECONDS)
            tenant = tenants[job.virtual_cluster]
            jobs.append(PlannedJob(f"{tenant}-{number:05}", tenant, due_seconds, run_seconds, *shape))
    return Plan(tuple(jobs), skipped)


def held_gpus(jobs: Iterable[Manifest]) -> int:
    """GPUs that Jobs without the borrow class hold or wait for, finished ones left out."""
    total = 0
    for job in jobs:
        pod, status = job["spec"]["template"]["spec"], job.get("status", {})
        ended = {"Complete", "Failed"} & {
            one["type"] for one in status.get("conditions") or () if one["status"] == "True"
        }
        if not ended and pod.get("priorityClassName") != BORROW:
            limits = pod["containers"][0]["resources"]["limits"]
            total += int(job["spec"]["parallelism"]) * int(limits[GPU])
    return total


class Driver:
    """Submits a plan at its times, at most five jobs a second. `run` blocks; `stop`, from any thread, ends it early.

    With Kueue (no `guarantees`) each Job goes to the LocalQueue that bears its tenant's name. On plain Kubernetes
    (`guarantees`: tenant → GPUs) a Job that exceeds its tenant's guarantee at submission runs under class `borrow`.
    """

    def __init__(self, api: KubeApi, plan: Plan, guarantees: Mapping[str, int] | None = None) -> None:
        self._api = api
        self._plan = plan
        self._guarantees = guarantees
        self._stopped = threading.Event()
        self.report = Report(skipped=Counter(plan.skipped))

    def run(self) -> Report:
        """Submits everything and returns the report, which can be read from `report` meanwhile."""
        start = time.monotonic()
        earliest = start
        for number, job in enumerate(self._plan.jobs):
            due = start + job.due_seconds
            if self._stopped.wait(max(0.0, due - time.monotonic(), earliest - time.monotonic())):
                self.report.skipped["stopped"] += len(self._plan.jobs) - number
                break
            earliest = time.monotonic() + 1.0 / JOBS_PER_SECOND
            if self._submit(job):
                self.report.submitted += 1
                self.report.lags_seconds.append(time.monotonic() - due)
        return self.report

    def stop(self) -> None:
        """Makes `run` return before its next job."""
        self._stopped.set()

    def _submit(self, job: PlannedJob) -> bool:
        """Whether the Job was taken. While the API server cannot be reached it tries again, and the lag grows."""
        while not self._stopped.is_set():
            try:
                self._api.create(self._manifest(job), manager="workload-driver")
            except ApiRefused as refusal:
                self.report.skipped[f"refused: {refusal.code} {refusal.reason}"] += 1
                return False
            except urllib3.exceptions.HTTPError:
                self._stopped.wait(_RETRY_SECONDS)
            else:
                return True
        return False

    def _manifest(self, job: PlannedJob) -> Manifest:
        if self._guarantees is None:
            return job.manifest(queue=job.tenant)
        held = held_gpus(self._api.list_objects("batch/v1", "Job", job.tenant))
        beyond = held + job.gpus > self._guarantees.get(job.tenant, 0)
        return job.manifest(queue=None, priority_class=BORROW if beyond else None)
