"""Two own Cohorts as agreed, and documents that know one of them: what the tests of the running controller move."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from controller.knobs import own
from controller.knobs.kueue import Leaf
from controller.knobs.own import Baseline
from tests.testbed.api import KubeApi
from tests.testbed.cluster import GPU

COHORTS = "/apis/kueue.x-k8s.io/v1beta2/cohorts"
KUEUE = "kueue.x-k8s.io/v1beta2"
KEY = ("rt", GPU)
AGREED = Baseline((Leaf("trimtab-rt-a", "rt-team-a", {KEY: 4}), Leaf("trimtab-rt-b", "rt-team-b", {KEY: 8})))
DOCUMENTS = """
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  mode: Enforce
  pools: [{name: h100, resource: nvidia.com/gpu, nodeSelector: {site: rt}, engine: kueue, flavor: rt}]
  tiers: [{name: standard, rank: 50, startWithin: {single-node: 5m}}]
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: rt-a}
spec: {tier: standard, members: {namespaces: [rt-a]}, pools: [{pool: h100, guarantee: 0, floating: 4}]}
"""


def nominal(admin: KubeApi, name: str) -> int:
    """GPUs that an own Cohort holds."""
    groups = admin.get(KUEUE, "Cohort", name)["spec"]["resourceGroups"]
    return int(groups[0]["flavors"][0]["resources"][0]["nominalQuota"])


def with_gpus(leaf: Leaf, gpus: int) -> dict[str, Any]:
    """The manifest of an own Cohort that holds so many."""
    return own.baseline_manifest(replace(leaf, amounts={KEY: gpus}))[1]
