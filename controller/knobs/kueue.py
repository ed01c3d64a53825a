"""The Kueue knob: Trimtab's own leaf Cohorts, which hold each tenant's floating part and what is lent to all. Pure.

No queue hangs on a leaf, so losing one cuts nobody off. A Cohort's `resourceGroups` is one list that is written whole,
so an apply always names every flavor of the leaf. The baseline is a manifest that people keep; it says which leaves
exist, where they hang, and what they hold when no change is in force.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collector.assemble.capacity import SHARED_LEAF, leaf_name
from collector.model.objects import FlavorResource, Picture
from collector.model.quantities import whole_gpus
from collector.model.reading import Known, Reading, Unknown
from collector.model.tenancy import Engine, Pool, Site
from controller.api.errors import InputError, Mistake
from controller.api.object_names import is_object_name
from controller.api.shown_values import told
from controller.knobs.marks import MANAGED_BY, annotations_for, marks_of
from controller.policy.change import Change
from controller.policy.targets import Target, level

API_VERSION = "kueue.x-k8s.io/v1beta2"
OWN_PREFIX = "trimtab-"
OUR_MANAGERS = frozenset({"trimtab", "kueue", "kueue-admission"})
"""Field managers whose part in the spec of an own Cohort is no quarrel."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One own Cohort as the baseline describes it."""

    name: str
    parent: str
    amounts: Mapping[FlavorResource, int]

    @property
    def tenant(self) -> str | None:
        """Whose floating part it holds; None: lent to everybody."""
        return None if self.name == SHARED_LEAF else self.name.removeprefix(OWN_PREFIX)


def read_leaf(document: Mapping[str, Any], place: str) -> Leaf:
    """A leaf of the baseline manifest. Raises InputError that names the field."""

    def wrong(field: str, value: object, expected: str) -> InputError:
        return InputError((Mistake(f"{place}: {field}", told(value), expected),))

    metadata, spec = document.get("metadata"), document.get("spec")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if not isinstance(name, str) or not name.startswith(OWN_PREFIX) or not is_object_name(name):
        raise wrong("metadata.name", name, f"the name of an object, one that begins with {OWN_PREFIX}")
    parent = spec.get("parentName") if isinstance(spec, Mapping) else None
    if not isinstance(parent, str) or not is_object_name(parent):
        raise wrong("spec.parentName", parent, "the name of the Cohort that this leaf hangs on")
    groups = spec.get("resourceGroups") if isinstance(spec, Mapping) else None
    expected = "flavors with resources, each with a whole nominalQuota and no limits"
    try:
        return Leaf(name, parent, _amounts(groups))
    except ValueError as error:
        raise wrong("spec.resourceGroups", str(error), expected) from None
    except KeyError as error:
        raise wrong("spec.resourceGroups", f"no {error.args[0]}", expected) from None
    except (AttributeError, TypeError):
        raise wrong("spec.resourceGroups", groups, expected) from None


def _amounts(groups: Any) -> Mapping[FlavorResource, int]:
    """Raises AttributeError, KeyError, TypeError, ValueError. Nothing may stand here that an apply would drop."""
    amounts: dict[FlavorResource, int] = {}
    for group in groups:
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                key = str(flavor["name"]), str(resource["name"])
                if key in amounts:
                    raise ValueError(f"{key[1]} of flavor {key[0]} stands there twice")
                if extra := sorted(resource.keys() - {"name", "nominalQuota"}):
                    raise ValueError(f"{extra[0]} of {key[1]} of flavor {key[0]}")
                amounts[key] = whole_gpus(resource["nominalQuota"])
    return amounts


def targets(leaves: Sequence[Leaf], picture: Picture, site: Site) -> tuple[Target, ...]:
    """Each pool's part of each own Cohort, with its baseline and what the cluster shows."""
    pools = [pool for pool in site.pools if pool.engine is Engine.KUEUE]
    found = [
        _target(leaf, pool, picture)
        for leaf in leaves
        for pool in pools
        if (pool.flavor or "", pool.resource) in leaf.amounts
    ]
    return tuple(sorted(found, key=lambda target: (target.name, target.pool)))


