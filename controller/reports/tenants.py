"""What each tenant was guaranteed, held, borrowed, left idle, waited for and lost. Pure.

Only slots count in which the pool was seen; guarantee, floating part and borrowed add up to what was held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from alerts.rules.attainment import LEAST_COVERAGE_RATIO
from collector.model.reading import Known, Reading, Unknown
from collector.model.tenancy import UNASSIGNED, ObjectiveKind, Site
from controller.reports.model import TenantReport, TenantUse, TenantWaits, Window
from controller.reports.pools import History, PoolHistory, phase_hours
from controller.reports.samples import (
    ENTITLED,
    EVICTIONS,
    FLOATING,
    GUARANTEE,
    IDLE_HELD,
    OLDEST,
    SHORTFALL,
    UNJUDGED,
    WAITED,
    Key,
)
from controller.reports.words import percent


class Tenants:
    """The series of all tenants, each read once."""

    def __init__(self, history: History, window: Window, site: Site | None) -> None:
        self._history, self._window, self._site = history, window, site
        self._hours = window.slot_seconds / 3600
        samples = history.samples
        self._guarantee, self._floating = samples.gauges(GUARANTEE), samples.gauges(FLOATING)
        self._idle, self._unjudged = samples.gauges(IDLE_HELD), samples.gauges(UNJUDGED)
        self._entitled, self._shortfall = samples.gauges(ENTITLED), samples.gauges(SHORTFALL)
        self._waited, self._evictions = samples.increases(WAITED), samples.increases(EVICTIONS)
        self._oldest = samples.peaks(OLDEST)

    def reports(self) -> tuple[TenantReport, ...]:
        """All tenants of which there is a sample or a document, in order of name."""
        pools_of: dict[str, set[str]] = {}
        for tenant, pool in (*self._history.held, *self._guarantee):
            pools_of.setdefault(tenant, set()).add(pool)
        for tenant, *_ in (*self._waited, *self._evictions, *self._oldest):
            pools_of.setdefault(tenant, set())
        for agreed in self._site.tenants if self._site else ():
            pools_of.setdefault(agreed.name, set()).update(item.pool for item in agreed.entitlements)
        return tuple(self._report(tenant, sorted(pools_of[tenant])) for tenant in sorted(pools_of))

    def _report(self, tenant: str, pools: list[str]) -> TenantReport:
        agreed = self._site.tenant(tenant) if self._site else None
        tiers = {key[1] for key in self._oldest if key[0] == tenant and key[1]}
        tier = agreed.tier if agreed else ", ".join(sorted(tiers))
        return TenantReport(tenant, tier, tuple(self._use(tenant, pool) for pool in pools), self._waits(tenant))

    def _use(self, tenant: str, pool_name: str) -> TenantUse:
        pool, key = self._history.pool(pool_name), (tenant, pool_name)
        held = pool.held.get(tenant, pool.nothing).where(pool.seen)
        agreement = self._agreement(pool, key, held)
        running, starting, unknown = 0.0, 0.0, 0.0
        if tenant in pool.held:
            running, starting, unknown = phase_hours(self._history, pool, tenant, self._hours)
        idle_held, unjudged = self._idle_held(pool, key, held)
        guarantee = self._guarantee.get(key, pool.nothing).where(pool.seen)
        return TenantUse(
            pool=pool_name,
            guaranteed=self._total(guarantee, "no guarantee was seen of it in this pool"),
            held=float(held.sum()) * self._hours,
            **agreement,
            running=running,
            starting=starting,
            phase_unknown=unknown,
            idle_held=idle_held,
            unjudged=unjudged,
            attainment=self._attainment(pool, key),
            target=self._target(tenant, pool_name),
        )

    def _agreement(self, pool: PoolHistory, key: Key, held: pd.Series[float]) -> Mapping[str, float]:
        """What was held, by what allowed it. Who has no agreement in this pool borrows all of it."""
        guarantee = self._guarantee.get(key, pool.nothing)
        floating = self._floating.get(key, pool.nothing)
        if key[0] == UNASSIGNED:
            floating = floating.fillna(0.0)  # nothing was agreed with nobody
        within = held.clip(upper=guarantee.fillna(0.0))
        rest = held - within
        in_question = (guarantee.notna() & floating.isna()) & (rest > 0)
        floats = rest.clip(upper=floating.where(guarantee.notna()).fillna(0.0))
        parts = {
            "within_guarantee": within,
            "floating": floats,
            "borrowed": (rest - floats).mask(in_question, 0.0),
            "agreement_unknown": rest.where(in_question, 0.0),
        }
        return {name: float(values.sum()) * self._hours for name, values in parts.items()}

    def _idle_held(self, pool: PoolHistory, key: Key, held: pd.Series[float]) -> tuple[Reading[float], float]:
        """GPU-hours that computed nothing, and those that nobody judged."""
        unjudged = self._unjudged.get(key, pool.nothing)
        idle = self._idle.get(key, pool.nothing).where(unjudged.notna() & held.notna()).clip(upper=held)
        open_question = unjudged.clip(upper=held - idle).where(idle.notna(), held)
        total, low, unknown = (float(values.sum()) * self._hours for values in (held, idle, open_question))
        if held.isna().all():
            return Unknown("not seen in this pool"), 0.0
        if 0.0 < total <= unknown:
            return Unknown("no activity known of the GPUs held"), unknown
        return Known(low), unknown

    def _attainment(self, pool: PoolHistory, key: Key) -> Reading[float]:
        demand = self._entitled.get(key, pool.nothing)
        bad = self._shortfall.get(key, pool.nothing)
        both = demand.notna() & bad.notna()
        seen_ratio = int(both.sum()) / self._window.slots
        if seen_ratio < LEAST_COVERAGE_RATIO:
            return Unknown(f"no verdict: only {percent(seen_ratio)} of the window was seen")
        total = float(demand[both].sum())
        if total <= 0.0:
            return Unknown("no demand")
        return Known(1.0 - float(bad[both].sum()) / total)

    def _target(self, tenant: str, pool: str) -> float | None:
        agreed = self._site.tenant(tenant) if self._site else None
        promises = [item for item in agreed.objectives if item.kind is ObjectiveKind.QUEUE_WAIT] if agreed else []
        return next((item.target for item in promises if item.pool in (None, pool)), None)

    def _waits(self, tenant: str) -> TenantWaits:
        missing = "no queue of it was seen"
        waited = _of(self._waited, tenant, missing, sum)
        return TenantWaits(
            waited_hours=Known(waited.value / 3600) if isinstance(waited, Known) else waited,
            oldest_wait_seconds=_of(self._oldest, tenant, missing, max),
            evictions=_of(self._evictions, tenant, missing, lambda amounts: round(sum(amounts))),
            at_least=len(self._history.samples.chosen) < self._window.slots * LEAST_COVERAGE_RATIO,
        )

    def _total(self, values: pd.Series[float], missing: str) -> Reading[float]:
        return Known(float(values.sum()) * self._hours) if values.notna().any() else Unknown(missing)


def _of(
    amounts: Mapping[Key, float], tenant: str, missing: str, together: Callable[[list[float]], float]
) -> Reading[float]:
    """The amounts of all queues of a tenant, taken together."""
    own = [value for key, value in amounts.items() if key[0] == tenant]
    return Known(float(together(own))) if own else Unknown(missing)
