"""The fixed settings that a policy is measured against, by name: how a trace runs under each. Pure.

static       each tenant has its quota and nothing else; who does not fit is passed over (native: tries again later)
pool         one queue for all without quota, in order of submission; who does not fit is passed over
kueue-fixed  one Cohort: borrow what is free, reclaim what was lent; not borrowing first, then tier, then time
strict       one queue for all; higher priority goes first and evicts lower priority at once
edf          one queue for all; earliest deadline first, without deadline after that, hopeless last
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from typing import Final, Protocol

from controller.simulate.batch import Batch
from controller.simulate.batch_setting import Fates, QueueQuota, Rules, Setting, served_by_priority
from controller.simulate.deadlines import DeadlinePool
from controller.simulate.job_table import JobTable
from controller.simulate.losses import hidden_checkpoints
from controller.simulate.native import NativeBatch, NativeSetting
from controller.simulate.packing import Packing
from controller.simulate.shares import GPUS_PER_NODE, Share


class Baseline(StrEnum):
    """Their names."""

    STATIC = "static"
    POOL = "pool"
    KUEUE_FIXED = "kueue-fixed"
    STRICT = "strict"
    EDF = "edf"


class Engine(StrEnum):
    """Whose rules the queues follow."""

    KUEUE = "kueue"
    NATIVE = "native"


NATIVE: Final = frozenset({Baseline.STATIC, Baseline.POOL, Baseline.STRICT})
"""What plain Kubernetes can be set to: quotas, or none; without quota its scheduler has a queue as Kueue has."""


class Placement(StrEnum):
    """Whether gangs have to find whole nodes, or GPUs are only counted."""

    NODES = "nodes"
    COUNTS = "counts"


class Running(Protocol):
    """A trace under way."""

    @property
    def now(self) -> float:
        """The trace's clock."""

    @property
    def fates(self) -> Fates:
        """What became of each job so far."""

    def advance(self, until: float = inf) -> None:
        """Let time pass."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all baselines share. `seed` draws when jobs save their work."""

    engine: Engine = Engine.KUEUE
    placement: Placement = Placement.COUNTS
    restart_seconds: float = 30.0
    seed: int = 0
    gpus_per_node: int = GPUS_PER_NODE


_STEPS: Final = 200


def most_gpus(baseline: Baseline, shares: Sequence[Share], conditions: Conditions) -> Mapping[str, int]:
    """Tenant → the largest gang that it can ever be given."""
    capacity = sum(share.quota for share in shares)
    return {share.tenant: _most(baseline, share, capacity, conditions) for share in shares}


def _most(baseline: Baseline, share: Share, capacity: int, conditions: Conditions) -> int:
    gpus = share.quota if baseline is Baseline.STATIC else capacity
    if conditions.placement is Placement.NODES:
        gpus -= gpus % conditions.gpus_per_node
    if baseline is Baseline.KUEUE_FIXED and share.ceiling is not None:
        gpus = min(gpus, share.ceiling)
    return gpus


def prepared(baseline: Baseline, jobs: JobTable, shares: Sequence[Share], conditions: Conditions) -> Running:
    """A trace that is ready to run. Every job has to fit `most_gpus`."""
    capacity = sum(share.quota for share in shares)
    common = _nodes([capacity], conditions)[0] if conditions.placement is Placement.NODES else None
    if baseline is Baseline.EDF:
        return DeadlinePool(jobs, capacity, common)
    if baseline is Baseline.STATIC and conditions.engine is Engine.NATIVE:
        quotas = [share.quota for share in shares]
        return NativeBatch(jobs, NativeSetting(quotas, [0] * len(shares), capacity, gpus_per_node=_size(conditions)))
    served = replace(jobs, priority=[0] * len(jobs)) if baseline is Baseline.POOL else ranked(jobs, shares)
    setting = _setting(baseline, shares, capacity, conditions)
    return Batch(served, setting, served_by_priority(served), lambda row: hidden_checkpoints(conditions.seed, row))


def ranked(jobs: JobTable, shares: Sequence[Share]) -> JobTable:
    """The jobs with the rank of their tenant's tier added to their own priority."""
    ranks = [share.rank for share in shares]
    return replace(jobs, priority=[ranks[tenant] + own for tenant, own in zip(jobs.tenant, jobs.priority, strict=True)])


def run(running: Running, jobs: JobTable, tell: Callable[[float], None] | None = None) -> Fates:
    """To its end. `tell` hears how far it is, from 0 to 1, by submissions."""
    if tell is not None and len(jobs):
        begin, end = jobs.submit_seconds[0], jobs.submit_seconds[-1]
        for step in range(1, _STEPS):
            running.advance(begin + (end - begin) * step / _STEPS)
            tell(step / _STEPS)
    running.advance()
    return running.fates


def _setting(baseline: Baseline, shares: Sequence[Share], capacity: int, conditions: Conditions) -> Setting:
    if baseline is Baseline.STATIC:
        quotas = [QueueQuota(share.quota, share.quota) for share in shares]
    elif baseline is Baseline.KUEUE_FIXED:
        quotas = [QueueQuota(share.quota, 0, inf if share.ceiling is None else share.ceiling) for share in shares]
    else:
        quotas = [QueueQuota(capacity)]
    queues = range(len(shares)) if len(quotas) == len(shares) and baseline is not Baseline.POOL else [0] * len(shares)
    rules = Rules(
        reclaims=baseline is Baseline.KUEUE_FIXED,
        preempts_within_queue=baseline is Baseline.STRICT,
        restart_seconds=conditions.restart_seconds,
    )
    if conditions.placement is Placement.COUNTS:
        return Setting(quotas, queues, rules)
    if baseline is Baseline.STATIC:
        return Setting(quotas, queues, rules, _nodes([quota.quota for quota in quotas], conditions))
    return Setting(quotas, queues, rules, _nodes([capacity], conditions) * len(quotas))


def _size(conditions: Conditions) -> int | None:
    return conditions.gpus_per_node if conditions.placement is Placement.NODES else None


def _nodes(gpus: Sequence[int], conditions: Conditions) -> list[Packing]:
    return [Packing(count // conditions.gpus_per_node, conditions.gpus_per_node) for count in gpus]
