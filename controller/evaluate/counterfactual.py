"""The same recorded jobs under two arrangements: what each tenant gains or loses, and how sure that is.

Each seed moves submissions by up to ten minutes and draws anew when jobs save their work; both arrangements see the
same of it. So the range over seeds says what chance alone does. That people would hand in other work, it can not say.

A cluster is never empty when a week begins: jobs of the time before run as well, and are not counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isfinite
from statistics import median
from typing import Any, Final

from controller.evaluate.steered_trace import SteeredTrace, Steering
from controller.evaluate.trace_run import begun, most_startable
from controller.simulate.baselines import Baseline, Conditions, run
from controller.simulate.batch_setting import Fates
from controller.simulate.jitter import jittered
from controller.simulate.job_table import JobTable
from controller.simulate.outcome import Outcome, TenantOutcome, outcome_of
from controller.simulate.shares import Share
from controller.traces.table import selected
from controller.traces.trace import TraceJob

NOTICED_SECONDS: Final = 30.0
NOTICED_RATIO: Final = 0.01
"""A mean wait that differs by less than the larger of the two is told as equal."""

METRICS: Final = ("mean_wait_seconds", "p95_wait_seconds", "attainment", "preemptions", "lost_gpu_hours")


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Who is promised what, and what decides."""

    shares: tuple[Share, ...]
    policy: Baseline | Steering


