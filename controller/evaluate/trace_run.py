"""Runs a trace file under a fixed setting from end to end: read, choose, simulate, sum up; every row accounted for."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from math import inf, isfinite
from pathlib import Path
from typing import Any

from controller.api.errors import InputError, Mistake
from controller.api.rendering import policy_digest
from controller.evaluate.steered_trace import SteeredTrace, Steering, most_steered_gpus
from controller.simulate.baselines import Baseline, Conditions, Running, most_gpus, prepared, run
from controller.simulate.batch_setting import Fates
from controller.simulate.job_table import JobTable
from controller.simulate.outcome import Outcome, TenantOutcome, outcome_of
from controller.simulate.shares import Share, scaled, shares_by_demand
from controller.traces.quota_file import read_quotas
from controller.traces.read import read_trace
from controller.traces.table import Selection, largest_jobs, selected, within
from controller.traces.trace import Trace, TraceJob


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be run. Times are on the trace's clock; a capacity ratio of 1 is the quotas as they are."""

    trace: Path
    policy: Baseline | Steering
    form: str | None = None
    begin: float = -inf
    end: float = inf
    quotas: Path | None = None
    capacity_ratio: float = 1.0
    conditions: Conditions = field(default_factory=Conditions)

    @property
    def policy_name(self) -> str:
        """As people call it."""
        return self.policy.value if isinstance(self.policy, Baseline) else self.policy.name


@dataclass(frozen=True, slots=True)
class TraceRun:
    """A run and where its numbers come from."""

    request: Request
    form: str
    """The trace's format."""
    notes: Mapping[str, int]
    """What was done to rows that were used → how many."""
    shares: tuple[Share, ...]
    jobs: JobTable
    fates: Fates
    outcome: Outcome
    left_out: Mapping[str, int]
    """Reason → rows of the file that are not in the simulation. Rows read = jobs + the sum of these."""
    wall_seconds: float
    """Of the simulation alone: reading and summing up are not in it."""
    changes: int = 0
    """Changes that a policy made on the way."""

    @property
    def capacity_gpus(self) -> int:
        """All GPUs of the simulated cluster."""
        return sum(share.quota for share in self.shares)

    @property
    def settings_digest(self) -> str:
        """SHA-256 (hex) of the Policy as in `evaluate`, or of the fixed setting: equal digests, equal rules."""
        policy = self.request.policy
        if isinstance(policy, Steering):
            return policy_digest(policy.policy)
        setting = {"policy": policy.value, **asdict(self.request.conditions)}
        return sha256(json.dumps(setting, sort_keys=True).encode()).hexdigest()

    def document(self) -> dict[str, Any]:
        """As JSON shows it; null where there is nothing to say."""
        everyone, conditions = self.outcome.all, self.request.conditions
        return {
            "engine": conditions.engine.value,
            "policy": self.request.policy_name,
            "placement": conditions.placement.value,
            "restart_seconds": conditions.restart_seconds,
            "seed": conditions.seed,
            "capacity_gpus": self.capacity_gpus,
            "trace": {
                "format": self.form,
                "rows": len(self.jobs) + sum(self.left_out.values()),
                "left_out": dict(self.left_out),
                "notes": dict(self.notes),
            },
            "jobs": len(self.jobs),
            "unfinished": self.outcome.unfinished,
            "wall_seconds": round(self.wall_seconds, 3),
            "jobs_per_second": round(len(self.jobs) / self.wall_seconds, 1) if self.wall_seconds > 0 else None,
            "mean_wait_seconds": _number(everyone.mean_wait_seconds),
            "p95_wait_seconds": _number(everyone.p95_wait_seconds),
            "preemptions": everyone.preemptions,
            "gpu_seconds_lost": everyone.gpu_seconds_lost,
            "allocation_ratio": _number(self.outcome.allocation_ratio),
            "deadlines_missed_ratio": everyone.deadlines_missed_ratio,
            "tenants": {share.tenant: self._tenant(share) for share in self.shares},
            "changes": self.changes,
            "policy_digest": self.settings_digest,
        }

    def _tenant(self, share: Share) -> dict[str, Any]:
        own: TenantOutcome = self.outcome.tenants[share.tenant]
        return {
            "tier": share.tier,
            "quota_gpus": share.quota,
            **{name: _number(value) if isinstance(value, float) else value for name, value in asdict(own).items()},
        }


