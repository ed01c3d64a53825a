"""Recipe `lending-native`: what lending by borrow caps alone closes of the gap between quotas and one pool, on Philly.

Plain Kubernetes lends nothing: the baseline is each tenant's ResourceQuota, whose refused jobs try again. That quota is
guaranteed as a whole: a job takes the normal class where its quota has room, else the borrow class, and normal work
preempts borrow work. Caps begin at nothing; Trimtab moves them, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from controller.evaluate.folder import TraceFolder
from controller.evaluate.native_run import PlainCluster, SteeredNative
from controller.evaluate.philly import load_philly
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell, summed_up
from controller.evaluate.score import SHIPPED
from controller.simulate.baselines import Baseline, Conditions, Engine, Placement, Running, prepared
from controller.simulate.jitter import jittered
from controller.simulate.job_table import JobTable
from controller.simulate.losses import hidden_checkpoints
from controller.simulate.outcome import Outcome as Sums
from controller.simulate.outcome import TenantOutcome, outcome_of
from controller.simulate.shares import Share

_STRESSED, _HALF = 0.25, 0.5
_WORSE_RATIO, _WORSE_SECONDS = 0.01, 30.0
_LONG_RESTART_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Lent:
    """The same jobs under quotas that lend nothing, as one pool, and with caps that Trimtab moves."""

    static: Sums
    pool: Sums
    steered: Sums
    changes: int
    moves: int

    @property
    def gap_closed_ratio(self) -> float:
        """Of the mean wait that one pool would save, the part that is saved; 1 where there is nothing to save."""
        static, pool, ours = (one.all.mean_wait_seconds for one in (self.static, self.pool, self.steered))
        return (static - ours) / (static - pool) if static > pool else 1.0

    def worse_than_static(self) -> tuple[str, ...]:
        """Tenants that would be better off under their quota alone: by more than 1 % and 30 s."""
        static, ours = self.static.tenants, self.steered.tenants
        return tuple(name for name in sorted(static) if _is_worse(ours[name], static[name]))


def _is_worse(ours: TenantOutcome, own: TenantOutcome) -> bool:
    pairs = (ours.mean_wait_seconds, own.mean_wait_seconds), (ours.p95_wait_seconds, own.p95_wait_seconds)
    return any(here - there > max(_WORSE_RATIO * there, _WORSE_SECONDS) for here, there in pairs)


def lent(jobs: JobTable, shares: Sequence[Share], conditions: Conditions) -> Lent:
    """Run all three until they are drained."""
    capacity = sum(share.quota for share in shares)

    def summed(running: Running) -> Sums:
        running.advance()
        return outcome_of(jobs, running.fates, shares, capacity)

    native = replace(conditions, engine=Engine.NATIVE)
    cluster = PlainCluster(
        [share.quota for share in shares],
        capacity,
        gpus_per_node=conditions.gpus_per_node,
        on_nodes=conditions.placement is Placement.NODES,
        restart_seconds=conditions.restart_seconds,
    )
    steered = SteeredNative(jobs, cluster, SHIPPED, lambda row: hidden_checkpoints(conditions.seed, row))
    static, pool = (prepared(baseline, jobs, shares, native) for baseline in (Baseline.STATIC, Baseline.POOL))
    return Lent(summed(static), summed(pool), summed(steered), steered.changes, steered.moves)


def _load(folder: TraceFolder) -> Run:
    philly = load_philly(folder)
    jobs = philly.table()
    clusters = {ratio: philly.at(ratio) for ratio in (_STRESSED, _HALF)}

    def run(seeds: int, tell: Tell) -> Outcome:
        per_seed = []
        cases = [(seed, placement) for seed in range(seeds) for placement in Placement]
        for number, (seed, placement) in enumerate(cases):
            tell(number / (len(cases) + 1), f"seed {seed}, {placement}")
            conditions = Conditions(placement=placement, seed=seed)
            found = {ratio: lent(jittered(jobs, seed), clusters[ratio], conditions) for ratio in clusters}
            per_seed.append(SeedResult(seed, dict(_results(found[_STRESSED], found[_HALF])), placement.value))
        tell(len(cases) / (len(cases) + 1), "beside it: a restart of 600 s")
        slow = Conditions(restart_seconds=_LONG_RESTART_SECONDS)
        beside = lent(jittered(jobs, 0), clusters[_STRESSED], slow)
        details = {
            "gap_closed_ratio_restart_600": beside.gap_closed_ratio,
            "tenants_worse_than_static_restart_600": len(beside.worse_than_static()),
            "mean_wait_seconds_restart_600": beside.steered.all.mean_wait_seconds,
        }
        return Outcome(summed_up(per_seed, _GOALS), tuple(per_seed), details)

    return run


def _results(stressed: Lent, half: Lent) -> Iterator[tuple[str, float]]:
    yield "gap_closed_ratio", stressed.gap_closed_ratio
    yield "gap_closed_ratio_half", half.gap_closed_ratio
    yield "tenants_worse_than_static", len({*stressed.worse_than_static(), *half.worse_than_static()})
    for name, one in (("", stressed), ("_half", half)):
        yield f"static_wait_seconds{name}", one.static.all.mean_wait_seconds
        yield f"pool_wait_seconds{name}", one.pool.all.mean_wait_seconds
        yield f"mean_wait_seconds{name}", one.steered.all.mean_wait_seconds
    yield "preemptions", stressed.steered.all.preemptions
    yield "lost_gpu_hours", stressed.steered.all.gpu_seconds_lost / 3600
    yield "changes", stressed.changes
    yield "cap_moves", stressed.moves


_GOALS: Final = (
    Goal("gap_closed_ratio", Sense.AT_LEAST, 0.95),
    Goal("gap_closed_ratio_half", Sense.AT_LEAST, 0.98),
    Goal("tenants_worse_than_static", Sense.EXACTLY, 0.0),
)

LENDING_NATIVE: Final = Recipe(
    name="lending-native",
    line="Lending on plain Kubernetes by borrow caps alone, Philly at a quarter and at half of its quotas.",
    anchor="plain Kubernetes or KubeSphere lends nothing: mean wait 52 898 s in order (52 299 with nodes), one pool "
    "987 s (867); here the baseline is what quotas give whose refused jobs try again, which is less",
    goals=_GOALS,
    load=_load,
)
