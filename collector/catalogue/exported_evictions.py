"""The metrics that the collector exports about what evictions cost. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

_SINCE: Final = "counts from the start of the collector: the history (`--accounting`) and the weekly report know more"


def _entry(name: str, kind: Kind, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    return Metric(name, kind, unit, labels, Source.COLLECTOR, meaning, (*traps, _SINCE))


EVICTION_COSTS: Final = (
    _entry(
        "trimtab_tenant_evictions_total",
        Kind.COUNTER,
        Unit.EVICTIONS,
        ("cluster", "tenant", "by"),
        "Evictions of the tenant's work, by the tenant whose work took its place.",
        "native: only what a pod's condition names is known of who evicted it; else `by` is empty",
    ),
    _entry(
        "trimtab_tenant_lost_gpu_seconds_total",
        Kind.COUNTER,
        Unit.SECONDS,
        ("cluster", "tenant", "pool"),
        "GPU-seconds that evicted work had run since it was last Ready.",
        "work that writes checkpoints has lost less: this is what it loses at most, but for its restart",
    ),
    _entry(
        "trimtab_eviction_freed_seconds",
        Kind.HISTOGRAM,
        Unit.SECONDS,
        ("cluster", "tenant", "pool", "le"),
        "Time from the decision to evict until no pod of the victim held a GPU any more.",
        "as exact as the collector's looks are close, five seconds",
        "a histogram: _bucket, _sum, _count",
    ),
)
