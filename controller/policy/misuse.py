"""What is wrong with how GPUs are used: thrashing, hoarding, what was not returned, what fits nowhere. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from collector.model.quantities import counted, format_duration
from collector.model.reading import Known
from collector.model.snapshot import Snapshot, TenantPool, Work
from controller.policy.change import Stage
from controller.policy.evictions import Cycle, cycles
from controller.policy.finding import Cause, Confidence, Finding, Trouble
from controller.policy.ledger import Ledger


def misuse(snapshot: Snapshot, ledger: Ledger | None) -> Sequence[Finding]:
    """All of it; what needs a memory only with a ledger."""
    found = [*_hoarding(snapshot), *_misfits(snapshot)]
    if ledger is not None:
        found += [*_thrashing(snapshot, ledger), *_not_returned(snapshot, ledger)]
    return found


def _thrashing(snapshot: Snapshot, ledger: Ledger) -> Iterator[Finding]:
    """One finding for each tenant whose work is hit again and again: any of them may be the one to protect."""
    found = cycles(ledger.evictions)
    works = {work.key: work for work in snapshot.works} if found else {}
    for cycle in found:
        told = f"{_ring(cycle)} in pool {cycle.pool} within the last hour"
        for tenant, keys in cycle.victims.items():
            hit = tuple(works[key] for key in keys if key in works)
            if not hit:
                continue
            times = [f"{work.title} lost its place {counted(ledger.evictions.hits(work.key), 'time')}." for work in hit]
            sentence = f"{tenant} is in a preemption cycle: {told}. {times[0]}"
            evidence = (f"{told}.", *times)
            gpus = sum(work.gpus for work in hit)
            yield Finding(
                tenant,
                cycle.pool,
                Trouble.THRASHING,
                Cause.SCHEDULING,
                gpus,
                hit,
                sentence,
                evidence=evidence,
                cycle=cycle,
            )


def _ring(cycle: Cycle) -> str:
    edges = sorted(cycle.edges.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(
        f"{by} evicted {victim if victim != by else 'its own work'} {count}×" for (by, victim), count in edges
    )


def _hoarding(snapshot: Snapshot) -> Iterator[Finding]:
    hoard = [state for state in snapshot.tenants if isinstance(state.idle_held, Known) and state.idle_held.value >= 1]
    all_overdue: dict[str, int] = defaultdict(int)
    for state in snapshot.tenants if hoard else ():
        all_overdue[state.pool] += state.overdue
    for state in hoard:
        idle, overdue = state.idle_held, all_overdue[state.pool] - state.overdue
        if not isinstance(idle, Known) or not overdue:
            continue
        held = f"{state.tenant} holds {counted(round(idle.value), 'GPU')} of pool {state.pool} that did nothing"
        sentence = f"{held} for a while, while work of others for {counted(overdue, 'GPU')} is overdue."
        yield _about_workload(state, Trouble.HOARDING, (), sentence)


def _not_returned(snapshot: Snapshot, ledger: Ledger) -> Iterator[Finding]:
    """A soft return follows usage down. Work that never ends holds it up, which people should know."""
    now, told = snapshot.taken_at, set[tuple[str, str]]()
    for change in ledger.active:
        since, state = change.returning_since, snapshot.tenant_pool(change.tenant, change.pool)
        whole = change.expires_at - change.created_at
        late = change.stage is Stage.RETURNING and since is not None and now - since > whole
        if (
            change.lends
            or not late
            or since is None
            or state is None
            or not change.given
            or (state.tenant, state.pool) in told
        ):
            continue
        told.add((state.tenant, state.pool))
        sentence = (
            f"{state.tenant} still uses {counted(change.given, 'GPU')} of pool {state.pool} that were lent to it; "
            f"their end was {format_duration(now - since)} ago (change {change.id})."
        )
        yield _about_workload(state, Trouble.NOT_RETURNED, (), sentence)


def _misfits(snapshot: Snapshot) -> Iterator[Finding]:
    misfits: dict[tuple[str, str], list[Work]] = defaultdict(list)
    for group in snapshot.groups:
        if group.ineligible:
            misfits[group.tenant, group.pool or ""] += [one for one in group.ineligible if _fits_nowhere(one, snapshot)]
    if not misfits:
        return
    for state in snapshot.tenants:
        found = misfits.get((state.tenant, state.pool))
        if found:
            works = tuple(sorted(found, key=lambda work: (work.created_at, work.key)))
            more = f" {len(works) - 1} more fit nowhere either." if len(works) > 1 else ""
            sentence = f"{works[0].title} can never start: {works[0].ineligible}.{more}"
            yield _about_workload(state, Trouble.MISFIT, works, sentence)


def _fits_nowhere(work: Work, snapshot: Snapshot) -> bool:
    """Its shape alone keeps it out, whoever else runs."""
    pool = snapshot.pools.get(work.pool or "")
    return pool is not None and bool(pool.nodes) and (work.gpus_per_pod > pool.gpus_per_node or work.gpus > pool.total)


def _about_workload(state: TenantPool, kind: Trouble, works: tuple[Work, ...], sentence: str) -> Finding:
    return Finding(
        state.tenant, state.pool, kind, Cause.WORKLOAD, 0, works, sentence, Confidence.KNOWN, evidence=(sentence,)
    )
