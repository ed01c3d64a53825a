"""One look at the objects, what was agreed and what Prometheus knows become one immutable Snapshot. Pure.

The same function serves the exporter, the command line and the control loop, so that all three tell the same story.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from collector.assemble.capacity import floating_now, pool_state
from collector.assemble.clocks import WaitClocks
from collector.assemble.waiting import ineligible_reason, named
from collector.assemble.works import Seen, seen_works
from collector.model.objects import Picture
from collector.model.reading import Reading, Unknown, known_or
from collector.model.snapshot import Evidence, Lie, Snapshot, TenantPool, Work, WorkPhase
from collector.model.tenancy import UNASSIGNED, DoubleClaim, Entitlement, Site, Tenant, claims

STALE_PICTURE_SECONDS = 90.0
"""Older than this, the picture of the API server is no ground for a decision (age in wall seconds)."""

NEEDED_KINDS = ("nodes", "pods", "namespaces", "jobs", "workloads", "localqueues", "clusterqueues", "cohorts")


def assemble(
    picture: Picture, site: Site, evidence: Evidence, clocks: WaitClocks, now: float
) -> tuple[Snapshot, WaitClocks]:
    """The snapshot at `now` and the clocks to pass in next time."""
    owners, lies = _owners(picture, site)
    empty_pools = {pool.name: pool_state(picture, pool, 0) for pool in site.pools}
    seen = seen_works(picture, site, owners, empty_pools)
    advanced = clocks.advance([item.sighting for item in seen], now)
    works = tuple(_clocked(item, advanced, now) for item in seen if item.work.phase is not WorkPhase.FINISHED)
    reserved = _reserved(works)
    pools = {
        name: replace(state, reserved=sum(gpus for (_, pool), gpus in reserved.items() if pool == name))
        for name, state in empty_pools.items()
    }
    held = {(item.tenant, item.pool): item for item in _tenant_pools(picture, site, works, reserved, evidence)}
    works = tuple(
        replace(work, ineligible=ineligible_reason(work, picture, pools, held.get((work.tenant, work.pool or ""))))
        if work.waits or work.phase is WorkPhase.SUSPENDED
        else work
        for work in works
    )
    tenants = _tenant_pools(picture, site, works, reserved, evidence)
    borrowed = _borrowed(tenants)
    works = tuple(named(work, pools, tenants, borrowed.get(work.pool or "", {}), now) for work in works)
    snapshot = Snapshot(
        taken_at=now,
        site=site,
        pools=pools,
        tenants=tenants,
        works=works,
        evidence=evidence,
        namespace_tenants=owners,
        lies=lies,
        blind=_blind(picture),
    )
    return snapshot, advanced


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


def _reserved(works: Iterable[Work]) -> Mapping[tuple[str, str], int]:
    """(tenant, pool) → GPUs of admitted work."""
    reserved: dict[tuple[str, str], int] = defaultdict(int)
    for work in works:
        if work.pool is not None and work.phase in (WorkPhase.RUNNING, WorkPhase.STARTING):
            reserved[work.tenant, work.pool] += work.gpus
    return reserved


def _tenant_pools(
    picture: Picture,
    site: Site,
    works: tuple[Work, ...],
    reserved: Mapping[tuple[str, str], int],
    evidence: Evidence,
) -> tuple[TenantPool, ...]:
    by_key: dict[tuple[str, str], list[Work]] = defaultdict(list)
    for work in works:
        by_key[work.tenant, work.pool or ""].append(work)
    agreed = [(tenant, entitlement) for tenant in site.tenants for entitlement in tenant.entitlements]
    nobody = Tenant(UNASSIGNED, tier="")
    agreed += [(nobody, Entitlement(pool.name, 0)) for pool in site.pools if by_key.get((UNASSIGNED, pool.name))]
    found: list[TenantPool] = []
    for tenant, entitlement in sorted(agreed, key=lambda pair: (pair[0].name, pair[1].pool)):
        key = (tenant.name, entitlement.pool)
        state = _tenant_pool(picture, site, tenant, entitlement, by_key.get(key, []))
        idle_held = evidence.idle_held.get(key, Unknown("no GPU readings"))
        found.append(replace(state, reserved=reserved.get(key, 0), idle_held=idle_held))
    return tuple(found)


def _tenant_pool(
    picture: Picture, site: Site, tenant: Tenant, entitlement: Entitlement, works: list[Work]
) -> TenantPool:
    pool = site.pool(entitlement.pool)
    if pool is None:
        floating: Reading[int] = Unknown("its pool is not known")
    else:
        floating = floating_now(picture, tenant.name, pool, entitlement.floating)
    eligible = [work for work in works if work.waits and work.ineligible is None]
    return TenantPool(
        tenant=tenant.name,
        tier=tenant.tier,
        pool=entitlement.pool,
        entitlement=entitlement,
        floating_now=floating,
        running=sum(work.gpus for work in works if work.phase is WorkPhase.RUNNING),
        waiting=sum(work.gpus for work in eligible),
        queued=sum(work.gpus for work in eligible if work.phase is WorkPhase.WAITING),
        overdue=sum(work.gpus for work in eligible if work.overdue),
        last_admission_at=max((work.admitted_at for work in works if work.admitted_at is not None), default=None),
        opted_out=any(
            space.opted_out and tenant.members.claim(name, space.labels) is not None
            for name, space in picture.namespaces.items()
        ),
    )


def _borrowed(tenants: Iterable[TenantPool]) -> Mapping[str, Mapping[str, int]]:
    """Pool → tenant → GPUs in use beyond its own entitlement."""
    borrowed: dict[str, dict[str, int]] = defaultdict(dict)
    for item in tenants:
        borrowed[item.pool][item.tenant] = max(0, item.reserved - known_or(item.entitled_now, item.reserved))
    return borrowed


def _blind(picture: Picture) -> tuple[str, ...]:
    reasons = [
        f"{kind} not readable: {why}" for kind, why in sorted(picture.unreadable.items()) if kind in NEEDED_KINDS
    ]
    if picture.age_seconds > STALE_PICTURE_SECONDS:
        reasons.append(f"the picture of the cluster is {picture.age_seconds:.0f} s old")
    return tuple(reasons)
