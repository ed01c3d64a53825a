"""The metrics that the collector exports about gangs that do not get on and GPUs that are not well. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

_LABELS: Final = ("cluster", "tenant", "pool", "gpu_trouble")
_SEEN: Final = "no sample while no GPU is read; 0 means that it was looked at and is not so"


def _entry(name: str, unit: Unit, meaning: str, *traps: str) -> Metric:
    return Metric(name, Kind.GAUGE, unit, _LABELS, Source.COLLECTOR, meaning, (*traps, _SEEN))


TROUBLES: Final = (
    _entry(
        "trimtab_tenant_troubled_gpus",
        Unit.GPUS,
        "GPUs of running gangs that hang, may hang or wait for one rank, and single GPUs that are sick, lost or "
        "throttled.",
        "one GPU may count under several troubles: do not sum over `gpu_trouble`",
        "unjudged: a needed signal is missing (tensor activity is off by default on some exporters): not healthy",
    ),
    _entry(
        "trimtab_tenant_troubled_workloads",
        Unit.WORKLOADS,
        "Running gangs that hang, may hang, wait for one rank, or can not be judged.",
        "which they are is said by `trimtab explain`",
    ),
    _entry(
        "trimtab_tenant_trouble_seconds",
        Unit.SECONDS,
        "How long the longest of these gangs has been so without a break, as far as it was seen.",
        "begins anew with the collector",
    ),
)
