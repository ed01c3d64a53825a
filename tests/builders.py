"""Agreements, changes and snapshots for tests: what was promised to whom, and one look at a tests.pictures."""

from __future__ import annotations

from typing import Any

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.model.objects import Picture
from collector.model.snapshot import Evidence, Snapshot, TenantPool, Work
from collector.model.tenancy import Engine, Entitlement, Members, Pool, Site, SizeClass, Tenant, Tier
from controller.policy.change import Change, Forecast
from tests.pictures import GPU, NOW, PRODUCT, PictureMaker

MINUTE, HOUR = 60.0, 3600.0

H100 = Pool("h100", GPU, {PRODUCT: "H100"}, Engine.KUEUE, flavor="h100")
TIERS = (
    Tier("critical", 100, {SizeClass.SINGLE_NODE: 5 * MINUTE, SizeClass.SMALL_GANG: 15 * MINUTE}),
    Tier("standard", 50, {SizeClass.SINGLE_NODE: 15 * MINUTE, SizeClass.SMALL_GANG: HOUR}),
    Tier("best-effort", 0, {}),
)


def agreed(name: str, guarantee: int, floating: int = 0, *, tier: str = "standard", **more: Any) -> Tenant:
    """A tenant with the namespace of its name, and what it was promised of pool h100 (`more`: burst, ceiling)."""
    return Tenant(name, tier, Members(frozenset({name})), (Entitlement("h100", guarantee, floating, **more),))


def site_of(*tenants: Tenant, pools: tuple[Pool, ...] = (H100,)) -> Site:
    """What was agreed on one cluster."""
    return Site("test", pools, TIERS, tenants)


def a_change(**fields: Any) -> Change:
    """A change that was just decided: eight lent GPUs to vision. `fields`: what of it the test is about."""
    usual: dict[str, Any] = {
        "id": "c1",
        "policy": "default",
        "tenant": "vision",
        "pool": "h100",
        "source": "trimtab-shared",
        "destination": "trimtab-vision",
        "amount": 8,
        "reason": "why",
        "finding": "what",
        "forecast": Forecast((), NOW),
        "created_at": NOW,
        "expires_at": NOW + HOUR,
    }
    return Change(**usual | fields)


def look(
    at: PictureMaker | Picture,
    site: Site,
    *,
    evidence: Evidence = Evidence(),  # noqa: B008 - immutable
    now: float = NOW,
) -> Snapshot:
    """One look, by clocks that never looked before."""
    picture = at.picture() if isinstance(at, PictureMaker) else at
    return assemble(picture, site, evidence, WaitClocks(), now)[0]


def work_of(snapshot: Snapshot, title: str) -> Work:
    """The work that people name so: namespace/name."""
    found = [work for work in snapshot.works if work.title == title]
    assert len(found) == 1, f"{title}: {len(found)} of {[work.title for work in snapshot.works]}"
    return found[0]


def pool_of(snapshot: Snapshot, tenant: str, pool: str = "h100") -> TenantPool:
    """How a tenant stands in a pool."""
    found = snapshot.tenant_pool(tenant, pool)
    assert found is not None, f"{tenant} has no entitlement in {pool}"
    return found