@dataclass(frozen=True, slots=True)
class Question:
    """The jobs, how it was agreed, and how it might be; the tenants are the same in both."""

    jobs: Sequence[TraceJob]
    """Those of the time before as well."""
    counted_from: float
    """What was handed in before is not counted."""
    before: Arrangement
    after: Arrangement
    conditions: Conditions
    seeds: int = 5


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over all seeds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """None when a seed has no value: what is not judged has no median."""
        known = [value for value in values if value is not None and isfinite(value)]
        return cls(median(known), min(known), max(known)) if known and len(known) == len(values) else None

    def document(self) -> dict[str, float]:
        """As JSON shows it."""
        return {"median": self.median, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure under both arrangements, and the difference seed by seed (after - before)."""

    before: Spread | None
    after: Spread | None
    difference: Spread | None

    def document(self) -> dict[str, Any]:
        """As JSON shows it; null where nothing can be said."""
        told = {"before": self.before, "after": self.after, "difference": self.difference}
        return {name: None if spread is None else spread.document() for name, spread in told.items()}


class Felt(StrEnum):
    """What a tenant would have felt of it, by its mean wait."""

    SHORTER = "shorter"
    LONGER = "longer"
    SAME = "same"
    UNCLEAR = "unclear"
    """Some seeds say so and some otherwise: chance does more than the arrangement."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One tenant, or all together."""

    jobs: int
    quota_gpus: tuple[int, int]
    """Before and after."""
    figures: Mapping[str, Figure]
    shut_out: int = 0
    """Jobs that could start before and never could after."""

    @property
    def felt(self) -> Felt:
        """Judged only when all seeds agree."""
        wait = self.figures["mean_wait_seconds"]
        if wait.difference is None or wait.before is None:
            return Felt.LONGER if self.shut_out else Felt.SAME
        noticed, difference = max(NOTICED_SECONDS, NOTICED_RATIO * wait.before.median), wait.difference
        if self.shut_out or (difference.low > 0 and difference.median > noticed):
            return Felt.LONGER
        if difference.high < 0 and difference.median < -noticed:
            return Felt.SHORTER
        return Felt.SAME if max(abs(difference.low), abs(difference.high)) <= noticed else Felt.UNCLEAR

    def document(self) -> dict[str, Any]:
        """As JSON shows it."""
        return {
            "jobs": self.jobs,
            "quota_gpus": dict(zip(("before", "after"), self.quota_gpus, strict=True)),
            "felt": self.felt.value,
            "shut_out_jobs": self.shut_out,
            **{name: figure.document() for name, figure in self.figures.items()},
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer."""

    question: Question
    all: Effect
    tenants: Mapping[str, Effect]
    changes: Spread | None
    """Changes that the policy of `after` made; None: it makes none."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason → jobs that are in neither run."""


def compared(question: Question, tell: Callable[[float], None] = lambda share: None) -> Comparison:
    """Run both arrangements with each seed. `tell` hears how far it is, from 0 to 1."""
    jobs, shut_out, left_out = _startable(question)
    outcomes: tuple[list[Outcome], list[Outcome]] = ([], [])
    changes: list[float | None] = []
    runs = 2 * question.seeds
    for number in range(runs):
        seed, side = divmod(number, 2)
        arrangement = (question.before, question.after)[side]
        outcome, made = _run(jobs, arrangement, question, seed, _part(tell, number / runs, 1 / runs))
        outcomes[side].append(outcome)
        changes += [made] if side else []
    quotas = [[share.quota for share in one.shares] for one in (question.before, question.after)]
    everyone = [[outcome.all for outcome in side] for side in outcomes]
    tenants = {}
    for number, name in enumerate(jobs.tenants):
        own = [[outcome.tenants[name] for outcome in side] for side in outcomes]
        tenants[name] = _effect(own, (quotas[0][number], quotas[1][number]), shut_out[name])
    total = _effect(everyone, (sum(quotas[0]), sum(quotas[1])), shut_out.total())
    return Comparison(question, total, tenants, Spread.of(changes), left_out)


def _part(tell: Callable[[float], None], begin: float, length: float) -> Callable[[float], None]:
    return lambda share: tell(begin + share * length)


def _run(
    jobs: JobTable, arrangement: Arrangement, question: Question, seed: int, tell: Callable[[float], None]
) -> tuple[Outcome, float | None]:
    """What came of it, and how many changes a policy made; None: there is none."""
    moved, shares = jittered(jobs, seed), arrangement.shares
    running = begun(arrangement.policy, moved, shares, replace(question.conditions, seed=seed))
    fates = run(running, moved, tell)
    outcome = outcome_of(*counted_rows(moved, fates, question), shares, sum(share.quota for share in shares))
    return outcome, running.changes if isinstance(running, SteeredTrace) else None


def _startable(question: Question) -> tuple[JobTable, Counter[str], Mapping[str, int]]:
    """Jobs that can start under both arrangements; whom the second one alone shuts out; who is in neither, and why."""
    before, after = question.before, question.after
    most = [most_startable(one.policy, one.shares, question.conditions) for one in (before, after)]
    both = {tenant: min(most[0][tenant], most[1][tenant]) for tenant in most[0]}
    shut_out = Counter(
        job.tenant
        for job in question.jobs
        if job.submitted_seconds >= question.counted_from
        and job.tenant in both
        and both[job.tenant] < job.gpus <= most[0][job.tenant]
    )
    choice = selected(question.jobs, before.shares, both)
    return choice.jobs, shut_out, choice.left_out


def counted_rows(jobs: JobTable, fates: Fates, question: Question) -> tuple[JobTable, Fates]:
    """Only what is counted: jobs stand in order of submission. Nobody is moved out of a span that begins with them."""
    if not question.jobs or question.counted_from <= question.jobs[0].submitted_seconds:
        return jobs, fates
    first = bisect_left(jobs.submit_seconds, question.counted_from)
    return jobs.from_row(first), fates.from_row(first)


def _effect(sides: Sequence[Sequence[TenantOutcome]], quotas: tuple[int, int], shut_out: int) -> Effect:
    figures = {}
    for name in METRICS:
        before, after = ([_value(one, name) for one in side] for side in sides)
        pairs = zip(before, after, strict=True)
        difference = [None if old is None or new is None else new - old for old, new in pairs]
        figures[name] = Figure(Spread.of(before), Spread.of(after), Spread.of(difference))
    return Effect(sides[0][0].jobs, quotas, figures, shut_out)


def _value(outcome: TenantOutcome, name: str) -> float | None:
    if name == "lost_gpu_hours":
        return outcome.gpu_seconds_lost / 3600.0
    value: float | None = getattr(outcome, name)
    return value
