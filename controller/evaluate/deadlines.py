"""Recipe `deadlines`: jobs that declare when they must end, on 960 GPUs, by priorities only: who is late, who waits.

Nothing is evicted and no quota is moved. The queue is one for all; what Trimtab does is to move waiting work between
prepared classes. How long a job runs is what it declares itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf
from statistics import fmean
from typing import Final

from controller.evaluate.deadline_run import DeadlineRun
from controller.evaluate.folder import TraceFolder
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell, summed_up
from controller.evaluate.score import SHIPPED
from controller.simulate.baselines import Baseline, Conditions, Placement, prepared, run
from controller.simulate.batch_setting import Fates
from controller.simulate.jitter import jittered
from controller.simulate.job_table import JobTable
from controller.simulate.packing import Packing
from controller.simulate.shares import GPUS_PER_NODE, Share, share_of
from controller.traces.read import read_trace
from controller.traces.table import largest_jobs, selected
from controller.traces.trace import TraceJob

GPUS: Final = 960
_LISTS: Final = {"slo": "trace_job_Philly_SLO.csv", "mix1": "trace_job_Philly_MIX1.csv"}


@dataclass(frozen=True, slots=True)
class Fared:
    """Share of the jobs with a deadline that missed it, and the mean wait of those without (NaN: there are none)."""

    strict_miss: float
    best_effort_wait_seconds: float


def proportional_shares(jobs: Sequence[TraceJob], gpus: int = GPUS, node: int = GPUS_PER_NODE) -> tuple[Share, ...]:
    """Quotas by demand that add up to the cluster: whole nodes, and no fewer than the tenant's largest job needs."""
    work: dict[str, float] = {}
    for job in jobs:
        work[job.tenant] = work.get(job.tenant, 0.0) + job.gpus * job.run_seconds
    least = {tenant: ceil(most / node) for tenant, most in largest_jobs(jobs).items()}
    fair = {tenant: gpus / node * own / sum(work.values()) for tenant, own in work.items()}
    nodes = {tenant: max(least[tenant], floor(fair[tenant])) for tenant in fair}
    while (missing := gpus // node - sum(nodes.values())) != 0:
        step = 1 if missing > 0 else -1
        able = [tenant for tenant in sorted(fair) if step > 0 or nodes[tenant] > least[tenant]]
        chosen = max(able, key=lambda tenant: step * (fair[tenant] - nodes[tenant]))
        nodes[chosen] += step
    return tuple(share_of(tenant, nodes[tenant] * node) for tenant in sorted(nodes))


def fared(jobs: JobTable, fates: Fates) -> Fared:
    """Sum a run up."""
    strict = [row for row, deadline in enumerate(jobs.deadline_seconds) if deadline < inf]
    others = [fates.wait_seconds[row] for row, deadline in enumerate(jobs.deadline_seconds) if deadline == inf]
    late = sum(1 for row in strict if not 0.0 <= fates.end_seconds[row] <= jobs.deadline_seconds[row])
    return Fared(late / len(strict), fmean(others) if others else float("nan"))


def steered(jobs: JobTable, placement: Placement, gpus: int = GPUS) -> tuple[Fared, int]:
    """Under Trimtab, and how many classes it set."""
    nodes = Packing(gpus // GPUS_PER_NODE, GPUS_PER_NODE) if placement is Placement.NODES else None
    trial = DeadlineRun.begun(jobs, SHIPPED, gpus, nodes)
    trial.advance()
    return fared(jobs, trial.pool.fates), trial.writes


def _fixed(policy: Baseline, jobs: JobTable, shares: Sequence[Share], placement: Placement) -> Fared:
    return fared(jobs, run(prepared(policy, jobs, shares, Conditions(placement=placement)), jobs))


def _load(folder: TraceFolder) -> Run:
    traces = {name: read_trace(folder.file(f"chronus/{file}"), "chronus").jobs for name, file in _LISTS.items()}
    shares = {name: proportional_shares(jobs) for name, jobs in traces.items()}
    tables = {name: _table(jobs, shares[name]) for name, jobs in traces.items()}

    def run(seeds: int, tell: Tell) -> Outcome:
        per_seed: list[SeedResult] = []
        beside: list[SeedResult] = []
        for number, (seed, placement) in enumerate((s, p) for s in range(seeds) for p in Placement):
            tell(number / (2 * seeds), f"seed {seed}, {placement.value}")
            moved = {name: jittered(table, seed) for name, table in tables.items()}
            results, details = measure(moved, shares, placement)
            per_seed.append(SeedResult(seed, results, placement.value))
            beside.append(SeedResult(seed, details, placement.value))
        recorded, _ = measure(tables, shares, Placement.COUNTS)
        as_recorded = {f"as_recorded_{name}": value for name, value in recorded.items()}
        return Outcome(summed_up(per_seed, DEADLINES.goals), tuple(per_seed), {**summed_up(beside, ()), **as_recorded})

    return run


def _table(jobs: Iterable[TraceJob], shares: Sequence[Share]) -> JobTable:
    table = selected(jobs, shares, {share.tenant: share.quota for share in shares}).jobs
    return replace(table, priority=[0] * len(table))


def measure(
    tables: dict[str, JobTable], shares: dict[str, tuple[Share, ...]], placement: Placement
) -> tuple[dict[str, float], dict[str, float]]:
    """One seed under one placement: the results, and the figures beside them."""
    (slo, slo_writes), (mix1, mix1_writes) = (steered(tables[name], placement) for name in ("slo", "mix1"))
    fifo = {name: _fixed(Baseline.STATIC, tables[name], shares[name], placement) for name in tables}
    edf = {name: _fixed(Baseline.EDF, tables[name], shares[name], placement) for name in tables}
    results = {
        "slo_strict_miss": slo.strict_miss,
        "mix1_strict_miss": mix1.strict_miss,
        "best_effort_wait_ratio": mix1.best_effort_wait_seconds / fifo["mix1"].best_effort_wait_seconds,
    }
    details = {f"fifo_{name}_strict_miss": one.strict_miss for name, one in fifo.items()}
    details |= {f"exact_edf_{name}_strict_miss": one.strict_miss for name, one in edf.items()}
    details["fifo_best_effort_wait_seconds"] = fifo["mix1"].best_effort_wait_seconds
    details["best_effort_wait_seconds"] = mix1.best_effort_wait_seconds
    details["exact_edf_best_effort_wait_seconds"] = edf["mix1"].best_effort_wait_seconds
    details["classes_set_per_job"] = (slo_writes + mix1_writes) / (len(tables["slo"]) + len(tables["mix1"]))
    return results, details


DEADLINES: Final = Recipe(
    "deadlines",
    "Jobs with deadlines on 960 GPUs, one queue, no eviction: waiting work moved between prepared priority classes.",
    "first come, first served in quotas .587 and .575 missed; earliest deadline, hopeless last .186 and .139",
    (
        Goal("slo_strict_miss", Sense.AT_MOST, 0.186),
        Goal("mix1_strict_miss", Sense.AT_MOST, 0.139),
        Goal("best_effort_wait_ratio", Sense.AT_MOST, 1.2),
    ),
    _load,
)
