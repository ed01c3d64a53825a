"""Recipe `gfs`: guaranteed and spot work on one small native pool, against strict priority on the same jobs.

The workload of a published spot scheduler's evaluation as far as its data is public: 3 000 jobs handed in within 32
hours, cut at a day, each guaranteed or spot by the toss of a coin, on 128 GPUs in 16 nodes. Guaranteed work is normal,
spot work of class borrow; nothing limits the first, and caps, which Trimtab moves, the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import inf, nan
from random import Random
from statistics import fmean
from typing import Final

from controller.evaluate.folder import TraceFolder
from controller.evaluate.native_run import PlainCluster, SteeredNative
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell, summed_up
from controller.evaluate.score import SHIPPED
from controller.simulate.baselines import Baseline, Conditions, Engine, Placement, prepared
from controller.simulate.batch_setting import Fates
from controller.simulate.job_table import JobTable
from controller.simulate.losses import hidden_checkpoints
from controller.simulate.native import WorkClass
from controller.simulate.shares import Share
from controller.traces.read import read_trace
from controller.traces.table import selected, within
from controller.traces.trace import TraceJob

GPUS: Final = 128
JOBS: Final = 3000
BEGIN: Final = datetime(2017, 10, 9, tzinfo=UTC).timestamp()
_LONGEST_SECONDS = 86400.0


@dataclass(frozen=True, slots=True)
class Coined:
    """The jobs, and which of them are guaranteed by the toss of a coin."""

    jobs: JobTable
    guaranteed: Sequence[bool]

    @classmethod
    def by(cls, jobs: JobTable, seed: int) -> Coined:
        """One toss for each row in order of submission."""
        coin = Random(seed)
        return cls(jobs, [coin.random() < 0.5 for _ in range(len(jobs))])

    @property
    def classes(self) -> Sequence[WorkClass]:
        """By row."""
        return [WorkClass.NORMAL if firm else WorkClass.BORROW for firm in self.guaranteed]

    @property
    def ranked(self) -> JobTable:
        """The same jobs, the guaranteed ones of higher priority."""
        return replace(self.jobs, priority=[int(firm) for firm in self.guaranteed])


@dataclass(frozen=True, slots=True)
class Waits:
    """Mean waits of both classes, in seconds; evictions and lost work of spot jobs."""

    guaranteed_seconds: float
    spot_seconds: float
    evictions_per_spot_job: float
    lost_gpu_hours: float

    @classmethod
    def of(cls, fates: Fates, guaranteed: Sequence[bool]) -> Waits:
        """Sum a run up."""
        spot = [row for row, firm in enumerate(guaranteed) if not firm]
        return cls(
            fmean(wait for wait, firm in zip(fates.wait_seconds, guaranteed, strict=True) if firm),
            fmean(fates.wait_seconds[row] for row in spot),
            sum(fates.evictions) / len(spot),
            sum(fates.lost_gpu_seconds) / 3600,
        )


def compared(coined: Coined, conditions: Conditions, gpus: int = GPUS) -> dict[str, float]:
    """What the recipe judges, and the figures behind it, of one seed under one placement."""
    shares = [Share(name, 0 if number else gpus) for number, name in enumerate(coined.jobs.tenants)]
    strict = prepared(Baseline.STRICT, coined.ranked, shares, replace(conditions, engine=Engine.NATIVE))
    strict.advance()
    cluster = PlainCluster(
        [inf] * len(shares),
        gpus,
        coined.classes,
        conditions.gpus_per_node,
        conditions.placement is Placement.NODES,
        conditions.restart_seconds,
    )
    steered = SteeredNative(coined.jobs, cluster, SHIPPED, lambda row: hidden_checkpoints(conditions.seed, row))
    steered.advance()
    before, after = (Waits.of(one.fates, coined.guaranteed) for one in (strict, steered))
    return {
        "hp_queue_ratio": _ratio(after.guaranteed_seconds, before.guaranteed_seconds),
        "spot_queue_ratio": _ratio(after.spot_seconds, before.spot_seconds),
        "preemptions_per_spot_job": after.evictions_per_spot_job,
        "control_bounded": float(steered.bounded),
        "hp_queue_seconds": after.guaranteed_seconds,
        "spot_queue_seconds": after.spot_seconds,
        "lost_gpu_hours": after.lost_gpu_hours,
        "strict_hp_queue_seconds": before.guaranteed_seconds,
        "strict_spot_queue_seconds": before.spot_seconds,
        "strict_preemptions_per_spot_job": before.evictions_per_spot_job,
        "strict_lost_gpu_hours": before.lost_gpu_hours,
        "changes": steered.changes,
        "cap_moves": steered.moves,
    }


def _ratio(value: float, base: float) -> float:
    return value / base if base > 0 else (1.0 if value == base else nan)


def workload(jobs: Sequence[TraceJob], count: int = JOBS, gpus: int = GPUS) -> JobTable:
    """The first jobs from the recipe's day on that fit the pool, none longer than a day."""
    chosen = within(jobs, BEGIN)[:count]
    cut = [replace(job, run_seconds=min(job.run_seconds, _LONGEST_SECONDS)) for job in chosen]
    tenants = sorted({job.tenant for job in cut})
    return selected(cut, [Share(name, 0) for name in tenants], dict.fromkeys(tenants, gpus)).jobs


def _load(folder: TraceFolder) -> Run:
    jobs = workload(read_trace(folder.file("philly/philly.csv"), "philly").jobs)

    def run(seeds: int, tell: Tell) -> Outcome:
        per_seed = []
        cases = list(_cases(seeds))
        for number, (seed, conditions) in enumerate(cases):
            tell(number / (len(cases) + 1), f"seed {seed}, {conditions.placement}")
            found = compared(Coined.by(jobs, seed), conditions)
            per_seed.append(SeedResult(seed, found, conditions.placement.value))
        tell(len(cases) / (len(cases) + 1), "beside it: a restart of 600 s")
        slow = compared(Coined.by(jobs, 0), Conditions(restart_seconds=600.0))
        details = {f"{name}_restart_600": slow[name] for name in [goal.metric for goal in _GOALS]}
        return Outcome(summed_up(per_seed, _GOALS), tuple(per_seed), details)

    return run


def _cases(seeds: int) -> Iterator[tuple[int, Conditions]]:
    for seed in range(seeds):
        for placement in Placement:
            yield seed, Conditions(placement=placement, seed=seed)


_GOALS: Final = (
    Goal("hp_queue_ratio", Sense.AT_MOST, 1.05),
    Goal("spot_queue_ratio", Sense.AT_MOST, 0.8),
    Goal("preemptions_per_spot_job", Sense.AT_MOST, 0.10),
    Goal("control_bounded", Sense.EXACTLY, 1.0),
)

GFS: Final = Recipe(
    name="gfs",
    line="Guaranteed and spot jobs on one native pool, waits as ratios to strict priority on the same seed.",
    anchor="GFS in its own simulator, seed 0: 1 930 s guaranteed, 30 875 s spot, .228 preemptions per spot job; "
    "strict priority here: .25 to .38",
    goals=_GOALS,
    load=_load,
)
