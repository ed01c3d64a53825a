"""Recording rules for entitled-demand attainment, the indicator for waiting, per tenant, pool and window. Pure.

Time is cut into minutes. A minute counts with the GPUs that the tenant was entitled to demand in it, so an idle
tenant neither earns nor spends, and a minute without any reading is blind, which is neither good nor bad.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from alerts.rules.model import RecordingRule
from alerts.rules.timing import MINUTE, Timing, promql_duration, promql_number

ENTITLED: Final = "trimtab:tenant_entitled_gpus:minute"
SHORTFALL: Final = "trimtab:tenant_shortfall_gpus:minute"
DEMAND: Final = "trimtab:tenant_demand:minute"
LEAST_COVERAGE_RATIO: Final = 0.95
"""Over 5 % of a window blind: no verdict."""


def attainment(window_seconds: float) -> str:
    """Name of the attainment over a nominal window."""
    return f"trimtab:tenant_attainment_ratio:{promql_duration(window_seconds)}"


def coverage(window_seconds: float) -> str:
    """Name of the share of a nominal window that was seen."""
    return f"trimtab:tenant_coverage_ratio:{promql_duration(window_seconds)}"


def demand_share(window_seconds: float) -> str:
    """Name of the share of the minutes seen in which the tenant wanted service."""
    return f"trimtab:tenant_demand_ratio:{promql_duration(window_seconds)}"


def minute_rules(timing: Timing) -> tuple[RecordingRule, ...]:
    """Each minute's demand and shortfall: the last reading within it, so that one failed scrape leaves no hole."""
    minute = timing.text(MINUTE)
    entitled = f"max by (cluster, tenant, pool) (last_over_time(trimtab_tenant_entitled_gpus[{minute}]))"
    shortfall = f"max by (cluster, tenant, pool) (last_over_time(trimtab_tenant_shortfall_gpus[{minute}]))"
    return (
        RecordingRule(ENTITLED, f"{entitled}\nand\n{shortfall}"),
        RecordingRule(SHORTFALL, f"{shortfall}\nand\n{entitled}"),
        RecordingRule(DEMAND, f"{ENTITLED} > bool 0"),
    )


def window_rules(
    timing: Timing, windows_seconds: Iterable[float], demand_windows_seconds: Collection[float]
) -> tuple[RecordingRule, ...]:
    """Coverage and attainment over each nominal window, and the share of demand over those that ask for it."""
    rules: list[RecordingRule] = []
    for window in windows_seconds:
        rules.append(_coverage_rule(timing, window))
        if window in demand_windows_seconds:
            rules.append(RecordingRule(demand_share(window), f"avg_over_time({DEMAND}[{timing.text(window)}])"))
        rules.append(_attainment_rule(timing, window))
    return tuple(rules)


def _coverage_rule(timing: Timing, window_seconds: float) -> RecordingRule:
    expected = promql_number(timing.expected_samples(window_seconds))
    seen = f"count_over_time({ENTITLED}[{timing.text(window_seconds)}])"
    return RecordingRule(coverage(window_seconds), f"clamp_max({seen} / {expected}, 1)")


def _attainment_rule(timing: Timing, window_seconds: float) -> RecordingRule:
    length = timing.text(window_seconds)
    bad = f"sum_over_time({SHORTFALL}[{length}])"
    demand = f"sum_over_time({ENTITLED}[{length}])"
    seen = f"{coverage(window_seconds)} >= {LEAST_COVERAGE_RATIO}"
    return RecordingRule(attainment(window_seconds), f"(\n  1 - {bad}\n  / ({demand} > 0)\n)\nand\n({seen})")
