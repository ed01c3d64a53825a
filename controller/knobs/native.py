"""The native knob: Trimtab's own ResourceQuota `trimtab-cap`: how much preemptible extra work is safe now. Pure.

A tenant's guarantee is Git's ResourceQuota and is never touched. Extra work runs under the preemptible borrow class,
and the cap, scoped to that class, limits it. Scopes are immutable, and a cap that is deleted limits nothing: the
baseline is written, never deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collector.assemble.capacity import CAP_NAME, pool_nodes
from collector.model.objects import Picture, ResourceQuota
from collector.model.quantities import whole_gpus
from collector.model.reading import Known, Reading, Unknown
from collector.model.tenancy import Engine, Pool, Site, Tenant
from controller.api.errors import InputError, Mistake
from controller.api.object_names import is_label_name
from controller.api.shown_values import told
from controller.knobs.marks import MANAGED_BY, annotations_for, marks_of
from controller.policy.change import Change
from controller.policy.targets import Target, level

OUR_MANAGERS = frozenset({"trimtab", "kube-controller-manager"})
_PREFIX = "requests."


@dataclass(frozen=True, slots=True)
class Cap:
    """One own ResourceQuota as the baseline describes it."""

    namespace: str
    resource: str
    gpus: int
    borrow_classes: tuple[str, ...]

    @property
    def name(self) -> str:
        """How changes name it: namespace/trimtab-cap."""
        return f"{self.namespace}/{CAP_NAME}"


def read_cap(document: Mapping[str, Any], place: str) -> Cap:
    """A cap of the baseline manifest. Raises InputError that names the field."""

    def wrong(field: str, value: object, expected: str) -> InputError:
        return InputError((Mistake(f"{place}: {field}", told(value), expected),))

    metadata, spec = (_section(document, name) for name in ("metadata", "spec"))
    if metadata.get("name") != CAP_NAME:
        raise wrong("metadata.name", metadata.get("name"), CAP_NAME)
    namespace = metadata.get("namespace")
    if not isinstance(namespace, str) or not is_label_name(namespace):
        raise wrong("metadata.namespace", namespace, "the name of the tenant's namespace")
    hard = spec.get("hard")
    if not isinstance(hard, Mapping) or len(hard) != 1 or not str(next(iter(hard))).startswith(_PREFIX):
        raise wrong("spec.hard", hard, f"one resource such as {_PREFIX}nvidia.com/gpu")
    key, text = next(iter(hard.items()))
    try:
        gpus = whole_gpus(text)
    except ValueError:
        raise wrong(f"spec.hard[{key}]", text, "a whole number of GPUs") from None
    return Cap(namespace, str(key).removeprefix(_PREFIX), gpus, _borrow_classes(spec, wrong))


def _section(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = raw.get(name)
    return found if isinstance(found, Mapping) else {}


def _borrow_classes(spec: Mapping[str, Any], wrong: Any) -> tuple[str, ...]:
    expressions = _section(spec, "scopeSelector").get("matchExpressions")
    only = expressions[0] if isinstance(expressions, list) and len(expressions) == 1 else None
    one = only if isinstance(only, Mapping) else {}
    values = one.get("values")
    named = values if isinstance(values, list) else []
    if one.get("scopeName") != "PriorityClass" or one.get("operator") != "In" or not named:
        raise wrong("spec.scopeSelector", expressions, "PriorityClass In [the borrow class]")
    return tuple(str(value) for value in named)


def targets(caps: Sequence[Cap], picture: Picture, site: Site) -> tuple[Target, ...]:
    """Each own cap with its baseline and what the cluster shows; its pool and tenant are those of its namespace."""
    found: list[Target] = []
    for cap in caps:
        for pool, tenant in _users(cap, picture, site):
            found.append(_target(cap, pool, tenant, picture))
    return tuple(sorted(found, key=lambda target: (target.name, target.pool)))


def _users(cap: Cap, picture: Picture, site: Site) -> list[tuple[Pool, Tenant]]:
    """The one tenant and pool that a cap serves; a native tenant has one namespace and one pool."""
    space = picture.namespaces.get(cap.namespace)
    labels = space.labels if space is not None else {}
    return [
        (pool, tenant)
        for tenant in site.tenants
        if tenant.members.claim(cap.namespace, labels) is not None
        for entitlement in tenant.entitlements
        if (pool := site.pool(entitlement.pool)) is not None
        and pool.engine is Engine.NATIVE
        and pool.resource == cap.resource
    ]


def _target(cap: Cap, pool: Pool, tenant: Tenant, picture: Picture) -> Target:
    quota = _quota(cap, picture)
    observed: Reading[int]
    if "resourcequotas" in picture.unreadable:
        observed = Unknown(picture.unreadable["resourcequotas"])
    elif quota is None or cap.resource not in quota.hard:
        observed = Unknown(f"ResourceQuota {cap.name} does not limit {cap.resource}: apply the baseline")
    else:
        observed = Known(quota.hard[cap.resource], picture.age_seconds)
    foreign = sorted(quota.spec_managers - OUR_MANAGERS) if quota is not None else []
    return Target(
        name=cap.name,
        pool=pool.name,
        tenant=tenant.name,
        baseline=cap.gpus,
        observed=observed,
        change_ids=tuple(mark.id for mark in marks_of(cap.name, quota.annotations)) if quota is not None else (),
        foreign_manager=foreign[0] if foreign else None,
        limit=sum(node.gpus for node in pool_nodes(picture, pool)),
    )


def _quota(cap: Cap, picture: Picture) -> ResourceQuota | None:
    for quota in picture.resource_quotas:
        if (quota.namespace, quota.name) == (cap.namespace, CAP_NAME):
            return quota
    return None


def manifest(cap: Cap, own: Sequence[Target], changes: Sequence[Change]) -> dict[str, Any]:
    """The own cap at the level that the ledger asks for, marked with the changes in force on it."""
    levels = [level(target, changes) for target in own if target.name == cap.name]
    return cap_manifest(cap, levels[0] if levels else cap.gpus, annotations_for(cap.name, changes))


def cap_manifest(cap: Cap, gpus: int, annotations: Mapping[str, str]) -> dict[str, Any]:
    """An own cap as it is applied."""
    metadata: dict[str, Any] = {"name": CAP_NAME, "namespace": cap.namespace, "labels": MANAGED_BY}
    if annotations:
        metadata["annotations"] = dict(annotations)
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": list(cap.borrow_classes)}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata,
        "spec": {"hard": {f"{_PREFIX}{cap.resource}": str(gpus)}, "scopeSelector": {"matchExpressions": [scope]}},
    }


def manifest_path(cap: Cap) -> str:
    """Where the cap is applied."""
    return f"/api/v1/namespaces/{cap.namespace}/resourcequotas/{CAP_NAME}"


def caps_for(site: Site) -> tuple[Cap, ...]:
    """The caps that the documents agree on: each native tenant's floating part in its namespace."""
    found = []
    for tenant in site.tenants:
        for entitlement in tenant.entitlements:
            pool = site.pool(entitlement.pool)
            if pool is None or pool.engine is not Engine.NATIVE or pool.borrow_class is None:
                continue
            names = sorted(tenant.members.namespaces | {space for space, _ in tenant.members.local_queues})
            found += [Cap(name, pool.resource, entitlement.floating, (pool.borrow_class,)) for name in names[:1]]
    return tuple(sorted(found, key=lambda cap: cap.name))
