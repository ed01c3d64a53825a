"""What a Prometheus knows about the tenants of a site right now, with the real age of each sample.

A query answers with samples up to five minutes old as if they were new, so the age of every one is asked for. Series
of the collector that are absent or old, and a server that does not answer in full, are reasons to be blind; no error
leaves this module.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from collector.model.quantities import format_duration
from collector.model.reading import Reading, Unknown, fresh, number
from collector.model.snapshot import Evidence, OtherCause, OtherKind
from collector.model.tenancy import Objective, ObjectiveKind, Site
from collector.sources.errors import SourceError, TimedOut
from collector.sources.fabric_evidence import FABRIC_SERIES, fabric_evidence
from collector.sources.gang_evidence import GANG_SERIES, gang_evidence
from collector.sources.prometheus import VectorSample, quoted
from collector.sources.storage_evidence import STORAGE_SERIES, storage_evidence

ENTITLED: Final = "trimtab_tenant_entitled_gpus"
SHORTFALL: Final = "trimtab_tenant_shortfall_gpus"
IDLE_HELD: Final = "trimtab_tenant_idle_held_gpus"
ATTAINMENT: Final = "trimtab:tenant_attainment_ratio"

Key = tuple[str, str]
"""(tenant, pool)"""

_NAMED_AT_MOST: Final = 3
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1))


class Asked(Protocol):
    """What is needed of a `collector.sources.prometheus.Prometheus`."""

    url: str

    def instant(self, query: str, at: float | None = None) -> Sequence[VectorSample]:
        """The result of a query at a moment; raises SourceError."""
        ...


@dataclass(frozen=True, slots=True)
class EvidenceLimits:
    """What is still good enough to decide on."""

    freshest_seconds: float = 90.0
    """How old a sample of the collector may be: three scrapes, by the clock on the wall."""
    recorded_seconds: float = 300.0
    """How old a recorded sample may be: rules over long windows are evaluated every few minutes."""
    total_seconds: float = 15.0
    """How long all queries together may take."""
    time_scale: float = 1.0
    """By what the windows in the site were divided; recorded series carry the nominal window in their name."""


def read_evidence(prometheus: Asked, site: Site, now: float, limits: EvidenceLimits) -> Evidence:
    """Attainment and idle-held GPUs of every tenant and pool of the site, causes that are not scheduling, and why it
    can not be decided on."""
    keys = tuple((tenant.name, item.pool) for tenant in site.tenants for item in tenant.entitlements)
    look = _Look(prometheus, site.cluster, now, limits)
    try:
        blind = [sentence for name in (ENTITLED, SHORTFALL) for sentence in look.gaps(name, keys)]
        idle_held = look.readings(IDLE_HELD, keys, limits.freshest_seconds)
        attainment = _attainment(look, site, keys, limits)
        storage = storage_evidence(look.vector(STORAGE_SERIES), site, now, limits.freshest_seconds)
        fabric = fabric_evidence(look.vector(FABRIC_SERIES), site)
        gangs = gang_evidence(look.vector(GANG_SERIES), now, limits.freshest_seconds)
    except SourceError as error:
        reason = f"Prometheus at {prometheus.url} can not be asked: {error}"
        nothing: Mapping[Key, Reading[float]] = {key: Unknown(reason) for key in keys}
        return Evidence(attainment=nothing, idle_held=nothing, blind=(reason,))
    return Evidence(
        attainment=attainment,
        idle_held=idle_held,
        other_causes=_united(storage.causes, fabric.causes, gangs.causes),
        suspected=_united(fabric.suspected, gangs.suspected),
        slowed=gangs.slowed,
        storage=storage.uses,
        not_ruled_out={
            kind: reason
            for kind, reason in (
                (OtherKind.CEPH, storage.unseen),
                (OtherKind.RDMA, fabric.unseen),
                (OtherKind.GPU_HEALTH, gangs.unseen),
                (OtherKind.WORKLOAD, gangs.unseen),
            )
            if reason is not None
        },
        blind=tuple(blind),
    )


def _united(*parts: Mapping[str, tuple[OtherCause, ...]]) -> Mapping[str, tuple[OtherCause, ...]]:
    found: dict[str, tuple[OtherCause, ...]] = {}
    for part in parts:
        for tenant, causes in part.items():
            found[tenant] = (*found.get(tenant, ()), *causes)
    return found


def attainment_series(window_seconds: float) -> str:
    """Name of the recorded attainment over a nominal window, such as trimtab:tenant_attainment_ratio:28d."""
    remaining = round(window_seconds * 1000)
    text = ""
    for unit, size in _UNITS:
        count, remaining = divmod(remaining, size)
        text += f"{count}{unit}" if count else ""
    return f"{ATTAINMENT}:{text}"


def _attainment(look: _Look, site: Site, keys: Iterable[Key], limits: EvidenceLimits) -> Mapping[Key, Reading[float]]:
    found: dict[Key, Reading[float]] = {}
    by_series: dict[str, list[Key]] = {}
    for key in keys:
        objective = _objective(site, *key)
        if objective is None:
            found[key] = Unknown("it has no objective about queue wait")
        else:
            series = attainment_series(objective.window_seconds * limits.time_scale)
            by_series.setdefault(series, []).append(key)
    for series, wanted in sorted(by_series.items()):
        found |= look.readings(series, wanted, limits.recorded_seconds)
    return found


def _objective(site: Site, tenant_name: str, pool: str) -> Objective | None:
    tenant = site.tenant(tenant_name)
    objectives = tenant.objectives if tenant is not None else ()
    waits = (item for item in objectives if item.kind is ObjectiveKind.QUEUE_WAIT)
    return next((item for item in waits if item.pool in (None, pool)), None)


class _Look:
    """All queries of one look, asked for the same moment and within one budget of time."""

    def __init__(self, prometheus: Asked, cluster: str, now: float, limits: EvidenceLimits) -> None:
        self._prometheus, self._now, self._limits = prometheus, now, limits
        self._matcher = f"{{cluster={quoted(cluster)}}}"
        self._deadline = time.monotonic() + limits.total_seconds

    def gaps(self, series: str, keys: Iterable[Key]) -> Iterable[str]:
        """Sentences about tenants whose series are absent, old, or from the future."""
        limit = self._limits.freshest_seconds
        ages = self._ages(series)
        absent = [key for key in keys if key not in ages]
        old = [key for key in keys if ages.get(key, 0.0) > limit]
        early = [key for key in keys if ages.get(key, 0.0) < -limit]
        if absent:
            yield f"{series} is absent for {_named(absent)}: does the collector run, and is it scraped?"
        if old:
            oldest = format_duration(max(ages[key] for key in old))
            yield f"{series} is up to {oldest} old for {_named(old)} (limit {format_duration(limit)})"
        if early:
            yield f"{series} lies in the future for {_named(early)}: the clocks here and of Prometheus differ"

    def readings(self, series: str, keys: Iterable[Key], limit_seconds: float) -> Mapping[Key, Reading[float]]:
        """The newest value per tenant and pool; Unknown when absent, not a number, or too old."""
        ages = {
            _identity(sample): self._now - sample.value for sample in self._ask(f"timestamp({series}{self._matcher})")
        }
        newest: dict[Key, tuple[float, float]] = {}
        for sample in self._ask(f"{series}{self._matcher}"):
            age = ages.get(_identity(sample))
            key = _key(sample)
            if age is not None and age < newest.get(key, (float("inf"), 0.0))[0]:
                newest[key] = (age, sample.value)
        return {
            key: fresh(number(newest[key][1], max(0.0, newest[key][0]), series), limit_seconds, series)
            if key in newest
            else Unknown(f"Prometheus has no {series} for it")
            for key in keys
        }

    def vector(self, names: Collection[str]) -> Sequence[VectorSample]:
        """The newest samples of several metrics, told apart by their name."""
        return list(self._ask(f'{{__name__=~"{"|".join(sorted(names))}",{self._matcher[1:]}'))

    def _ages(self, series: str) -> Mapping[Key, float]:
        """Age of the newest sample per tenant and pool, in seconds."""
        ages: dict[Key, float] = {}
        for sample in self._ask(f"timestamp({series}{self._matcher})"):
            age = self._now - sample.value
            ages[_key(sample)] = min(age, ages.get(_key(sample), age))
        return ages

    def _ask(self, query: str) -> Iterable[VectorSample]:
        if time.monotonic() > self._deadline:
            raise TimedOut("GET", "/api/v1/query", f"not all answers within {self._limits.total_seconds:g} s")
        return self._prometheus.instant(query, self._now)


def _key(sample: VectorSample) -> Key:
    return sample.labels.get("tenant", ""), sample.labels.get("pool", "")


def _identity(sample: VectorSample) -> frozenset[tuple[str, str]]:
    """The series without its name, which functions take away."""
    return frozenset((name, value) for name, value in sample.labels.items() if name != "__name__")


def _named(keys: list[Key]) -> str:
    names = ", ".join(f"{tenant} in {pool}" for tenant, pool in keys[:_NAMED_AT_MOST])
    rest = len(keys) - _NAMED_AT_MOST
    return names + (f" and {rest} more" if rest > 0 else "")
