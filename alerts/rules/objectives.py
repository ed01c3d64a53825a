"""Burn-rate alerts: the budget of each objective as a series, and one alert per window pair for all of them. Pure.

Only objectives about queue wait have an indicator here. Budgets are data that the alerts join, so the same alerts
serve every tenant of every site.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from alerts.rules.attainment import ENTITLED, attainment, demand_share
from alerts.rules.model import Alert, RecordingRule, Severity, SignalKind
from alerts.rules.timing import DAY, HOUR, MINUTE, Timing, promql_duration, promql_number
from collector.model.tenancy import Objective, ObjectiveKind, Site, Tenant

BUDGET: Final = "trimtab:tenant_objective_budget_ratio"
DEFAULT_WINDOW_SECONDS: Final = 28 * DAY
_DEFAULT_BUDGET_RATIO: Final = 0.01
_WORST_ERROR_RATIO: Final = 0.95
"""No alert may ask for more failure than this, or an objective with a low target could never burn fast."""
_LEAST_FACTOR: Final = 0.9
"""Below it an alert would fire while the budget lasts."""

_BRIDGE_SECONDS: Final = 5 * MINUTE
"""Long enough for the blind alert to hold this one back: going blind must not look like recovery."""


@dataclass(frozen=True, slots=True)
class Burn:
    """A pair of windows: fires when `budget_share` of the whole budget went within the long one, and still goes."""

    name: str
    budget_share: float
    long_seconds: float
    short_seconds: float
    for_seconds: float
    severity: Severity

    def factor(self, objective_window_seconds: float) -> float:
        """How many times faster than sustainable the budget must go."""
        return self.budget_share * objective_window_seconds / self.long_seconds


BURNS: Final = (
    Burn("fast", 0.02, HOUR, 5 * MINUTE, 2 * MINUTE, Severity.CRITICAL),
    Burn("slow", 0.05, 6 * HOUR, 30 * MINUTE, 15 * MINUTE, Severity.CRITICAL),
    Burn("day", 0.10, DAY, 2 * HOUR, HOUR, Severity.WARNING),
    Burn("days", 0.10, 3 * DAY, 6 * HOUR, 3 * HOUR, Severity.WARNING),
)


def objective_windows(site: Site | None) -> tuple[float, ...]:
    """The nominal windows that the site's objectives are kept over, shortest first."""
    if site is None:
        return (DEFAULT_WINDOW_SECONDS,)
    return tuple(sorted({objective.window_seconds for _, objective, _ in _judged(site)}))


def budget_rules(site: Site | None) -> tuple[RecordingRule, ...]:
    """One series per tenant, pool and objective; without a site the default target for all that are seen."""
    if site is None:
        every_tenant = f"max by (cluster, tenant, pool) ({ENTITLED}) * 0 + {_DEFAULT_BUDGET_RATIO}"
        window = promql_duration(DEFAULT_WINDOW_SECONDS)
        return (RecordingRule(BUDGET, every_tenant, {"objective": "start", "window": window}),)
    return tuple(_budget_rule(site.cluster, tenant, objective, pool) for tenant, objective, pool in _judged(site))


def burn_alerts(timing: Timing, windows_seconds: Sequence[float]) -> tuple[Alert, ...]:
    """For each objective window the alerts that can mean something within it."""
    return tuple(
        _burn_alert(timing, burn, window)
        for window in windows_seconds
        for burn in BURNS
        if burn.factor(window) >= _LEAST_FACTOR
    )


def _judged(site: Site) -> Iterator[tuple[Tenant, Objective, str]]:
    for tenant in site.tenants:
        for objective in tenant.objectives:
            if objective.kind is ObjectiveKind.QUEUE_WAIT:
                pools = (entitlement.pool for entitlement in tenant.entitlements)
                yield from ((tenant, objective, pool) for pool in pools if objective.pool in (None, pool))


def _budget_rule(cluster: str, tenant: Tenant, objective: Objective, pool: str) -> RecordingRule:
    labels = {
        "cluster": cluster,
        "tenant": tenant.name,
        "pool": pool,
        "objective": objective.name,
        "window": promql_duration(objective.window_seconds),
    }
    return RecordingRule(BUDGET, f"vector({promql_number(1 - objective.target)})", labels)


def _burn_alert(timing: Timing, burn: Burn, window_seconds: float) -> Alert:
    factor = burn.factor(window_seconds)
    window = promql_duration(window_seconds)
    budget = f'clamp_max({BUDGET}{{window="{window}"}}, {promql_number(_WORST_ERROR_RATIO / factor)})'

    def too_fast(seconds: float) -> str:
        error = f"(1 - {attainment(seconds)})"
        rate = f"{error}\n  / on (cluster, tenant, pool) group_right ()\n  {budget}"
        return f"(\n  {rate}\n  > {promql_number(factor)}\n)"

    enough_demand = f"{demand_share(burn.long_seconds)} >= {promql_number(burn.short_seconds / burn.long_seconds)}"
    return Alert(
        name="TrimtabObjectiveBurning",
        expr=(
            f"{too_fast(burn.long_seconds)}\nand\n{too_fast(burn.short_seconds)}\n"
            f"and on (cluster, tenant, pool)\n({enough_demand})"
        ),
        for_seconds=timing.seconds(burn.for_seconds),
        keep_firing_for_seconds=timing.seconds(_BRIDGE_SECONDS),
        severity=burn.severity,
        signal=SignalKind.OBJECTIVE_BURNING,
        labels={"burn": burn.name, "window": window},
        summary="{{ $labels.tenant }} spends the budget of objective {{ $labels.objective }} too fast",
        description=(
            f"Over {promql_duration(burn.long_seconds)} the error budget of {window} went "
            '{{ $value | printf "%.1f" }} times as fast as it lasts (pool {{ $labels.pool }}).'
        ),
    )
