"""The collector's series about gangs and GPUs, as Prometheus has them now → whose work hangs or holds sick GPUs.

Asks nobody itself. The collector leaves out what is too old, so the series need no age of their own; that its GPU
sources fell silent is told by when each was last read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.model.quantities import counted, format_duration
from collector.model.snapshot import OtherCause, OtherKind
from collector.sources.prometheus import VectorSample

_GPUS: Final = "trimtab_tenant_troubled_gpus"
_GANGS: Final = "trimtab_tenant_troubled_workloads"
_SECONDS: Final = "trimtab_tenant_trouble_seconds"
_READ: Final = "trimtab_collector_last_success_timestamp_seconds"
GANG_SERIES: Final = frozenset((_GPUS, _GANGS, _SECONDS, _READ))
"""What to ask for."""
_GPU_SOURCES: Final = frozenset(("dcgm", "gpu-series"))

_Troubles = dict[tuple[str, str], dict[str, dict[str, float]]]
"""(tenant, pool) → trouble → series → value"""


@dataclass(frozen=True, slots=True)
class GangEvidence:
    """Tenants in trouble with their cause, and why nothing can be said now; None when it can, or nothing is watched."""

    causes: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    suspected: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    slowed: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    unseen: str | None = None


def gang_evidence(samples: Iterable[VectorSample], now: float, limit_seconds: float) -> GangEvidence:
    """What `samples` (of one cluster, at one moment) say. A source that was not read for `limit_seconds` is unseen."""
    found: _Troubles = defaultdict(lambda: defaultdict(dict))
    read_at: dict[str, float] = {}
    for sample in samples:
        name, labels = sample.labels.get("__name__", ""), sample.labels
        if name == _READ:
            source = labels.get("source", "")
            read_at[source] = max(sample.value, read_at.get(source, 0.0))
        else:
            values = found[labels.get("tenant", ""), labels.get("pool", "")][labels.get("gpu_trouble", "")]
            values[name] = max(sample.value, values.get(name, 0.0))  # of two replicas the one that saw it for longer
    causes, suspected, slowed = (_by_tenant(found, kinds) for kinds in (_KNOWN, _SUSPECTED, _SLOWED))
    return GangEvidence(causes, suspected, slowed, _unseen(read_at, now, limit_seconds))


def _unseen(read_at: Mapping[str, float], now: float, limit_seconds: float) -> str | None:
    ages = [now - at for source, at in read_at.items() if source in _GPU_SOURCES]
    if not ages or min(ages) <= limit_seconds:
        return None
    return f"no GPU was read for {format_duration(limit_seconds)}"


def _by_tenant(found: _Troubles, kinds: tuple[str, ...]) -> Mapping[str, tuple[OtherCause, ...]]:
    told: dict[str, tuple[OtherCause, ...]] = {}
    for (tenant, pool), troubles in sorted(found.items()):
        told[tenant] = (*told.get(tenant, ()), *_causes(pool, troubles, kinds))
    return {tenant: causes for tenant, causes in told.items() if causes}


def _causes(pool: str, troubles: Mapping[str, Mapping[str, float]], kinds: tuple[str, ...]) -> Iterator[OtherCause]:
    for kind in kinds:
        values = troubles.get(kind, {})
        gpus = round(values.get(_GPUS, 0.0))
        if gpus:
            gangs, lasted = round(values.get(_GANGS, 0.0)), format_duration(values.get(_SECONDS, 0.0))
            cause, words = _WORDS[kind]
            yield OtherCause(cause, words.format(**_amounts(gpus, gangs, lasted, pool)))


def _amounts(gpus: int, gangs: int, lasted: str, pool: str) -> Mapping[str, str]:
    return {
        "gangs": counted(gangs, "gang"),
        "gpus": counted(gpus, "GPU"),
        "lasted": lasted,
        "of": f"of pool {pool}" if pool else "of no pool",
        "s": "s" if gangs == 1 else "",
        "is": "is" if gpus == 1 else "are",
        "has": "has" if gpus == 1 else "have",
        "report": "reports" if gpus == 1 else "report",
    }


_WORDS: Final[Mapping[str, tuple[OtherKind, str]]] = {
    "hung": (
        OtherKind.WORKLOAD,
        "{gangs} with {gpus} {of} hang{s}: for {lasted} they seem busy, and compute and exchange nothing",
    ),
    "suspected": (
        OtherKind.WORKLOAD,
        "{gangs} with {gpus} {of} may hang: for {lasted} they seem busy, and compute and exchange nothing",
    ),
    "straggling": (
        OtherKind.WORKLOAD,
        "{gangs} with {gpus} {of} wait{s} for one rank, for {lasted} far from its own gang",
    ),
    "sick": (OtherKind.GPU_HEALTH, "{gpus} {of} that it holds {report} an error of the hardware"),
    "lost": (OtherKind.GPU_HEALTH, "{gpus} {of} that it holds {has} vanished from the exporter"),
    "throttled": (OtherKind.GPU_HEALTH, "{gpus} {of} that it holds {is} held back by heat or a brake"),
}
_KNOWN: Final = ("hung", "sick", "lost")
"""GPUs that work holds and gets nothing of: what it lacks, quota does not cure."""
_SUSPECTED: Final = ("suspected",)
_SLOWED: Final = ("straggling", "throttled")
