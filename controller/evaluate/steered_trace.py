"""A whole trace with Trimtab steering it: the same `decide()` and writes as live, at every tick that can matter.

A tick is left out when it would change nothing. Either nothing happened since one that changed nothing, nobody became
late, and no moment came that `decide()` waits for; or nothing is in force, nobody is late and nobody was evicted, so
that there is nothing to find. All others are carried out. What decides sees no run time and no checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite

from collector.assemble.capacity import SHARED_LEAF, leaf_name
from collector.model.objects import Cohort
from collector.model.tenancy import Engine, Entitlement, Members, Pool, Site, SizeClass, Tenant, Tier
from controller.actuators.sandbox import SandboxActuator
from controller.api.policy import Mode, Policy
from controller.evaluate.trace_view import TraceView
from controller.knobs import own
from controller.policy.change import Change, Stage
from controller.policy.engine import decide
from controller.policy.ledger import Ledger
from controller.policy.lending import idle_float
from controller.runtime.acting import Acting
from controller.simulate.attainment import LIMIT_SECONDS
from controller.simulate.baselines import Conditions, Placement, ranked
from controller.simulate.batch_setting import Fates, QueueQuota, Rules, Setting, served_by_priority
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import GPU, ClusterSpec, SimulatedTenant
from controller.simulate.job_table import JobTable
from controller.simulate.losses import hidden_checkpoints
from controller.simulate.packing import Packing
from controller.simulate.picture import own_cohort, picture_of
from controller.simulate.shares import Share
from controller.simulate.watched import WatchedBatch

_SITE = "trace"
_CLOCK_ERROR_SECONDS = 1e-3
"""What adding up moments may be wrong by: rather look too early."""


@dataclass(frozen=True, slots=True)
class Steering:
    """What steers: a policy, and how long each tier may wait. Without tiers the usual limits hold."""

    policy: Policy
    name: str = "trimtab"
    """What people called it."""
    tiers: tuple[Tier, ...] = ()


def usual_tiers(shares: Sequence[Share]) -> tuple[Tier, ...]:
    """The tiers that shares name, with the usual limits for every size; a tier without one is not judged."""
    ranks = {share.tier: share.rank for share in shares}
    sizes = [size for size in SizeClass if size is not SizeClass.RESERVATION]
    return tuple(
        Tier(name, rank, dict.fromkeys(sizes, LIMIT_SECONDS[name]) if name in LIMIT_SECONDS else {})
        for name, rank in sorted(ranks.items())
    )


def site_of(shares: Sequence[Share], tiers: Sequence[Tier]) -> Site:
    """The documents of a simulated trace: one Kueue pool, a namespace for each tenant."""
    pool = Pool(_SITE, GPU, {}, Engine.KUEUE, flavor=_SITE)
    known = {tier.name for tier in tiers}
    missing = tuple(Tier(name, 0, {}) for name in sorted({share.tier for share in shares} - known))
    tenants = tuple(
        Tenant(
            share.tenant,
            share.tier,
            Members(frozenset({share.tenant})),
            (Entitlement(_SITE, share.guarantee, share.floating, share.burst, share.ceiling),),
        )
        for share in shares
    )
    return Site(_SITE, (pool,), (*tiers, *missing), tenants)


def most_steered_gpus(shares: Sequence[Share], conditions: Conditions) -> Mapping[str, int]:
    """Tenant → the largest gang that starts even if no float is moved: its own quota and all guarantees of others."""
    lent = sum(share.guarantee for share in shares)
    most = {share.tenant: share.floating + lent for share in shares}
    if conditions.placement is Placement.NODES:
        most = {tenant: gpus - gpus % conditions.gpus_per_node for tenant, gpus in most.items()}
    ceilings = {share.tenant: share.ceiling for share in shares if share.ceiling is not None}
    return {tenant: min(gpus, ceilings.get(tenant, gpus)) for tenant, gpus in most.items()}


class SteeredTrace:
    """A running trace and the loop that steers its floats, in mode Enforce whatever the policy says."""

    def __init__(self, jobs: JobTable, shares: Sequence[Share], conditions: Conditions, steering: Steering) -> None:
        self._shares = shares
        jobs = ranked(jobs, shares)
        self._policy = replace(steering.policy, mode=Mode.ENFORCE, paused=False)
        capacity, size = sum(share.quota for share in shares), conditions.gpus_per_node
        nodes = Packing(capacity // size, size) if conditions.placement is Placement.NODES else None
        self._site = site_of(shares, steering.tiers or usual_tiers(shares))
        self._view = TraceView(jobs, self._site, capacity, size, nodes)
        self._batch = WatchedBatch(
            jobs,
            Setting(
                [_quota(share, share.floating) for share in shares],
                range(len(shares)),
                Rules(restart_seconds=conditions.restart_seconds),
                None if nodes is None else [nodes] * len(shares),
            ),
            served_by_priority(jobs),
            lambda row: hidden_checkpoints(conditions.seed, row),
            self._view.limits,
        )
        tenants = tuple(SimulatedTenant(share.tenant, share.guarantee, share.floating) for share in shares)
        self._twin = Cluster(ClusterSpec(_SITE, 0, tenants), 0.0)
        """Holds the own Cohorts with their marks; no job is ever handed in there."""
        self._floats = [share.floating for share in shares]
        self._picture = picture_of(self._twin, 0.0)
        self._baseline = own.baseline_for(self._site, self._picture, {_SITE: 0})
        self._targets = own.targets(self._baseline, self._picture, self._site)
        self._actuator = SandboxActuator(self)
        self._ledger = Ledger()
        self._changes: set[str] = set()
        self._at_rest, self._evictions = False, 0
        """Whether the last look found nothing and nothing is in force, and how many evictions it saw."""
        self._settled: tuple[Change, ...] | None = self._ledger.changes
        """The changes of which the last tick found nothing left to write."""
        self._lends_until = -inf
        """Before this moment loans alone are in force, and time changes nothing about them."""
        self._still_until = -inf
        """Before this moment a tick would change nothing if nothing happens."""
        tick = self._policy.cadence.tick_seconds
        self._next_tick = ceil(jobs.submit_seconds[0] / tick) * tick if len(jobs) else inf

    @property
    def now(self) -> float:
        """The trace's clock."""
        return self._batch.now

    @property
    def fates(self) -> Fates:
        """What became of each job so far."""
        return self._batch.fates

    @property
    def changes(self) -> int:
        """Changes made so far."""
        return len(self._changes)

    @property
    def ledger(self) -> Ledger:
        """What the loop remembers: the changes in force, and those that ended lately."""
        return self._ledger

    def advance(self, until: float = inf) -> None:
        """Let time pass, by default until all is done, and decide on the way."""
        while self._next_tick <= until and self._batch.next_moment() < inf:
            self._batch.advance(self._next_tick)
            self._tick()
            self._next_tick = self._tick_after(min(self._still_until, self._batch.next_moment()))
        self._batch.advance(until)

    def _tick_after(self, moment: float) -> float:
        """The next tick, or the first one that is not before the moment."""
        tick = self._policy.cadence.tick_seconds
        following = self._next_tick + tick
        return max(following, ceil((moment - _CLOCK_ERROR_SECONDS) / tick) * tick) if isfinite(moment) else following

    def _tick(self) -> None:
        evictions = self._batch.evictions
        if self._at_rest and not self._batch.anybody_late() and evictions == self._evictions:
            self._still_until = self._batch.late_next()
            return
        if self._only_lends(evictions):
            return
        snapshot = self._view.snapshot(self._batch, self._floats, self._level(SHARED_LEAF), self._picture)
        before = self._ledger
        outcome = decide(snapshot, self._policy, Mode.ENFORCE, before, self._targets)
        self._evictions, self._ledger = evictions, outcome.ledger
        if outcome.ledger.changes is not self._settled:  # else all of it is written already
            self._act(outcome.ledger)
        changed = self._ledger != before
        self._lends_until = -inf if changed or not all(map(_is_calm, self._ledger.active)) else outcome.wake_at
        self._at_rest = not changed and not before.active and not outcome.findings
        self._still_until = -inf if changed else min(outcome.wake_at, self._batch.late_next())

    def _only_lends(self, evictions: int) -> bool:
        """Whether all that is in force are loans that nobody asks back, and no float stands idle that could be lent."""
        lending = self._policy.lending
        if self.now >= self._lends_until or lending is None:
            return False
        if evictions != self._evictions or self._batch.anybody_late():
            return False
        return not any(
            idle_float(self._batch.used(queue), min(self._level(leaf_name(share.tenant)), share.floating), lending)
            >= lending.least
            for queue, share in enumerate(self._shares)
        )

    def _act(self, decided: Ledger) -> None:
        acting = Acting(self._actuator, self, self, self._baseline, self._picture, self._site, lambda: self.now)
        self._ledger = acting.bring_about(decided, self._targets)
        self._changes.update(change.id for change in self._ledger.changes if change.applied_at is not None)
        self._settled = None if acting.written or acting.problems else self._ledger.changes
        if acting.written:
            self._picture = picture_of(self._twin, 0.0)
            self._targets = own.targets(self._baseline, self._picture, self._site)

    def _level(self, leaf: str) -> int:
        return self._twin.tree.nodes[leaf].nominal

    # What the actuator and the writer of objects need: `Sandbox`, `LedgerWriter`, `Fence`.

    def own_cohort(self, name: str) -> Cohort | None:
        """One of Trimtab's own Cohorts; None for a name that is none."""
        known = name.startswith("trimtab-") and name in self._twin.tree.nodes
        return own_cohort(self._twin, name) if known else None

    def apply_leaf(self, name: str, gpus: int, annotations: Mapping[str, str]) -> int:
        """Set it, there and in the running trace; its new version."""
        version = self._twin.apply_leaf(name, gpus, annotations)
        if name == SHARED_LEAF:
            self._batch.set_shared(gpus)
        for queue, share in enumerate(self._shares):
            if name == leaf_name(share.tenant):
                self._floats[queue] = gpus
                self._batch.set_quota(queue, _quota(share, gpus))
        return version

    def save(self, ledger: Ledger) -> None:
        """Nothing to keep: the run ends with the process."""

    def check(self) -> None:
        """Nobody else writes here."""


def _is_calm(change: Change) -> bool:
    return change.lends and change.stage is Stage.KEPT


def _quota(share: Share, floating: int) -> QueueQuota:
    """A float is its tenant's reserve; what is guaranteed is lent while it is idle."""
    return QueueQuota(share.guarantee + floating, floating, inf if share.ceiling is None else share.ceiling)