def _number(value: float) -> float | None:
    return value if isfinite(value) else None


def simulate_trace(request: Request, tell: Callable[[float], None] | None = None) -> TraceRun:
    """Read and run. Raises InputError for a file, a span or quotas that give nothing to simulate."""
    shares, choice, trace = _chosen(request)
    running = begun(request.policy, choice.jobs, shares, request.conditions)
    begin = time.perf_counter()
    fates = run(running, choice.jobs, tell)
    wall = time.perf_counter() - begin
    outcome = outcome_of(choice.jobs, fates, shares, sum(share.quota for share in shares))
    changes = running.changes if isinstance(running, SteeredTrace) else 0
    return TraceRun(
        request, trace.format, trace.notes, shares, choice.jobs, fates, outcome, choice.left_out, wall, changes
    )


def _chosen(request: Request) -> tuple[tuple[Share, ...], Selection, Trace]:
    """Who shares the cluster, the jobs that run, and the trace without its jobs: of a million one copy is enough."""
    trace = read_trace(request.trace, request.form)
    span = within(trace.jobs, request.begin, request.end)
    outside = len(trace.jobs) - len(span)
    if not span:
        raise InputError((Mistake("--from, --to", "no job in this span", f"a span within {_span(trace.jobs)}"),))
    shares = _shares(request, span)
    choice = selected(span, shares, most_startable(request.policy, shares, request.conditions))
    if not len(choice.jobs):
        reasons = ", ".join(f"{count} rows: {reason}" for reason, count in choice.left_out.items())
        raise InputError((Mistake("--quotas", f"no job that can run ({reasons})", "quotas for the trace's tenants"),))
    left_out = {**trace.skipped, **({"outside of --from and --to": outside} if outside else {}), **choice.left_out}
    return shares, replace(choice, left_out=left_out), replace(trace, jobs=())


def begun(policy: Baseline | Steering, jobs: JobTable, shares: Sequence[Share], conditions: Conditions) -> Running:
    """A trace that is ready to run, steered or under a fixed setting. Every job has to fit `most_startable`."""
    if isinstance(policy, Steering):
        return SteeredTrace(jobs, shares, conditions, policy)
    return prepared(policy, jobs, shares, conditions)


def most_startable(policy: Baseline | Steering, shares: Sequence[Share], conditions: Conditions) -> Mapping[str, int]:
    """Tenant → GPUs of the largest gang that can ever start."""
    if isinstance(policy, Steering):
        return most_steered_gpus(shares, conditions)
    return most_gpus(policy, shares, conditions)


def _shares(request: Request, jobs: Sequence[TraceJob]) -> tuple[Share, ...]:
    size, largest = request.conditions.gpus_per_node, largest_jobs(jobs)
    if request.quotas is None:
        shares = by_demand(jobs, size)
    else:
        shares = read_quotas(request.quotas, size)
        known = {share.tenant for share in shares}
        largest = {tenant: gpus for tenant, gpus in largest.items() if tenant in known}
    return shares if request.capacity_ratio == 1.0 else scaled(shares, request.capacity_ratio, largest, size)


def by_demand(jobs: Sequence[TraceJob], gpus_per_node: int) -> tuple[Share, ...]:
    """Quotas for jobs that come without: whole nodes for each tenant's mean demand at the usual load."""
    return shares_by_demand(_mean_gpus(jobs), largest_jobs(jobs), gpus_per_node)


def _mean_gpus(jobs: Sequence[TraceJob]) -> dict[str, float]:
    """Tenant → GPUs in use on average, had nobody waited."""
    begin = jobs[0].submitted_seconds
    end = max(job.submitted_seconds + job.run_seconds for job in jobs)
    used: dict[str, float] = {}
    for job in jobs:
        used[job.tenant] = used.get(job.tenant, 0.0) + job.gpus * job.run_seconds
    return {tenant: seconds / (end - begin) for tenant, seconds in used.items()}


def _span(jobs: Sequence[TraceJob]) -> str:
    first, last = (time.gmtime(job.submitted_seconds) for job in (jobs[0], jobs[-1]))
    return f"{time.strftime('%Y-%m-%d %H:%M', first)} and {time.strftime('%Y-%m-%d %H:%M', last)}"
