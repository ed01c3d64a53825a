"""A demonstration out of a recorded trace: its busiest tenants, at the hour in which one of them asks for most. Pure.

Nothing is arranged here: what happens is what the trace brings. Quota is dealt out by what each tenant asked for on
average, so a tenant that suddenly asks for more finds the rest lent out, as it was on the real cluster.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from controller.api.errors import InputError, Mistake
from controller.demo.scenery import DemoTenant, Scenery
from controller.demo.story import WARM_SECONDS, Story
from controller.simulate.cluster_spec import JobSpec, Submission
from controller.simulate.generator import HOUR
from controller.traces.trace import TraceJob

_NODES: Final = 8
_GPUS_PER_NODE: Final = 8
_SHARED: Final = 16
_FLOATING: Final = 4
_TENANTS: Final = 4
_WINDOW_SECONDS: Final = 24 * HOUR
_LARGEST_GPUS: Final = 16
_LONGEST_SECONDS: Final = 12 * HOUR
_TIERS: Final = ("critical", "standard", "standard", "best-effort")


def replayed(jobs: Sequence[TraceJob], seed: int) -> tuple[Scenery, Story]:
    """Site and story of a trace; the seed chooses among its five most sudden hours. Raises InputError for too few."""
    usable = [job for job in jobs if job.gpus <= _LARGEST_GPUS]
    suddenly = _sudden_hours(usable)
    if not suddenly:
        raise InputError((Mistake("--trace", f"{len(usable)} jobs", "an hour in which one tenant submits ten jobs"),))
    begins, first = suddenly[seed % len(suddenly)]
    window = _within(usable, begins - WARM_SECONDS, begins + _WINDOW_SECONDS)
    names = _cast(window, first)
    scenery = Scenery("demo", _NODES, _tenants(window, names), _SHARED)
    return scenery, Story(tuple(_submissions(window, names, begins - WARM_SECONDS)))


def _sudden_hours(jobs: Iterable[TraceJob]) -> list[tuple[float, str]]:
    """(start of the hour, tenant) where a tenant asked for most GPUs compared with its own average, the first five."""
    asked: dict[tuple[int, str], int] = Counter()
    counted: dict[tuple[int, str], int] = Counter()
    total: dict[str, int] = Counter()
    for job in jobs:
        key = (int(job.submitted_seconds // HOUR), job.tenant)
        asked[key] += job.gpus
        counted[key] += 1
        total[job.tenant] += job.gpus
    found = [key for key, count in counted.items() if count >= 10]
    found.sort(key=lambda key: (-asked[key] / total[key[1]] * asked[key], key))
    return [(hour * HOUR - HOUR / 4, tenant) for hour, tenant in found[:5]]


def _within(jobs: Sequence[TraceJob], begin: float, end: float) -> Sequence[TraceJob]:
    times = [job.submitted_seconds for job in jobs]
    return jobs[bisect.bisect_left(times, begin) : bisect.bisect_left(times, end)]


def _cast(window: Iterable[TraceJob], first: str) -> Mapping[str, str]:
    """Tenant of the trace → its name here: the sudden one first, then those that use most."""
    used: dict[str, float] = defaultdict(float)
    for job in window:
        used[job.tenant] += job.gpus * min(job.run_seconds, _LONGEST_SECONDS)
    others = sorted((name for name in used if name != first), key=lambda name: (-used[name], name))
    cast: dict[str, str] = {}
    for name in [first, *others[: _TENANTS - 1]]:
        plain = _kubernetes_name(name)
        cast[name] = plain if plain not in cast.values() else f"{plain}-{len(cast) + 1}"
    return cast


def _kubernetes_name(text: str) -> str:
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text.lower()).strip("-")
    return f"vc-{plain[:40].strip('-') or 'unnamed'}"


def _tenants(window: Iterable[TraceJob], names: Mapping[str, str]) -> tuple[DemoTenant, ...]:
    used: dict[str, float] = defaultdict(float)
    for job in window:
        used[job.tenant] += job.gpus * min(job.run_seconds, _LONGEST_SECONDS)
    promised = _NODES * _GPUS_PER_NODE - _SHARED - _FLOATING * len(names)
    total = sum(used[name] for name in names) or 1.0
    tenants = []
    for (name, shown), tier in zip(names.items(), _TIERS, strict=False):
        floor = max(1, math.floor(promised * min(0.5, used[name] / total)))
        tenants.append(DemoTenant(shown, tier, floor, _FLOATING, burst=floor + _FLOATING + _SHARED))
    return tuple(tenants)


def _submissions(window: Iterable[TraceJob], names: Mapping[str, str], begin: float) -> Iterable[Submission]:
    for number, job in enumerate(window):
        if job.tenant in names:
            pods = math.ceil(job.gpus / _GPUS_PER_NODE)
            run_seconds = min(job.run_seconds, _LONGEST_SECONDS)
            spec = JobSpec(f"job-{number:05}", names[job.tenant], pods, math.ceil(job.gpus / pods), run_seconds)
            yield Submission(job.submitted_seconds - begin, spec)
