"""A whole trace on plain Kubernetes with Trimtab moving the borrow caps: the same `decide()` as live, at every tick.

Writes are carried out here without manifests: an own quota takes its level at once and shows it at the next look. What
decides sees no run time of a job and no checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf

from collector.model.reading import Known
from collector.model.tenancy import Engine, Entitlement, Members, Pool, Site, Tenant, Tier
from controller.api.policy import Mode, Policy
from controller.evaluate.native_view import NativeView
from controller.policy.engine import decide
from controller.policy.ledger import Ledger
from controller.policy.targets import Target, advanced, by_key, level, moved, recorded
from controller.simulate.batch_setting import Fates, Saves
from controller.simulate.job_table import JobTable
from controller.simulate.native import NativeBatch, NativeSetting, WorkClass

_SITE, _GPU, _BORROW = "trace", "nvidia.com/gpu", "borrow"


@dataclass(frozen=True, slots=True)
class PlainCluster:
    """A cluster without Kueue: what each tenant is guaranteed, and how jobs get their class."""

    quotas: Sequence[float]
    """GPUs of normal work by tenant, in the order of the job table; infinite: no quota."""
    capacity: int
    classes: Sequence[WorkClass] | None = None
    """By row; None: normal where the quota has room, else borrow."""
    gpus_per_node: int = 8
    on_nodes: bool = False
    restart_seconds: float = 30.0

    def setting(self, cap: float = 0.0) -> NativeSetting:
        """The same for the engine, all caps at that level."""
        return NativeSetting(
            self.quotas,
            [cap] * len(self.quotas),
            self.capacity,
            self.classes,
            self.gpus_per_node if self.on_nodes else None,
            self.restart_seconds,
        )


def site_of(jobs: JobTable, cluster: PlainCluster) -> Site:
    """The documents: one native pool, a namespace for each tenant; no work has a limit, so that no wait is judged."""
    pool = Pool(_SITE, _GPU, {}, Engine.NATIVE, borrow_class=_BORROW)
    tenants = tuple(
        Tenant(
            name,
            "standard",
            Members(frozenset({name})),
            (Entitlement(_SITE, int(min(quota, cluster.capacity)), 0, cluster.capacity),),
        )
        for name, quota in zip(jobs.tenants, cluster.quotas, strict=True)
    )
    return Site(_SITE, (pool,), (Tier("standard", 0, {}),), tenants)


class SteeredNative:
    """A running trace and the loop that moves its caps."""

    def __init__(self, jobs: JobTable, cluster: PlainCluster, policy: Policy, saves: Saves | None = None) -> None:
        self._policy, self._capacity = policy, cluster.capacity
        self._batch = NativeBatch(jobs, cluster.setting(), saves)
        site = site_of(jobs, cluster)
        self._view = NativeView(self._batch, site, cluster.capacity, cluster.gpus_per_node)
        self._caps = [0] * len(jobs.tenants)
        self._targets = tuple(
            Target(f"{name}/trimtab-cap", _SITE, name, 0, Known(0), limit=cluster.capacity) for name in jobs.tenants
        )
        self._ledger = Ledger()
        tick = policy.cadence.tick_seconds
        self._next_tick = ceil(jobs.submit_seconds[0] / tick) * tick if len(jobs) else inf
        self.changes = self.moves = 0
        """Changes begun, and how often a cap was moved."""
        self.bounded = True
        """Whether every cap was at all times between nothing and the pool, and all together no more than it has."""

    @property
    def now(self) -> float:
        """The trace's clock."""
        return self._batch.now

    @property
    def fates(self) -> Fates:
        """What became of each job so far."""
        return self._batch.fates

    def advance(self, until: float = inf) -> None:
        """Let time pass, by default until all is done, and decide on the way."""
        tick = self._policy.cadence.tick_seconds
        while self._next_tick <= until and not self._batch.is_done():
            self._batch.advance(self._next_tick)
            self._tick()
            self._next_tick += tick
        self._batch.advance(until)

    def _tick(self) -> None:
        outcome = decide(self._view.snapshot(self._caps), self._policy, Mode.ENFORCE, self._ledger, self._targets)
        if outcome.ledger.changes == self._ledger.changes:
            self._ledger = outcome.ledger
            return
        before = {change.id for change in self._ledger.changes}
        self.changes += sum(1 for change in outcome.ledger.changes if change.id not in before)
        self._ledger = self._brought_about(outcome.ledger)
        for tenant, target in enumerate(self._targets):
            cap = target.observed.value if isinstance(target.observed, Known) else 0
            if cap != self._caps[tenant]:
                self._caps[tenant] = cap
                self._batch.set_cap(tenant, cap)
                self.moves += 1
        self.bounded = self.bounded and min(self._caps) >= 0 and sum(self._caps) <= self._capacity

    def _brought_about(self, ledger: Ledger) -> Ledger:
        """Intents become levels, levels are seen, what was seen is recorded."""
        places = by_key(self._targets)
        changes = tuple(advanced(change, places, ledger.changes) for change in ledger.changes)
        self._targets = tuple(
            replace(
                target,
                observed=Known(level(target, changes)),
                change_ids=tuple(change.id for change in changes if moved(change, target.name)),
            )
            for target in self._targets
        )
        places = by_key(self._targets)
        seen = (recorded(change, places, changes, self.now) for change in changes)
        # What ended well is looked at by people alone.
        return replace(ledger, changes=tuple(one for one in seen if one.active or not one.standing))
