"""The site of a demonstration: nodes, tenants, documents, baseline and storage. Plain values; does no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from collector.assemble.capacity import SHARED_LEAF, leaf_name
from collector.model.objects import RbdVolume
from controller.knobs.kueue import Leaf
from controller.knobs.own import Baseline, baseline_text
from controller.simulate.cluster_spec import GPU, ClusterSpec, SimulatedTenant, Timings, tenant_cohort

POOL: Final = "h100"
PRODUCT: Final = "NVIDIA-H100-80GB-HBM3"
NODE_LABELS: Final = {"nvidia.com/gpu.product": PRODUCT}
FAST, CAPACITY = "fast", "capacity"
"""Storage pools: on flash, and on disks."""


@dataclass(frozen=True, slots=True)
class DemoTenant:
    """A tenant of the site. GPUs; `storage` is the pool that its volume lies in."""

    name: str
    tier: str
    floor: int
    floating: int
    burst: int
    storage: str = FAST


@dataclass(frozen=True, slots=True)
class Scenery:
    """Everything that stands when the curtain rises."""

    name: str
    nodes: int
    tenants: tuple[DemoTenant, ...]
    shared: int

    def cluster_spec(self, time_scale: float) -> ClusterSpec:
        """The cluster, its times divided by `time_scale`."""
        tenants = tuple(SimulatedTenant(one.name, one.floor, one.floating) for one in self.tenants)
        return ClusterSpec(
            self.name,
            self.nodes,
            tenants,
            self.shared,
            node_labels=NODE_LABELS,
            timings=Timings().scaled(time_scale),
            volumes=tuple(_volume(one) for one in self.tenants),
        )

    def documents_text(self) -> str:
        """Policy and tenants, as a person would write them."""
        return str(yaml.safe_dump_all([self._policy(), *self._tenants()], sort_keys=False))

    def baseline_text(self) -> str:
        """The own Cohorts as agreed, in the form that people keep in Git."""
        leaves = [
            Leaf(leaf_name(one.name), tenant_cohort(one.name), {(self.name, GPU): one.floating}) for one in self.tenants
        ]
        leaves.append(Leaf(SHARED_LEAF, self.name, {(self.name, GPU): self.shared}))
        return baseline_text(Baseline(tuple(sorted(leaves, key=lambda leaf: leaf.name))))

    def _policy(self) -> dict[str, Any]:
        pool = {"name": POOL, "resource": GPU, "nodeSelector": NODE_LABELS, "engine": "kueue", "flavor": self.name}
        spec = {
            "mode": "Enforce",
            "pools": [pool],
            "tiers": [
                {"name": "critical", "rank": 100, "startWithin": {"single-node": "10m", "small-gang": "30m"}},
                {"name": "standard", "rank": 50, "startWithin": {"single-node": "20m", "small-gang": "1h"}},
                {"name": "best-effort", "rank": 0},
            ],
            "budgets": {
                "changesPerDay": 48,
                "tenantsPerHour": 2,
                "addedEvictionsPerDay": 60,
                "addedLostGpuHoursPerDay": 120,
            },
            "cadence": {"tick": "15m", "confirmTicks": 2, "dwell": "24m"},
            "revert": {"style": "soft", "ttl": "2h"},
        }
        return _document("Policy", "default", spec)

    def _tenants(self) -> Iterator[dict[str, Any]]:
        waits = {"name": "start", "kind": "queue-wait", "target": 0.95, "window": "28d"}
        data = {"name": "data", "kind": "storage-latency", "storage": "rbd", "within": "50ms", "target": 0.99}
        for one in self.tenants:
            pool = {"pool": POOL, "guarantee": one.floor, "floating": one.floating, "burst": one.burst}
            objectives = (
                [{**data, "quantile": 0.99}] if one.tier == "best-effort" else [waits, {**data, "quantile": 0.99}]
            )
            members = {"namespaces": [one.name]}
            spec = {"tier": one.tier, "members": members, "pools": [pool], "objectives": objectives}
            yield _document("Tenant", one.name, spec)


def _document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "trimtab.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _volume(tenant: DemoTenant) -> RbdVolume:
    return RbdVolume(f"pvc-{tenant.name}", tenant.name, "datasets", image_of(tenant))


def image_of(tenant: DemoTenant) -> tuple[str, str, str]:
    """(pool, namespace inside the pool, image) of the tenant's volume."""
    return tenant.storage, "", f"csi-vol-{tenant.name}"


DEMO_SITE: Final = Scenery(
    name="demo",
    nodes=8,
    tenants=(
        DemoTenant("vision", "critical", floor=8, floating=4, burst=24),
        DemoTenant("nlp", "standard", floor=16, floating=4, burst=32),
        DemoTenant("speech", "standard", floor=8, floating=4, burst=24, storage=CAPACITY),
        DemoTenant("research", "best-effort", floor=4, floating=0, burst=32),
    ),
    shared=16,
)
"""64 GPUs: guarantees and floats hold 48, 16 are lent to everybody. Whoever borrows fills them first."""
