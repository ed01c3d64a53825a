"""From a picture of a cluster into its future: when waiting work would start, and who would be evicted, by many draws.

What runs ends after a run time drawn from what ended before; what waits is served by Kueue's rules; GPUs are counted.
Nothing more is handed in, so a predicted wait is a lower bound for whoever others may still overtake. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from collector.assemble.capacity import SHARED_LEAF, leaf_name
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import Snapshot, TenantPool, Work, WorkPhase
from controller.simulate.batch_setting import NEVER, QueueQuota, Rules, Setting
from controller.simulate.chance import Chance
from controller.simulate.job_table import JobTable
from controller.simulate.learned_runs import FEWEST, LearnedRuns
from controller.simulate.outcome import quantile
from controller.simulate.watched import WatchedBatch

DRAWS: Final = 20
_MOVED_AT, _WAITING_FROM = 0.5, 1.0
"""What runs is there from 0 on; then quota moves; then what waits is looked at."""
_RUNS: Final = (WorkPhase.RUNNING, WorkPhase.STARTING)


@dataclass(frozen=True, slots=True)
class Ahead:
    """Seconds from now until work starts: a tenth of the draws say less than `low`, a tenth more than `high`."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Future:
    """What the draws show. `starts`: key of waiting work → when; `evicted`: key of work that runs → share of draws."""

    starts: Mapping[str, Reading[Ahead]]
    evicted: Mapping[str, float]


def future(
    snapshot: Snapshot,
    pool: str,
    levels: tuple[Mapping[str, int], Mapping[str, int]],
    learned: LearnedRuns,
    seed: int = 0,
) -> Future:
    """All work of a pool. `levels`: GPUs of each own object as they are, and as they would be from now on."""
    tenants = [state.tenant for state in snapshot.tenants if state.pool == pool]
    runs = [work for work in snapshot.works if work.pool == pool and work.phase in _RUNS and work.tenant in tenants]
    runs.sort(key=lambda work: (work.admitted_at or work.created_at, work.key))
    waits = [work for work in snapshot.works if work.pool == pool and _stands(work) and work.tenant in tenants]
    if len(learned.all) < FEWEST:
        return Future({work.key: Unknown("too few jobs have ended in the history") for work in waits}, {})
    starts: dict[str, list[float]] = {work.key: [] for work in waits}
    evicted = dict.fromkeys((work.key for work in runs), 0)
    for number in range(DRAWS):
        drawn = _drawn(snapshot, (runs, waits), tenants, learned, Chance(seed).apart("ahead", number))
        batch = _begun(snapshot, pool, drawn, levels, (*runs, *waits))
        if any(start > _MOVED_AT or start == NEVER for start in batch.fates.first_start_seconds[: len(runs)]):
            reason = "what runs does not fit the quotas that were read"
            return Future({work.key: Unknown(reason) for work in waits}, {})
        batch.advance()
        for row, work in enumerate(waits, len(runs)):
            start = batch.fates.first_start_seconds[row]
            starts[work.key].append(inf if start == NEVER else start - _WAITING_FROM)
        for row, work in enumerate(runs):
            evicted[work.key] += bool(batch.fates.evictions[row])
    told = {work.key: _ahead(work, starts[work.key], learned) for work in waits}
    return Future(told, {key: count / DRAWS for key, count in evicted.items() if count})


def _stands(work: Work) -> bool:
    return work.phase is WorkPhase.WAITING and work.ineligible is None


def _ahead(work: Work, seconds: list[float], learned: LearnedRuns) -> Reading[Ahead]:
    if not learned.knows(work.tenant):
        return Unknown(f"too few jobs of {work.tenant} have ended in the history")
    seconds.sort()
    found = Ahead(quantile(seconds, 0.5), quantile(seconds, 0.1), quantile(seconds, 0.9))
    return Unknown("it never starts with these quotas") if found.median == inf else Known(found)


def _drawn(
    snapshot: Snapshot,
    works: tuple[Sequence[Work], Sequence[Work]],
    tenants: Sequence[str],
    learned: LearnedRuns,
    chance: Chance,
) -> JobTable:
    """What runs first, then what waits, each with a run time."""
    runs, waits = works
    now = snapshot.taken_at
    everything = (*runs, *waits)
    so_far = [max(0.0, now - work.ready_at) if work.ready_at is not None else 0.0 for work in everything]
    left = [learned.draw(work.tenant, work.gpus, chance, done) for work, done in zip(everything, so_far, strict=True)]
    return JobTable(
        tuple(tenants),
        # One after the other, as they were admitted: the youngest is evicted first.
        [_MOVED_AT * row / len(everything) for row in range(len(runs))] + [_WAITING_FROM] * len(waits),
        [_WAITING_FROM + max(1.0, seconds) for seconds in left],
        [work.gpus for work in everything],
        [tenants.index(work.tenant) for work in everything],
        [work.priority for work in everything],
        [inf] * len(everything),
    )


def _begun(
    snapshot: Snapshot,
    pool: str,
    jobs: JobTable,
    levels: tuple[Mapping[str, int], Mapping[str, int]],
    works: Sequence[Work],
) -> WatchedBatch:
    """What runs has its place, and quota has moved; what waits comes next."""
    before, after = levels
    states = [state for state in snapshot.tenants if state.pool == pool]
    quotas = [[_quota(state, side) for state in states] for side in (before, after)]
    rank = sorted(range(len(works)), key=lambda row: (-works[row].priority, works[row].created_at, works[row].key))
    setting = Setting(quotas[0], range(len(states)), Rules(), None, before.get(SHARED_LEAF, 0))
    batch = WatchedBatch(jobs, setting, rank)
    batch.advance(_MOVED_AT)
    for queue, quota in enumerate(quotas[1]):
        if quota != quotas[0][queue]:
            batch.set_quota(queue, quota)
    if after.get(SHARED_LEAF, 0) != before.get(SHARED_LEAF, 0):
        batch.set_shared(after.get(SHARED_LEAF, 0))
    return batch


def _quota(state: TenantPool, levels: Mapping[str, int]) -> QueueQuota:
    """A float is its tenant's reserve; what is guaranteed is lent while it is idle."""
    agreed, floating = state.entitlement, levels.get(leaf_name(state.tenant), 0)
    return QueueQuota(agreed.guarantee + floating, floating, inf if agreed.ceiling is None else agreed.ceiling)
