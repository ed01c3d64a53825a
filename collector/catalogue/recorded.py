"""The series that the generated recording rules make. Entries only; the expressions stand in `alerts.rules`."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

_TENANT_POOL: Final = ("cluster", "tenant", "pool")
_NOMINAL: Final = "the window in the name is the nominal one; a time scale shortens what it covers, not its name"


def _entry(name: str, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    return Metric(name, Kind.GAUGE, unit, labels, Source.RECORDED, meaning, traps)


RECORDED: Final = (
    _entry(
        "trimtab:tenant_entitled_gpus:minute",
        Unit.GPUS,
        _TENANT_POOL,
        "Entitled demand of the minute, replicas counted once; present only when the shortfall is known too.",
        "a minute without any reading has no sample: it is blind, not idle",
    ),
    _entry("trimtab:tenant_shortfall_gpus:minute", Unit.GPUS, _TENANT_POOL, "Shortfall of the minute."),
    _entry("trimtab:tenant_demand:minute", Unit.TRUTH, _TENANT_POOL, "Whether the tenant wanted service."),
    _entry(
        "trimtab:tenant_coverage_ratio:<window>",
        Unit.RATIO,
        _TENANT_POOL,
        "Share of the window's minutes that were seen.",
        "a tenant that is younger than the window has low coverage: what was not there was not seen",
        _NOMINAL,
    ),
    _entry(
        "trimtab:tenant_demand_ratio:<window>",
        Unit.RATIO,
        _TENANT_POOL,
        "Share of the minutes seen in which the tenant wanted service.",
        _NOMINAL,
    ),
    _entry(
        "trimtab:tenant_attainment_ratio:<window>",
        Unit.RATIO,
        _TENANT_POOL,
        "Entitled-demand attainment: 1 − Σ shortfall / Σ entitled demand over the window's minutes.",
        "no sample without demand in the window, and none when over 5 % of it is blind: no verdict is not a good one",
        _NOMINAL,
    ),
    _entry(
        "trimtab:tenant_objective_budget_ratio",
        Unit.RATIO,
        (*_TENANT_POOL, "objective", "window"),
        "Error budget of the objective: 1 − target.",
        "for a site whose documents were not given to the generator: 0.01 for every tenant and pool seen",
    ),
)
