"""The metrics that the controller says about itself. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit


def _entry(name: str, kind: Kind, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    return Metric(name, kind, unit, labels, Source.CONTROLLER, meaning, traps)


CONTROLLER: Final = (
    _entry(
        "trimtab_controller_ticks_total",
        Kind.COUNTER,
        Unit.TICKS,
        ("cluster",),
        "Ticks of the loop that came to an end.",
        "a replica without the lease does not tick",
    ),
    _entry(
        "trimtab_controller_last_tick_timestamp_seconds",
        Kind.GAUGE,
        Unit.TIMESTAMP_SECONDS,
        ("cluster",),
        "When the last tick came to an end.",
        "take the newest of all replicas: only the holder of the lease ticks",
    ),
    _entry(
        "trimtab_controller_decisions_total",
        Kind.COUNTER,
        Unit.DECISIONS,
        ("cluster", "knob", "outcome", "refusal"),
        "Decisions, refused ones included.",
    ),
    _entry(
        "trimtab_controller_active_changes",
        Kind.GAUGE,
        Unit.CHANGES,
        ("cluster", "knob"),
        "Changes in force now, on trial or kept.",
    ),
    _entry(
        "trimtab_tenant_change_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        ("cluster", "tenant", "pool", "direction", "stage"),
        "GPUs that changes in force have given to the tenant or taken from it, as the API server confirmed them.",
        "a change from the shared part, or of idle GPUs, takes from no tenant: given and taken need not agree",
        "no sample while the controller has no picture: absent never means 0",
    ),
    _entry(
        "trimtab_tenant_finding",
        Kind.GAUGE,
        Unit.TRUTH,
        ("cluster", "tenant", "pool", "finding", "cause", "outcome", "refusal"),
        "1 for each thing that the last tick found wrong with the tenant: its cause, and what came of it.",
        "no series when nothing was found, and none while nothing is seen: look at trimtab_controller_blind beside it",
        "why a change is refused may differ from tick to tick: aggregate outcome and refusal away for a history",
    ),
    _entry(
        "trimtab_controller_budget_remaining_ratio",
        Kind.GAUGE,
        Unit.RATIO,
        ("cluster", "budget"),
        "What is left of a budget, from 1 (untouched) to 0 (used up: the loop holds).",
    ),
    _entry(
        "trimtab_controller_blind",
        Kind.GAUGE,
        Unit.TRUTH,
        ("cluster",),
        "1 while the picture is too old or too thin to decide on.",
    ),
    _entry(
        "trimtab_doorbell_posts_total",
        Kind.COUNTER,
        Unit.POSTS,
        ("cluster", "outcome"),
        "Posts at the doorbell, repeated and refused ones included.",
        "Alertmanager posts one incident many times: this counts posts, not incidents",
    ),
)
