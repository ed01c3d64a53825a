"""Service accounts, roles and bindings of an installation: who gets which of the rules in `rights`. Pure.

The Helm chart writes the same objects as templates; a test holds the two together. The janitor keeps its rights in
Observe: changes that were made under a higher ceiling must still end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from collector.assemble.capacity import SHARED_LEAF, leaf_name
from collector.model.tenancy import Engine, Site
from controller.api.policy import Mode
from controller.knobs.native import caps_for
from controller.knobs.own import Baseline
from controller.knobs.rights import (
    Rule,
    cap_rules,
    history_rules,
    home_rules,
    janitor_rules,
    reading_rules,
    steering_rules,
    volume_rules,
)

PREFIX: Final = "trimtab"
PROGRAMS: Final = ("collector", "controller", "janitor")
_RBAC: Final = "rbac.authorization.k8s.io"

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Owned:
    """What Trimtab may write: its own Cohorts by name, and the namespaces in which it has a cap."""

    cohorts: tuple[str, ...] = ()
    cap_namespaces: tuple[str, ...] = ()


def owned_by(baseline: Baseline) -> Owned:
    """The own objects that a baseline manifest names."""
    leaves = tuple(sorted(leaf.name for leaf in baseline.leaves))
    return Owned(leaves, tuple(sorted(cap.namespace for cap in baseline.caps)))


def owned_in(site: Site) -> Owned:
    """The own objects that the documents lead to, the shared Cohort among them wherever a pool is Kueue's."""
    kueue = {pool.name for pool in site.pools if pool.engine is Engine.KUEUE}
    leaves = {leaf_name(one.name) for one in site.tenants if any(part.pool in kueue for part in one.entitlements)}
    cohorts = sorted(leaves | {SHARED_LEAF}) if leaves else []
    return Owned(tuple(cohorts), tuple(cap.namespace for cap in caps_for(site)))


def role_manifests(
    namespace: str, owned: Owned, ceiling: Mode, *, ceph: bool = False, history: bool = False
) -> list[Manifest]:
    """All objects that give each program its rights, and nobody more.

    `namespace`: where Trimtab lives. `ceph`: whether the collector reads Ceph, and therefore volumes. `history`:
    whether it keeps the history, and therefore reads the ledger.
    """
    return [
        *(_account(namespace, program) for program in PROGRAMS),
        *_granted(namespace, None, "reader", reading_rules(), PROGRAMS),
        *(_granted(namespace, None, "volumes", volume_rules(), ("collector",)) if ceph else ()),
        *(_granted(namespace, namespace, "collector", history_rules(), ("collector",)) if history else ()),
        *_granted(namespace, namespace, "controller", home_rules(ceiling), ("controller",)),
        *_granted(namespace, namespace, "janitor", janitor_rules(), ("janitor",)),
        *_steering(namespace, owned, ("janitor",) if ceiling is Mode.OBSERVE else ("controller", "janitor")),
    ]


def _steering(home: str, owned: Owned, programs: Sequence[str]) -> Iterator[Manifest]:
    yield from _granted(home, None, "steering", steering_rules(owned.cohorts, Mode.ENFORCE), programs)
    for namespace in owned.cap_namespaces:
        yield from _granted(home, namespace, "cap", cap_rules(Mode.ENFORCE), programs)


def _granted(
    home: str, namespace: str | None, name: str, rules: Sequence[Rule], programs: Sequence[str]
) -> Iterator[Manifest]:
    """A role and its binding, for the whole cluster when `namespace` is None; nothing where there are no rules."""
    if not rules:
        return
    kind = "ClusterRole" if namespace is None else "Role"
    metadata = {"name": f"{PREFIX}-{name}"} | ({} if namespace is None else {"namespace": namespace})
    yield {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "rules": list(rules)}
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": metadata["name"]},
        "subjects": [
            {"kind": "ServiceAccount", "name": f"{PREFIX}-{program}", "namespace": home} for program in programs
        ],
    }


def _account(namespace: str, program: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": f"{PREFIX}-{program}", "namespace": namespace},
        "automountServiceAccountToken": False,
    }
