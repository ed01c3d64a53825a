"""A believable stream of jobs of several tenants, drawn from published distributions and a seed. Pure.

Sizes and run times are those of 68 503 jobs of Microsoft's Philly cluster (October and November 2017): 93 % of jobs ask
for one GPU; run times have a median of 19 minutes and a tail of weeks. Arrivals follow the hours of the day and come
in sweeps: one person hands in many equal jobs at once, which is what makes real queues bursty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from controller.simulate.chance import Chance
from controller.simulate.cluster_spec import JobSpec, Submission

HOUR = 3600.0
DAY = 24 * HOUR

SIZES: tuple[tuple[int, float], ...] = ((1, 0.93), (2, 0.022), (4, 0.023), (8, 0.020), (16, 0.0035))
"""GPUs of a job, and the share of jobs that ask for so many."""

RUN_SECONDS: tuple[tuple[float, float], ...] = (
    (0.0, 30.0),
    (0.50, 1_144.0),
    (0.90, 11_265.0),
    (0.99, 254_758.0),
    (0.99999, 53.6 * DAY),
)
"""Share of jobs, and the run time that they stay within. The first point is ours, the others are published."""

_MEAN_STEPS = 4000


@dataclass(frozen=True, slots=True)
class Demand:
    """What one tenant hands in. `gpus`: GPUs that it would use on average if it never waited."""

    tenant: str
    gpus: float
    priority: int = 0
    jobs_per_sweep: float = 2.0
    """On average; sweeps have equal jobs."""
    sizes: tuple[tuple[int, float], ...] = SIZES
    longest_seconds: float = 12 * HOUR
    """Longer jobs are cut to this: a demonstration does not last for weeks."""
    shortest_seconds: float = 30.0
    day_swing: float = 0.5
    """0: as much at night as by day; 1: nothing at the quietest hour."""
    busiest_hour: float = 15.0
    checkpoint_seconds: float | None = HOUR


def run_seconds(share: float) -> float:
    """The run time that `share` (0 to 1) of all jobs stay within: Pareto pieces through the published points."""
    for (low, shorter), (high, longer) in pairwise(RUN_SECONDS):
        if share <= high:
            begin, end, here = (-math.log1p(-min(p, 1 - 1e-12)) for p in (low, high, share))
            return shorter * math.pow(longer / shorter, (here - begin) / (end - begin))
    return RUN_SECONDS[-1][1]


def submissions(
    demands: Sequence[Demand], seed: int, seconds: float, first_hour: float = 0.0, gpus_per_node: int = 8
) -> tuple[Submission, ...]:
    """All that is handed in within so many seconds from `first_hour` of a day on, in order of time, from 0."""
    found = [one for demand in demands for one in _of_tenant(demand, seed, seconds, first_hour, gpus_per_node)]
    return tuple(sorted(found, key=lambda one: (one.at, one.job.tenant, one.job.name)))


def placed_in_time(found: Iterable[Submission], start: float, time_scale: float) -> tuple[Submission, ...]:
    """The same from `start` (epoch seconds) on, with all durations divided by `time_scale`."""
    return tuple(Submission(start + one.at / time_scale, shortened(one.job, time_scale)) for one in found)


def shortened(job: JobSpec, time_scale: float) -> JobSpec:
    """The job with its durations divided by `time_scale`."""
    saved = None if job.checkpoint_seconds is None else job.checkpoint_seconds / time_scale
    return replace(job, run_seconds=job.run_seconds / time_scale, checkpoint_seconds=saved)


def _of_tenant(
    demand: Demand, seed: int, seconds: float, first_hour: float, gpus_per_node: int
) -> Iterator[Submission]:
    chance = Chance(seed).apart("demand", demand.tenant)
    peak_per_second = (1 + demand.day_swing) / _mean_gap_seconds(demand)
    at, number = 0.0, 0
    while (at := at + chance.exponential(1 / peak_per_second)) < seconds:
        # Thinned from the peak: what is left follows the hours of the day.
        if chance.uniform() * (1 + demand.day_swing) > _daily(demand, first_hour + at / HOUR):
            continue
        number += 1
        yield from _sweep(demand, chance, at, number, gpus_per_node)


def _sweep(demand: Demand, chance: Chance, at: float, number: int, gpus_per_node: int) -> Iterator[Submission]:
    jobs = 1 + int(chance.exponential(max(0.001, demand.jobs_per_sweep - 1)) + 0.5)
    gpus = chance.pick(demand.sizes)
    length = _cut(demand, run_seconds(chance.uniform()))
    pods, per_pod = (1, gpus) if gpus <= gpus_per_node else (math.ceil(gpus / gpus_per_node), gpus_per_node)
    for index in range(jobs):
        name = f"train-{number:04}" if jobs == 1 else f"sweep-{number:04}-{index}"
        own = _cut(demand, length * chance.between(0.8, 1.25))
        job = JobSpec(name, demand.tenant, pods, per_pod, own, demand.priority, demand.checkpoint_seconds)
        yield Submission(at, job)


def _cut(demand: Demand, seconds: float) -> float:
    return min(max(seconds, demand.shortest_seconds), demand.longest_seconds)


def _daily(demand: Demand, hour: float) -> float:
    """How much of the average is handed in at that hour."""
    return 1 + demand.day_swing * math.cos((hour - demand.busiest_hour) / 24 * 2 * math.pi)


def _mean_gap_seconds(demand: Demand) -> float:
    """Average time between two sweeps, so that the demand adds up to `gpus`."""
    mean_run = sum(_cut(demand, run_seconds((n + 0.5) / _MEAN_STEPS)) for n in range(_MEAN_STEPS)) / _MEAN_STEPS
    weights = sum(weight for _, weight in demand.sizes)
    mean_gpus = sum(gpus * weight for gpus, weight in demand.sizes) / weights
    return mean_run * mean_gpus * demand.jobs_per_sweep / demand.gpus
