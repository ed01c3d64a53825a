"""Each tenant in each of its pools: what was agreed, what the engine holds for it now, what it uses and lacks. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from collector.assemble.capacity import floating_now
from collector.model.objects import Namespace, Picture
from collector.model.reading import Reading, Unknown
from collector.model.snapshot import Evidence, TenantPool, Work, WorkPhase
from collector.model.tenancy import UNASSIGNED, Entitlement, Pool, Site, Tenant

_PLACED = (WorkPhase.RUNNING, WorkPhase.STARTING)


def reserved_gpus(works: Iterable[Work]) -> Mapping[tuple[str, str], int]:
    """(tenant, pool) → GPUs of admitted work."""
    reserved: dict[tuple[str, str], int] = defaultdict(int)
    for work in works:
        if work.pool is not None and work.phase in _PLACED:
            reserved[work.tenant, work.pool] += work.gpus
    return reserved


def tenant_pools(
    picture: Picture,
    site: Site,
    owners: Mapping[str, str],
    works: Sequence[Work],
    evidence: Evidence,
) -> tuple[TenantPool, ...]:
    """Each tenant in each of its pools, in order of names; `owners`: namespace → tenant."""
    reserved = reserved_gpus(works)
    by_key: dict[tuple[str, str], list[Work]] = defaultdict(list)
    for work in works:
        by_key[work.tenant, work.pool or ""].append(work)
    agreed = [(tenant, entitlement) for tenant in site.tenants for entitlement in tenant.entitlements]
    nobody = Tenant(UNASSIGNED, tier="")
    agreed += [(nobody, Entitlement(pool.name, 0)) for pool in site.pools if by_key.get((UNASSIGNED, pool.name))]
    spaces: dict[str, list[Namespace]] = defaultdict(list)
    for namespace, owner in owners.items():
        if namespace in picture.namespaces:
            spaces[owner].append(picture.namespaces[namespace])
    found: list[TenantPool] = []
    for tenant, entitlement in sorted(agreed, key=lambda pair: (pair[0].name, pair[1].pool)):
        key = (tenant.name, entitlement.pool)
        agreement = _Agreement(tenant, entitlement, site.pool(entitlement.pool), spaces[tenant.name])
        state = _tenant_pool(picture, agreement, by_key.get(key, []))
        idle_held = evidence.idle_held.get(key, Unknown("no GPU readings"))
        found.append(replace(state, reserved=reserved.get(key, 0), idle_held=idle_held))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Agreement:
    """One tenant in one pool, by the documents, with its namespaces as they are."""

    tenant: Tenant
    entitlement: Entitlement
    pool: Pool | None
    namespaces: Sequence[Namespace]


def _tenant_pool(picture: Picture, agreement: _Agreement, works: Sequence[Work]) -> TenantPool:
    tenant, pool = agreement.tenant, agreement.pool
    if pool is None:
        floating: Reading[int] = Unknown("its pool is not known")
    else:
        floating = floating_now(picture, tenant.name, pool, (space.name for space in agreement.namespaces))
    eligible = [work for work in works if work.waits and work.ineligible is None]
    here = [work for work in eligible if work.sent_from is None]
    return TenantPool(
        tenant=tenant.name,
        tier=tenant.tier,
        pool=agreement.entitlement.pool,
        entitlement=agreement.entitlement,
        floating_now=floating,
        running=sum(work.gpus for work in works if work.phase is WorkPhase.RUNNING and work.runs_in is None),
        waiting=sum(work.gpus for work in here),
        queued=sum(work.gpus for work in eligible if work.phase is WorkPhase.WAITING),
        overdue=sum(work.gpus for work in here if work.overdue),
        last_admission_at=max((work.admitted_at for work in works if work.admitted_at is not None), default=None),
        preemptible=sum(_made(work) for work in works if work.borrows),
        preemptible_placed=sum(work.gpus for work in works if work.borrows and work.phase in _PLACED),
        refused=sum(work.gpus - _made(work) for work in here if work.borrows),
        pending=sum(_made(work) for work in here if not work.borrows and work.phase is WorkPhase.WAITING),
        opted_out=any(space.opted_out for space in agreement.namespaces),
    )


def _made(work: Work) -> int:
    """GPUs of the pods that exist, bound or not: what a quota counts."""
    suspended = work.phase is WorkPhase.SUSPENDED
    return 0 if suspended else work.gpus - work.pods_missing * work.gpus_per_pod
