"""Recipes `objectives` and `lending-kueue`: the shipped configuration against Kueue's fixed settings, on Philly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Final, TypeAlias

from collector.model.tenancy import SizeClass, Tier
from controller.evaluate.folder import TraceFolder
from controller.evaluate.philly import NOVEMBER, Philly, load_philly
from controller.evaluate.recipe import Goal, Outcome, Recipe, Run, SeedResult, Sense, Tell, summed_up
from controller.evaluate.score import SHIPPED
from controller.evaluate.steered_trace import SteeredTrace, Steering
from controller.simulate import outcome as sums
from controller.simulate.baselines import Baseline, Conditions, Placement, prepared
from controller.simulate.chance import Chance
from controller.simulate.job_table import JobTable
from controller.simulate.shares import Share

CAPACITY_RATIO: Final = 0.25
"""The stress point: half of all jobs would wait under static quotas."""
_JITTER_SECONDS: Final = 600.0
_WORSE_RATIO, _WORSE_SECONDS = 0.01, 30.0

STEERED_LIMITS: Final[Mapping[str, float]] = {"critical": 180.0, "standard": 1800.0, "best-effort": 1800.0}
"""Tier → how long its work may wait before something is done about it: earlier than where attainment counts it late,
so that there is time to act. Best-effort work has no limit there, but its tenants want what they lent back, too."""

Measure: TypeAlias = Callable[["Compared"], dict[str, float]]


@dataclass(frozen=True, slots=True)
class Compared:
    """The same jobs under static quotas, under Kueue's fixed settings, and with Trimtab."""

    shares: tuple[Share, ...]
    static: sums.Outcome
    fixed: sums.Outcome
    steered: sums.Outcome
    changes: int

    def of_tier(self, tier: str) -> list[sums.TenantOutcome]:
        """How its tenants fared with Trimtab."""
        return [self.steered.tenants[share.tenant] for share in self.shares if share.tier == tier]

    @property
    def mean_wait_ratio(self) -> float:
        """To fixed."""
        return _ratio(self.steered.all.mean_wait_seconds, self.fixed.all.mean_wait_seconds)

    @property
    def preemptions_ratio(self) -> float:
        """To fixed."""
        return _ratio(self.steered.all.preemptions, self.fixed.all.preemptions)

    @property
    def lost_ratio(self) -> float:
        """To fixed."""
        return _ratio(self.steered.all.gpu_seconds_lost, self.fixed.all.gpu_seconds_lost)

    def worse_than_static(self) -> list[str]:
        """Tenants whose mean or 95th percentile is above their own static run by more than 1 % and 30 s."""
        return sorted(name for name, own in self.static.tenants.items() if _is_worse(self.steered.tenants[name], own))


def _ratio(value: float, base: float) -> float:
    return value / base if base else (1.0 if value == base else nan)


def _is_worse(ours: sums.TenantOutcome, own: sums.TenantOutcome) -> bool:
    pairs = ((ours.mean_wait_seconds, own.mean_wait_seconds), (ours.p95_wait_seconds, own.p95_wait_seconds))
    return any(here - there > max(_WORSE_RATIO * there, _WORSE_SECONDS) for here, there in pairs)


def tiers_of(shares: Sequence[Share], limits: Mapping[str, float] = STEERED_LIMITS) -> tuple[Tier, ...]:
    """The tiers that the shares name, with one limit for work of every size that has one."""
    sizes = [size for size in SizeClass if size is not SizeClass.RESERVATION]
    ranks = {share.tier: share.rank for share in shares}
    return tuple(Tier(name, rank, dict.fromkeys(sizes, limits[name])) for name, rank in sorted(ranks.items()))


def jittered(jobs: JobTable, seed: int) -> JobTable:
    """Every job handed in up to ten minutes earlier or later, and in order again."""
    stream = Chance(seed).apart("submit jitter")
    moments = [max(0.0, at + stream.between(-_JITTER_SECONDS, _JITTER_SECONDS)) for at in jobs.submit_seconds]
    return replace(jobs, submit_seconds=moments).in_order()


def compared(jobs: JobTable, shares: tuple[Share, ...], conditions: Conditions) -> Compared:
    """Run all three until they are drained."""
    capacity = sum(share.quota for share in shares)
    found = []
    for baseline in (Baseline.STATIC, Baseline.KUEUE_FIXED):
        running = prepared(baseline, jobs, shares, conditions)
        running.advance()
        found.append(sums.outcome_of(jobs, running.fates, shares, capacity))
    steered = SteeredTrace(jobs, shares, conditions, Steering(SHIPPED, tiers=tiers_of(shares)))
    steered.advance()
    ours = sums.outcome_of(jobs, steered.fates, shares, capacity)
    return Compared(shares, found[0], found[1], ours, steered.changes)


def objectives_met(case: Compared) -> dict[str, float]:
    """What recipe `objectives` judges."""
    return {
        "critical_attainment_min": _worst(case.of_tier("critical")),
        "standard_attainment_min": _worst(case.of_tier("standard")),
        "best_effort_max_wait_seconds": max((one.max_wait_seconds for one in case.of_tier("best-effort")), default=nan),
        "lost_gpu_hours_ratio": case.lost_ratio,
        "mean_wait_ratio": case.mean_wait_ratio,
    }


