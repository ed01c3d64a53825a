"""One look at the objects, what was agreed and what Prometheus knows become one immutable Snapshot. Pure.

The same function serves the exporter, the command line and the control loop, so that all three tell the same story.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from collector.assemble.capacity import pool_state
from collector.assemble.clocks import WaitClocks
from collector.assemble.deadlines import deadline_classes
from collector.assemble.gangs import Seen
from collector.assemble.runs import run_records
from collector.assemble.strays import strays
from collector.assemble.tenant_pools import reserved_gpus, tenant_pools
from collector.assemble.waiting import Doors, ineligible_reason, named, naming_context
from collector.assemble.works import seen_works
from collector.model.objects import Picture
from collector.model.snapshot import Evidence, Lie, Snapshot, Work, WorkPhase
from collector.model.tenancy import UNASSIGNED, DoubleClaim, Site, claims

STALE_PICTURE_SECONDS = 90.0
"""Older than this, the picture of the API server is no ground for a decision (age in wall seconds)."""

NEEDED_KINDS = (
    "nodes",
    "pods",
    "namespaces",
    "jobs",
    "workloads",
    "localqueues",
    "clusterqueues",
    "cohorts",
    "resourcequotas",
)


def assemble(
    picture: Picture, site: Site, evidence: Evidence, clocks: WaitClocks, now: float
) -> tuple[Snapshot, WaitClocks]:
    """The snapshot at `now` and the clocks to pass in next time."""
    snapshot, advanced, _ = assemble_seen(picture, site, evidence, clocks, now)
    return snapshot, advanced


def assemble_seen(
    picture: Picture, site: Site, evidence: Evidence, clocks: WaitClocks, now: float
) -> tuple[Snapshot, WaitClocks, tuple[Seen, ...]]:
    """The same, and every piece of work as the objects show it, also what has ended."""
    owners, lies = _owners(picture, site)
    empty_pools = {pool.name: pool_state(picture, pool, 0) for pool in site.pools}
    seen = seen_works(picture, site, owners, empty_pools)
    # The clock of a mirror runs where its work was submitted: counted here as well, it would wait twice.
    advanced = clocks.advance([item.sighting for item in seen if item.work.sent_from is None], now)
    works = tuple(_clocked(item, advanced, now) for item in seen if item.work.phase is not WorkPhase.FINISHED)
    reserved = reserved_gpus(works)
    pools = {
        name: replace(state, reserved=sum(gpus for (_, pool), gpus in reserved.items() if pool == name))
        for name, state in empty_pools.items()
    }
    held = {(item.tenant, item.pool): item for item in tenant_pools(picture, site, owners, works, evidence)}
    doors = Doors(picture)
    works = tuple(
        _with_ineligible(work, ineligible_reason(work, doors, pools, held.get((work.tenant, work.pool or ""))))
        if work.waits or work.phase is WorkPhase.SUSPENDED
        else work
        for work in works
    )
    records = run_records(seen, now)
    tenants = tuple(
        replace(state, ran=records.get((state.tenant, state.pool), state.ran))
        for state in tenant_pools(picture, site, owners, works, evidence)
    )
    context = naming_context(picture, pools, tenants, now)
    works = tuple(named(work, context) for work in works)
    snapshot = Snapshot(
        taken_at=now,
        site=site,
        pools=pools,
        tenants=tenants,
        works=works,
        evidence=evidence,
        namespace_tenants=owners,
        lies=lies,
        strays=strays(picture, site, owners, pools, now),
        share_queues=tuple(queue for _, queue in sorted(picture.share_queues.items())),
        blind=_blind(picture),
        deadline_classes=deadline_classes(picture.workload_priority_classes.values()),
    )
    return snapshot, advanced, seen


def _owners(picture: Picture, site: Site) -> tuple[Mapping[str, str], tuple[Lie, ...]]:
    owners: dict[str, str] = {}
    lies: list[Lie] = []
    labels = {name: namespace.labels for name, namespace in picture.namespaces.items()}
    for namespace, owner in sorted(claims(site.tenants, labels).items()):
        if isinstance(owner, DoubleClaim):
            tenants = " and ".join(f"{t} ({w})" for t, w in zip(owner.tenants, owner.reasons, strict=True))
            lies.append(Lie(f"namespace {namespace}", f"Claimed by {tenants}; until one lets go it is nobody's."))
            owners[namespace] = UNASSIGNED
        else:
            owners[namespace] = owner
    return owners, tuple(lies)


def _with_ineligible(work: Work, reason: str | None) -> Work:
    """The same object where there is no reason: of ten thousand, few have one, and a copy takes its time."""
    return work if reason is None else replace(work, ineligible=reason)


def _clocked(seen: Seen, clocks: WaitClocks, now: float) -> Work:
    clock = clocks.of(seen.sighting)
    if clock is None:
        return seen.work
    return replace(
        seen.work,
        waited_seconds=clock.waited_seconds(now),
        waited_is_lower_bound=clock.lower_bound,
        evictions=clock.evictions,
        evicted_by=clock.evicted_by,
        evictions_by=clock.evictions_by,
    )


def _blind(picture: Picture) -> tuple[str, ...]:
    reasons = [
        f"{kind} not readable: {why}" for kind, why in sorted(picture.unreadable.items()) if kind in NEEDED_KINDS
    ]
    if picture.age_seconds > STALE_PICTURE_SECONDS:
        reasons.append(f"the picture of the cluster is {picture.age_seconds:.0f} s old")
    return tuple(reasons)
