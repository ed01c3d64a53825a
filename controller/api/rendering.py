"""The two documents as YAML text, from values: what `look` prints for a person to edit. Pure.

The text reads back as the same values (`parse_documents`). Nothing here decides what a site should agree on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import yaml

from collector.model.tenancy import Entitlement, Members, Objective, Pool, Site, Tenant, Tier
from controller.api.border import API_VERSION
from controller.api.fields import duration_text
from controller.api.policy import Policy
from controller.api.yaml_text import Dumper


def render_tenants(site: Site) -> str:
    """One Tenant document per tenant. Raises ValueError for a duration that is no whole milliseconds."""
    return _text(_document("Tenant", tenant.name, _tenant(tenant)) for tenant in site.tenants)


def render_policy(site: Site, policy: Policy, oldest_head_seconds: Mapping[str, float] | None = None) -> str:
    """The Policy document, every setting written out. Raises ValueError as `render_tenants` does.

    `oldest_head_seconds` is tier → limit, as in `Documents`.
    """
    heads = oldest_head_seconds or {}
    settings = _settings(policy)
    spec = {
        "mode": settings.pop("mode"),
        "paused": settings.pop("paused"),
        "targets": {"tenants": list(policy.targets.tenants), "pools": list(policy.targets.pools)},
        "pools": [_pool(pool) for pool in site.pools],
        "tiers": [_tier(tier, heads.get(tier.name)) for tier in site.tiers],
        **settings,
    }
    return _text([_document("Policy", policy.name, spec)])


def policy_digest(policy: Policy) -> str:
    """SHA-256 (hex) of what a Policy says about how to decide: without tiers, targets, pools and tick."""
    settings = _settings(policy)
    del settings["cadence"]["tick"]
    return sha256(json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _settings(policy: Policy) -> dict[str, Any]:
    """What does not depend on the site."""
    budgets, cadence, revert = policy.budgets, policy.cadence, policy.revert
    return {
        "mode": policy.mode.word,
        "paused": policy.paused,
        "strategies": list(policy.strategies),
        "budgets": {
            "changesPerDay": budgets.changes_per_day,
            "tenantsPerHour": budgets.tenants_per_hour,
            "addedEvictionsPerDay": budgets.added_evictions_per_day,
            "addedLostGpuHoursPerDay": budgets.added_lost_gpu_hours_per_day,
        },
        "cadence": {
            "tick": duration_text(cadence.tick_seconds),
            "confirmTicks": cadence.confirm_ticks,
            "dwell": duration_text(cadence.dwell_seconds),
        },
        "revert": {"style": "soft", "ttl": duration_text(revert.ttl_seconds)},
        **_said(lending=None if policy.lending is None else asdict(policy.lending)),
    }


def _text(documents: Iterable[dict[str, Any]]) -> str:
    # ASCII with escapes: PyYAML writes some line breaks of Unicode so that they read back as a space.
    return yaml.dump_all(documents, Dumper=Dumper, sort_keys=False, default_flow_style=None, width=110)


def _document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _said(**keys: Any) -> dict[str, Any]:
    """Leave out what was not said: no value, no entry."""
    return {key: value for key, value in keys.items() if value not in (None, [], {})}


def _duration(seconds: float | None) -> str | None:
    return None if seconds is None else duration_text(seconds)


def _tenant(tenant: Tenant) -> dict[str, Any]:
    return _said(
        tier=tenant.tier,
        members=_members(tenant.members),
        pools=[_entitlement(entitlement) for entitlement in tenant.entitlements],
        objectives=[_objective(objective) for objective in tenant.objectives],
    )


def _members(members: Members) -> dict[str, Any]:
    labels = dict(members.namespace_labels)
    return _said(
        namespaces=sorted(members.namespaces),
        namespaceSelector={"matchLabels": labels} if labels else None,
        localQueues=[{"namespace": namespace, "name": name} for namespace, name in sorted(members.local_queues)],
        kubesphereWorkspaces=sorted(members.workspaces),
    )


def _entitlement(entitlement: Entitlement) -> dict[str, Any]:
    return _said(
        pool=entitlement.pool,
        guarantee=entitlement.guarantee,
        floating=entitlement.floating,
        burst=entitlement.burst,
        ceiling=entitlement.ceiling,
    )


def _objective(objective: Objective) -> dict[str, Any]:
    factor = objective.within_baseline_factor
    return _said(
        name=objective.name,
        kind=objective.kind.value,
        pool=objective.pool,
        storage=objective.storage,
        quantile=objective.quantile,
        within=_duration(objective.within_seconds) if factor is None else f"{str(factor).removesuffix('.0')}x-baseline",
        target=objective.target,
        window=duration_text(objective.window_seconds),
    )


def _pool(pool: Pool) -> dict[str, Any]:
    return _said(
        name=pool.name,
        resource=pool.resource,
        nodeSelector=dict(pool.node_selector),
        engine=pool.engine.value,
        flavor=pool.flavor,
        borrowClass=pool.borrow_class,
    )


def _tier(tier: Tier, oldest_head_seconds: float | None) -> dict[str, Any]:
    return _said(
        name=tier.name,
        rank=tier.rank,
        startWithin={size.value: duration_text(limit) for size, limit in tier.start_within_seconds.items()},
        oldestHead=_duration(oldest_head_seconds),
    )