def lending(case: Compared) -> dict[str, float]:
    """What recipe `lending-kueue` judges."""
    return {
        "mean_wait_ratio": case.mean_wait_ratio,
        "preemptions_ratio": case.preemptions_ratio,
        "lost_gpu_hours_ratio": case.lost_ratio,
        "tenants_worse_than_static": float(len(case.worse_than_static())),
    }


def _worst(outcomes: Sequence[sums.TenantOutcome]) -> float:
    return min((one.attainment for one in outcomes if one.attainment is not None), default=nan)


@dataclass(frozen=True, slots=True)
class Beside:
    """A case that is printed beside those that goals judge; its figures begin with `name`."""

    name: str
    capacity_ratio: float = CAPACITY_RATIO
    conditions: Conditions = field(default_factory=Conditions)
    november: bool = False


_BESIDE: Final = (
    Beside("restart_600_", conditions=Conditions(restart_seconds=600.0)),
    Beside("capacity_20_percent_", capacity_ratio=0.2),
    Beside("november_", november=True),
)


def measured(philly: Philly, measure: Measure, seeds: int, tell: Tell) -> Outcome:
    """All seeds under both placements, then what is printed beside with the first seed."""
    jobs, shares = philly.table(), philly.at(CAPACITY_RATIO)
    steps = 2 * seeds + len(_BESIDE)
    per_seed, details = list[SeedResult](), dict[str, float]()
    for number, (seed, placement) in enumerate(_cases(seeds)):
        tell(number / steps, f"seed {seed}, {placement.value}")
        case = compared(jittered(jobs, seed), shares, Conditions(placement=placement))
        per_seed.append(SeedResult(seed, measure(case), placement.value))
        if number == 0:
            details = _absolute(case)
    for number, beside in enumerate(_BESIDE, 2 * seeds):
        tell(number / steps, beside.name.strip("_").replace("_", " "))
        rows = _november(jobs) if beside.november else jobs
        case = compared(jittered(rows, 0), philly.at(beside.capacity_ratio), beside.conditions)
        details |= {beside.name + metric: value for metric, value in measure(case).items()}
    return Outcome(summed_up(per_seed, _GOAL_OF[measure]), tuple(per_seed), details)


def _cases(seeds: int) -> Iterator[tuple[int, Placement]]:
    for seed in range(seeds):
        yield from ((seed, placement) for placement in (Placement.COUNTS, Placement.NODES))


def _absolute(case: Compared) -> dict[str, float]:
    """Of the first seed in counts: what the ratios are made of."""
    found = {"changes": float(case.changes)}
    for name, outcome in (("static", case.static), ("fixed", case.fixed), ("trimtab", case.steered)):
        found[f"{name}_mean_wait_seconds"] = outcome.all.mean_wait_seconds
        found[f"{name}_preemptions"] = float(outcome.all.preemptions)
        found[f"{name}_lost_gpu_hours"] = outcome.all.gpu_seconds_lost / 3600.0
    return found


def _november(jobs: JobTable) -> JobTable:
    """Nothing was fitted on these."""
    rows = [row for row, at in enumerate(jobs.submit_seconds) if at >= NOVEMBER]
    return jobs.of_rows(rows)


_OBJECTIVES_GOALS: Final = (
    Goal("critical_attainment_min", Sense.AT_LEAST, 0.999),
    Goal("standard_attainment_min", Sense.AT_LEAST, 0.999),
    Goal("best_effort_max_wait_seconds", Sense.AT_MOST, 86_400.0),
    Goal("lost_gpu_hours_ratio", Sense.AT_MOST, 1.0),
    Goal("mean_wait_ratio", Sense.AT_MOST, 1.1),
)
_LENDING_GOALS: Final = (
    Goal("mean_wait_ratio", Sense.AT_MOST, 1.10),
    Goal("preemptions_ratio", Sense.AT_MOST, 0.25),
    Goal("lost_gpu_hours_ratio", Sense.AT_MOST, 0.4),
    Goal("tenants_worse_than_static", Sense.EXACTLY, 0.0),
)
_GOAL_OF: Final[Mapping[Measure, tuple[Goal, ...]]] = {objectives_met: _OBJECTIVES_GOALS, lending: _LENDING_GOALS}


def _loader(measure: Measure) -> Callable[[TraceFolder], Run]:
    def load(folder: TraceFolder) -> Run:
        philly = load_philly(folder)
        return lambda seeds, tell: measured(philly, measure, seeds, tell)

    return load


OBJECTIVES: Final = Recipe(
    "objectives",
    "Objectives of important tenants kept beside Kueue's lending: Philly, October and November 2017, a quarter of it.",
    "Kueue fixed: critical .833, 554 s, 1,042 GPU-hours lost; moving guarantees: .9997 at 1.36 x lost and 1.09 x wait",
    _OBJECTIVES_GOALS,
    _loader(objectives_met),
)
LENDING_KUEUE: Final = Recipe(
    "lending-kueue",
    "Lending without thrashing, against Kueue's fixed settings: Philly, October and November 2017, a quarter of it.",
    "Kueue fixed: 554 s, 2,679 preemptions, 1,042 GPU-hours lost; keeping 4 unlent: 1.11 / .27 / .63",
    _LENDING_GOALS,
    _loader(lending),
)
