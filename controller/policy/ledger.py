"""The ledger: active changes, what was used of each budget, how often a finding was confirmed. Pure values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter

from controller.api.policy import Budgets
from controller.policy.change import Change, Stage, Verdict
from controller.policy.evictions import EvictionMemory
from controller.policy.owners import OwnersMemory

FindingKey = tuple[str, str, str]
"""(tenant, pool, kind of finding)"""

KEEP_ENDED = 60
"""Ended changes that are kept for `explain`, beside those that budgets still count."""


@dataclass(frozen=True)  # no slots: what is asked for again and again is kept
class Ledger:
    """What the loop remembers between ticks. `changes` and `latched` survive restarts; the rest need not."""

    changes: tuple[Change, ...] = ()
    confirmations: Mapping[FindingKey, int] = field(default_factory=dict)
    """Ticks in a row in which the finding was seen."""
    latched: str = ""
    """Why nothing new may be written until a person looks (our own invariant broken, or a fight); "" when free."""
    vanished: Mapping[FindingKey, tuple[float, ...]] = field(default_factory=dict)
    """When the finding was seen last and then no more, although nothing was done about it, within the last while."""
    evictions: EvictionMemory = field(default_factory=EvictionMemory)
    """Who evicted whom lately."""
    owners: OwnersMemory = field(default_factory=OwnersMemory)
    """Native: how much the owners of each pool used lately."""

    @cached_property
    def active(self) -> tuple[Change, ...]:
        """Changes that are not ended, oldest first."""
        return tuple(change for change in self.changes if change.stage is not Stage.ENDED)

    def with_change(self, change: Change) -> Ledger:
        """The ledger with this change added, or put in the place of the one with its id."""
        kept = [item for item in self.changes if item.id != change.id]
        kept.append(change)
        kept.sort(key=attrgetter("created_at", "id"))
        return replace(self, changes=tuple(kept))

    def pruned(self, since: float) -> Ledger:
        """The ledger without the oldest of the changes that ended and were created before `since`."""
        if len(self.changes) <= KEEP_ENDED:
            return self
        old = [change for change in self.changes if not change.active and change.created_at < since]
        gone = {change.id for change in old[:-KEEP_ENDED]}
        if not gone:
            return self
        return replace(self, changes=tuple(change for change in self.changes if change.id not in gone))

    def confirmed(
        self, keys: Iterable[FindingKey], now: float, memory_seconds: float, enough: int | None = None
    ) -> Ledger:
        """Count one more tick for findings seen now; the others start from nothing, and it is noted that they went.

        What went while a change for it was in force went for that reason, which is no trembling. Beyond `enough`
        nothing is counted: a ledger that says no more than before stays the same.
        """
        seen = sorted(set(keys))
        answered = {key[:2] for key in seen} | {(change.tenant, change.pool) for change in self.active}
        went = {key for key in self.confirmations if key[:2] not in answered}
        moments = {
            key: (*self.vanished.get(key, ()), *((now,) if key in went else ())) for key in {*self.vanished, *went}
        }
        recent = {key: tuple([at for at in times if now - at < memory_seconds]) for key, times in moments.items()}
        counts = {key: self.confirmations.get(key, 0) + 1 for key in seen}
        if enough is not None:
            counts = {key: min(count, enough) for key, count in counts.items()}
        vanished = {key: times for key, times in recent.items() if times}
        if counts == self.confirmations and vanished == self.vanished:
            return self
        return replace(self, confirmations=counts, vanished=vanished)

    def unconfirmed(self) -> Ledger:
        """Nothing can be seen: every finding starts again from nothing."""
        return replace(self, confirmations={}) if self.confirmations else self

    def find(self, identifier: str) -> Change | None:
        """The change whose id begins with `identifier`, when just one does."""
        found = [change for change in self.changes if change.id.startswith(identifier)]
        return found[0] if len(found) == 1 else None

    def last_for(self, tenant: str, pool: str, *, lends: bool = False) -> Change | None:
        """The youngest change that answered a finding of this tenant in this pool, or the youngest loan of it."""
        sought = (tenant, pool, lends)
        found = [one for one in self.changes if (one.tenant, one.pool, one.lends) == sought and not one.standing]
        return max(found, key=lambda change: change.created_at, default=None)

    def failures(self, tenant: str, pool: str, since: float) -> int:
        """Trials for this tenant and pool that did not help, created after `since`."""
        bad = (Verdict.NO_EFFECT, Verdict.HURT)
        return sum(
            1
            for change in self.changes
            if (change.tenant, change.pool) == (tenant, pool) and change.created_at > since and change.verdict in bad
        )


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """What was used of each budget, in the units of `Budgets`; `changes_today` and `tenants_this_hour` count takes."""

    changes_today: int
    tenants_this_hour: frozenset[str]
    added_evictions_today: int
    added_lost_gpu_hours_today: float

    def remaining(self, budgets: Budgets) -> Mapping[str, float]:
        """Budget → share left, between 0 and 1."""
        pairs = {
            "changesPerDay": (self.changes_today, budgets.changes_per_day),
            "tenantsPerHour": (len(self.tenants_this_hour), budgets.tenants_per_hour),
            "addedEvictionsPerDay": (self.added_evictions_today, budgets.added_evictions_per_day),
            "addedLostGpuHoursPerDay": (self.added_lost_gpu_hours_today, budgets.added_lost_gpu_hours_per_day),
        }
        return {name: max(0.0, 1.0 - used / limit) if limit else 0.0 for name, (used, limit) in pairs.items()}


def budget_use(ledger: Ledger, now: float, day_seconds: float) -> BudgetUse:
    """What changes created within the last day (and hour) used: forecasts count, so that a budget is never overrun.

    Giving what stands idle is free of the budgets of changes and tenants: rationed, it would leave GPUs idle.
    """
    today = [change for change in ledger.changes if now - change.created_at < day_seconds]
    takes = [change for change in today if change.takes]
    hour_seconds = day_seconds / 24
    return BudgetUse(
        changes_today=len(takes),
        tenants_this_hour=frozenset(c.tenant for c in takes if now - c.created_at < hour_seconds),
        added_evictions_today=sum(len(change.forecast.evicted) for change in today),
        added_lost_gpu_hours_today=sum(change.forecast.lost_gpu_hours for change in today),
    )
