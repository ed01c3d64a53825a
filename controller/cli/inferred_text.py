"""An inferred site as documents that `trimtab validate` accepts, each with a comment saying what it was inferred from.

Pure. What the documents can not express is left out and said in the comment, never bent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from collector.assemble.infer import Inferred
from collector.assemble.infer_pools import BORROW_CLASS
from collector.model.quantities import counted, format_time
from collector.model.tenancy import Engine, Pool, Site, Tenant
from controller.api.crosscheck import told_apart
from controller.api.policy import Policy
from controller.api.rendering import render_policy, render_tenants


def inferred_documents(inferred: Inferred, now: float) -> str:
    """The Policy (mode Observe) and one Tenant per tenant; `now` stands in the head."""
    whole = replace(inferred.site, pools=tuple(map(_with_borrow_class, inferred.site.pools)))
    site, sharing = _apart(whole)
    head = [
        f"Inferred by `trimtab look` at {format_time(now)} from what stands in the cluster. Nobody agreed on this yet:",
        "read it, correct it, keep it in Git, and give the folder to --config.",
        *(f"To decide: {note}." for note in inferred.notes),
    ]
    parts = [_comment(head)]
    pools = [f"Pool {name}: {reason}." for name, reason in inferred.pool_reasons.items() if site.pool(name)]
    pools += [
        f"Left out: pool {left.name}, whose nodes are not kept apart from those of {kept.name} by a label."
        for left, kept in sharing
    ]
    pools += [
        f"Pool {pool.name}: borrowClass {BORROW_CLASS} must be created before it can be used."
        for pool in inferred.site.pools
        if pool.engine is Engine.NATIVE and pool.borrow_class is None and site.pool(pool.name)
    ]
    tiers = ["Tier standard and its limits: the defaults, nothing in the cluster says more."]
    parts.append(_comment([*pools, *tiers]) + render_policy(site, Policy()))
    for tenant in site.tenants:
        written, left_out = _writable(tenant, site)
        remarks = [f"Tenant {tenant.name}: {inferred.tenant_reasons.get(tenant.name, 'inferred')}.", *left_out]
        parts.append("---\n" + _comment(remarks) + render_tenants(replace(site, tenants=(written,))))
    return "".join(parts)


def _apart(site: Site) -> tuple[Site, Sequence[tuple[Pool, Pool]]]:
    """The site without pools that share nodes with an earlier one, and those pools, each beside the one it shares with.

    A document with both would promise the same GPUs twice.
    """
    kept: list[Pool] = []
    sharing: list[tuple[Pool, Pool]] = []
    for pool in site.pools:
        rivals = (one for one in kept if one.resource == pool.resource)
        twin = next((one for one in rivals if not told_apart(pool.node_selector, one.node_selector)), None)
        if twin is None:
            kept.append(pool)
        else:
            sharing.append((pool, twin))
    names = {pool.name for pool in kept}
    tenants = tuple(
        replace(tenant, entitlements=tuple(item for item in tenant.entitlements if item.pool in names))
        for tenant in site.tenants
    )
    return replace(site, pools=tuple(kept), tenants=tenants), sharing


def _comment(lines: list[str]) -> str:
    return "".join(f"# {line}\n" for line in lines)


def _with_borrow_class(pool: Pool) -> Pool:
    return replace(pool, borrow_class=BORROW_CLASS) if pool.engine is Engine.NATIVE else pool


def _writable(tenant: Tenant, site: Site) -> tuple[Tenant, list[str]]:
    """The tenant as a document may hold it: in a native pool it has one namespace, by name, and no other pool."""
    namespaces = tenant.members.namespaces
    native = [item for item in tenant.entitlements if _is_native(site, item.pool)]
    if not native or (len(tenant.entitlements) == 1 and len(namespaces) == 1 and not tenant.members.workspaces):
        return tenant, []
    kept = tuple(item for item in tenant.entitlements if item not in native)
    remarks = [
        f"Left out: {counted(item.guarantee, 'GPU')} of {item.pool} by ResourceQuota; a tenant of a native pool "
        "has one namespace, by name, and no other pool."
        for item in native
    ]
    return replace(tenant, entitlements=kept, objectives=tenant.objectives if kept else ()), remarks


def _is_native(site: Site, name: str) -> bool:
    pool = site.pool(name)
    return pool is not None and pool.engine is Engine.NATIVE
