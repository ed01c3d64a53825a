"""The actuator of demonstrations and simulations: manifests change a simulated cluster and nothing else.

It answers as an API server would: with the object as it stands afterwards, its version and who owns its fields.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Protocol

from collector.model.objects import Cohort
from collector.parse.json_fields import ParseProblem
from collector.parse.kueue import cohort as parse_cohort
from controller.actuators.server_side_apply import FIELD_MANAGER
from controller.api.errors import ApplyError


class Sandbox(Protocol):
    """What is needed of a simulated cluster."""

    def own_cohort(self, name: str) -> Cohort | None:
        """One of Trimtab's own Cohorts as it stands; None for a name that is none."""

    def apply_leaf(self, name: str, gpus: int, annotations: Mapping[str, str]) -> int:
        """Set it; its new version."""


class SandboxActuator:
    """Writes own Cohorts of a simulated cluster."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def preview(self, path: str, manifest: Mapping[str, Any]) -> None:
        """Whether the manifest would be taken. Raises ApplyError when not."""
        self._read(path, manifest)

    def apply(self, path: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Apply the manifest; the object afterwards. Raises ApplyError."""
        wanted = self._read(path, manifest)
        gpus = sum(quota.nominal for quota in wanted.quotas.values())
        version = self._sandbox.apply_leaf(wanted.name, gpus, wanted.annotations)
        answer = copy.deepcopy(dict(manifest))
        owned = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {"f:spec": {}}}
        answer["metadata"] |= {"resourceVersion": str(version), "managedFields": [owned]}
        return answer

    def shown(self, path: str) -> dict[str, Any]:
        """No object changes between a look and an apply here: a simulated cluster has one thread."""
        raise ApplyError(path.rsplit("/", 1)[-1], "NOT_SERVED", "the simulated cluster shows its objects in pictures")

    def _read(self, path: str, manifest: Mapping[str, Any]) -> Cohort:
        """The Cohort that is asked for. It must exist, and keep its place and its one flavor."""
        name = path.rsplit("/", 1)[-1]
        present = self._sandbox.own_cohort(name)
        if present is None or manifest.get("kind") != "Cohort":
            raise ApplyError(name, "NOT_SERVED", f"the simulated cluster has no own Cohort {name}")
        metadata = {"resourceVersion": present.resource_version, **manifest.get("metadata", {})}
        try:
            wanted = parse_cohort({**manifest, "metadata": metadata})
        except ParseProblem as problem:
            raise ApplyError(name, "REJECTED", str(problem)) from problem
        if (wanted.name, wanted.parent, set(wanted.quotas)) != (name, present.parent, set(present.quotas)):
            raise ApplyError(name, "REJECTED", f"expected parent {present.parent} and quota of {set(present.quotas)}")
        return wanted