def _target(leaf: Leaf, pool: Pool, picture: Picture) -> Target:
    key = (pool.flavor or "", pool.resource)
    cohort = picture.cohorts.get(leaf.name)
    observed: Reading[int]
    if "cohorts" in picture.unreadable:
        observed = Unknown(picture.unreadable["cohorts"])
    elif cohort is None or key not in cohort.quotas:
        observed = Unknown(f"Cohort {leaf.name} does not hold {key[1]} of flavor {key[0]}: apply the baseline")
    else:
        observed = Known(cohort.quotas[key].nominal, picture.age_seconds)
    foreign = sorted(cohort.spec_managers - OUR_MANAGERS) if cohort is not None else []
    return Target(
        name=leaf.name,
        pool=pool.name,
        tenant=leaf.tenant,
        baseline=leaf.amounts[key],
        observed=observed,
        change_ids=tuple(mark.id for mark in marks_of(leaf.name, cohort.annotations)) if cohort is not None else (),
        foreign_manager=foreign[0] if foreign else None,
    )


def manifest(leaf: Leaf, site: Site, own: Sequence[Target], changes: Sequence[Change]) -> dict[str, Any]:
    """The whole own Cohort at the levels that the ledger asks for, marked with the changes in force on it."""
    amounts = dict(leaf.amounts)
    for target in own:
        pool = site.pool(target.pool)
        if target.name == leaf.name and pool is not None:
            amounts[pool.flavor or "", pool.resource] = level(target, changes)
    return cohort_manifest(leaf, amounts, annotations_for(leaf.name, changes))


def cohort_manifest(
    leaf: Leaf, amounts: Mapping[FlavorResource, int], annotations: Mapping[str, str]
) -> dict[str, Any]:
    """An own Cohort as it is applied. Quantities are canonical text, so that no GitOps tool sees a difference."""
    metadata: dict[str, Any] = {"name": leaf.name, "labels": MANAGED_BY}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {
        "apiVersion": API_VERSION,
        "kind": "Cohort",
        "metadata": metadata,
        "spec": {"parentName": leaf.parent, "resourceGroups": _resource_groups(amounts)},
    }


def _resource_groups(amounts: Mapping[FlavorResource, int]) -> list[dict[str, Any]]:
    """One group per set of resources that share flavors: Kueue wants each resource in one group only."""
    by_flavor: dict[str, dict[str, int]] = defaultdict(dict)
    for (flavor, resource), amount in sorted(amounts.items()):
        by_flavor[flavor][resource] = amount
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for flavor, resources in by_flavor.items():
        entries = [{"name": name, "nominalQuota": str(amount)} for name, amount in resources.items()]
        groups[tuple(resources)].append({"name": flavor, "resources": entries})
    return [{"coveredResources": list(covered), "flavors": flavors} for covered, flavors in sorted(groups.items())]


def manifest_path(name: str) -> str:
    """Where the own Cohort of that name is applied."""
    return f"/apis/{API_VERSION}/cohorts/{name}"


def leaves_for(site: Site, picture: Picture, shared: Mapping[str, int]) -> tuple[Leaf, ...]:
    """The leaves that the documents agree on: each tenant's float under its own Cohort, the shared part beside them.

    `shared`: pool → GPUs lent to everybody. Raises InputError when a tenant's own Cohort can not be found.
    """
    amounts: dict[str, dict[FlavorResource, int]] = defaultdict(dict)
    parents: dict[str, str] = {}
    for tenant in site.tenants:
        for entitlement in tenant.entitlements:
            pool = site.pool(entitlement.pool)
            if pool is None or pool.engine is not Engine.KUEUE:
                continue
            name = leaf_name(tenant.name)
            parents[name] = _tenant_cohort(tenant.name, site, picture)
            amounts[name][pool.flavor or "", pool.resource] = entitlement.floating
    roots = {picture.cohorts[p].parent for p in parents.values() if p in picture.cohorts} - {None}
    for pool_name, gpus in shared.items():
        pool = site.pool(pool_name)
        if pool is None or pool.engine is not Engine.KUEUE or len(roots) != 1:
            expected = "a Kueue pool of the policy, with tenants under one common Cohort"
            raise InputError((Mistake("shared", f"{pool_name}={gpus}", expected),))
        parents[SHARED_LEAF] = str(next(iter(roots)))
        amounts[SHARED_LEAF][pool.flavor or "", pool.resource] = gpus
    return tuple(Leaf(name, parents[name], amounts[name]) for name in sorted(amounts))


def _tenant_cohort(tenant: str, site: Site, picture: Picture) -> str:
    owner = site.tenant(tenant)
    for queue in picture.local_queues:
        space = picture.namespaces.get(queue.namespace)
        claimed = owner is not None and space is not None and owner.members.claim(space.name, space.labels)
        found = picture.cluster_queues.get(queue.cluster_queue)
        if claimed and found is not None and found.cohort is not None:
            return found.cohort
    place = f"Tenant {tenant}"
    raise InputError((Mistake(place, "no ClusterQueue in a Cohort", "a LocalQueue whose ClusterQueue has a Cohort"),))
