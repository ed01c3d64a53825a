"""A simulated cluster and the loop that steers it, in memory: the same looks, decisions and writes as live.

The clock is the cluster's own. What Prometheus would know comes from a sensor model that the recipe brings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from collector.assemble.assemble import assemble
from collector.assemble.capacity import SHARED_LEAF
from collector.assemble.clocks import WaitClocks
from collector.model.objects import Cohort
from collector.model.snapshot import Evidence, Snapshot
from collector.model.tenancy import Engine, Entitlement, Members, Objective, Pool, Site, Tenant, Tier
from controller.actuators.sandbox import SandboxActuator
from controller.api.policy import Policy
from controller.evaluate.score import SHIPPED
from controller.knobs import own
from controller.policy.engine import Outcome, decide
from controller.policy.ledger import Ledger
from controller.runtime.acting import Acting, Written
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import GPU, ClusterSpec
from controller.simulate.picture import own_cohort, picture_of

Sensors: TypeAlias = Callable[[Snapshot | None, float], Evidence]
"""The last tick's snapshot and the time → what Prometheus tells now."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """What a simulated tenant was promised beside its quota."""

    tier: str
    burst: int | None = None
    objectives: tuple[Objective, ...] = ()


def site_of(spec: ClusterSpec, tiers: tuple[Tier, ...], agreed: Mapping[str, Agreed]) -> Site:
    """The documents of a simulated cluster: one pool of its name, each tenant with the namespace of its name."""
    pool = Pool(spec.name, GPU, spec.node_labels, Engine.KUEUE, flavor=spec.name)
    tenants = tuple(
        Tenant(
            one.name,
            agreed[one.name].tier,
            Members(frozenset({one.name})),
            (Entitlement(spec.name, one.floor, one.floating, agreed[one.name].burst),),
            agreed[one.name].objectives,
        )
        for one in spec.tenants
    )
    return Site(spec.name, (pool,), tiers, tenants)


def nothing_known(last: Snapshot | None, now: float) -> Evidence:
    """Sensors of a world in which nothing but scheduling goes wrong."""
    del last, now
    return Evidence()


@dataclass(slots=True)
class _Sandbox:
    """The cluster's own Cohorts, as the actuator wants them."""

    cluster: Cluster

    def own_cohort(self, name: str) -> Cohort | None:
        """One of Trimtab's own Cohorts; None for a name that is none."""
        known = name.startswith("trimtab-") and name in self.cluster.tree.nodes
        return own_cohort(self.cluster, name) if known else None

    def apply_leaf(self, name: str, gpus: int, annotations: Mapping[str, str]) -> int:
        """Set it; its new version."""
        return self.cluster.apply_leaf(name, gpus, annotations)


class Steered:
    """One run. `tick` looks, decides and writes; between two of them the recipe lets time pass on the cluster."""

    def __init__(
        self, cluster: Cluster, site: Site, sensors: Sensors = nothing_known, policy: Policy = SHIPPED
    ) -> None:
        self.cluster, self.site, self.policy, self._sensors = cluster, site, policy, sensors
        self.baseline = own.baseline_for(
            site, picture_of(cluster, cluster.now), {cluster.spec.name: cluster.spec.shared}
        )
        self.ledger = Ledger()
        self.last: Snapshot | None = None
        """What the last tick saw."""
        self.written: list[tuple[float, Written]] = []
        self._clocks = WaitClocks()
        self._actuator = SandboxActuator(_Sandbox(cluster))

    def tick(self) -> Outcome:
        """One tick at the cluster's time."""
        now, picture = self.cluster.now, picture_of(self.cluster, self.cluster.now)
        evidence = self._sensors(self.last, now)
        self.last, self._clocks = assemble(picture, self.site, evidence, self._clocks, now)
        targets = own.targets(self.baseline, picture, self.site)
        outcome = decide(self.last, self.policy, self.policy.mode, self.ledger, targets)
        acting = Acting(self._actuator, self, self, self.baseline, picture, self.site, lambda: now)
        self.ledger = acting.bring_about(outcome.ledger, targets)
        self.written += ((now, one) for one in acting.written)
        return outcome

    def level(self, tenant: str | None) -> int:
        """GPUs that a tenant's own Cohort holds now; None: the part lent to everybody."""
        return self.cluster.tree.nodes[SHARED_LEAF if tenant is None else f"trimtab-{tenant}"].nominal

    def save(self, ledger: Ledger) -> None:
        """Nothing to keep: the run ends with the process. Part of `LedgerWriter`."""

    def check(self) -> None:
        """Nobody else writes here. Part of `Fence`."""
