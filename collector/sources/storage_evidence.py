"""The collector's series about storage, as Prometheus has them now → whose storage is in trouble. Asks nobody itself.

How old they are is said by one of them: when the collector last read Ceph. Where none says so, no Ceph is watched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.assemble.disturbances import Disturbance, Kind, Scope
from collector.assemble.osd_blame import OsdFacts, blamed
from collector.assemble.storage import RBD, limit_seconds
from collector.assemble.storage_advice import advice, pattern
from collector.assemble.storage_trouble import VolumeFacts, storage_trouble
from collector.model.quantities import format_duration
from collector.model.reading import Reading, Unknown, mapped, number
from collector.model.snapshot import OtherCause, OtherKind, UseTold
from collector.model.tenancy import Site
from collector.sources.prometheus import VectorSample
from collector.sources.storage_use import USE_SERIES, storage_uses

LAST_SUCCESS: Final = "trimtab_collector_last_success_timestamp_seconds"
_READ_LATENCY: Final = "trimtab_storage_read_latency_seconds"
_WRITE_LATENCY: Final = "trimtab_storage_write_latency_seconds"
_STALLED: Final = "trimtab_storage_stalled"
_OSD_STALLED: Final = "trimtab_storage_osd_stalled"
_OSD_COMMIT: Final = "trimtab_storage_osd_commit_latency_seconds"
_SLOW: Final = "trimtab_storage_slow_operations"
_DISTURBANCE: Final = "trimtab_storage_disturbance"
STORAGE_SERIES: Final = USE_SERIES | frozenset(
    (LAST_SUCCESS, _READ_LATENCY, _WRITE_LATENCY, _STALLED, _OSD_STALLED, _OSD_COMMIT, _SLOW, _DISTURBANCE)
)
"""What to ask for."""
_SOURCE: Final = "ceph"


@dataclass(frozen=True, slots=True)
class StorageEvidence:
    """Tenants in trouble with their cause, and why nothing can be said now; None when it can, or nothing is watched."""

    causes: Mapping[str, tuple[OtherCause, ...]] = field(default_factory=dict)
    unseen: str | None = None
    uses: Mapping[str, tuple[UseTold, ...]] = field(default_factory=dict)
    """Tenant → how it uses each kind of storage, with advice."""


def storage_evidence(samples: Iterable[VectorSample], site: Site, now: float, limit: float) -> StorageEvidence:
    """What `samples` (of one cluster, at `now`) say about the tenants of the site. `limit`: how old, in seconds."""
    samples = list(samples)
    values = _Values(samples, now)
    if values.read_at is None:
        return StorageEvidence()
    age_seconds = now - values.read_at
    if age_seconds > limit:
        when = f"{format_duration(age_seconds)} ago" if values.read_at > 0 else "never"
        return StorageEvidence(unseen=f"it was last read {when}")
    osds = [values.osd(name) for name in values.daemons()]
    facts = (
        VolumeFacts(
            tenant=tenant.name,
            limit_seconds=limit_seconds(tenant),
            read_latency_seconds=values.about(_READ_LATENCY, tenant.name),
            write_latency_seconds=values.about(_WRITE_LATENCY, tenant.name),
            stalled=mapped(values.about(_STALLED, tenant.name), bool),
        )
        for tenant in site.tenants
    )
    troubles = [storage_trouble(volumes, osds, values.going_on) for volumes in facts]
    causes = {found.tenant: (OtherCause(OtherKind.CEPH, found.sentence),) for found in troubles if found is not None}
    going_on = (*values.going_on, *([Disturbance(Kind.SLOW_DISK, Scope.OSD)] if blamed(osds) else []))
    uses = storage_uses(samples, frozenset(causes), age_seconds)
    told = {
        tenant: tuple(UseTold(use.storage, pattern(use), advice(use, going_on)) for use in own)
        for tenant, own in uses.items()
        if site.tenant(tenant) is not None
    }
    return StorageEvidence(causes, uses=told)


class _Values:
    """Values by metric and what it is about. Of two replicas of the collector the higher counts."""

    def __init__(self, samples: Iterable[VectorSample], now: float) -> None:
        self._by_name: dict[str, dict[str, float]] = {name: {} for name in STORAGE_SERIES}
        self.read_at: float | None = None
        self.going_on: list[Disturbance] = []
        for sample in samples:
            if sample.labels.get("__name__") == _DISTURBANCE:
                self.going_on += _disturbance(sample)
                continue
            series = self._by_name.get(sample.labels.get("__name__", ""))
            key = _key(sample)
            if series is not None and key is not None:
                series[key] = max(sample.value, series.get(key, sample.value))
        self.read_at = self._by_name[LAST_SUCCESS].get(_SOURCE)
        self._age_seconds = max(0.0, now - (self.read_at or 0.0))

    def daemons(self) -> list[str]:
        """Every OSD that any series is about."""
        return sorted(
            {name for metric in (_OSD_STALLED, _OSD_COMMIT, _SLOW, _DISTURBANCE) for name in self._by_name[metric]}
        )

    def osd(self, name: str) -> OsdFacts:
        """What is known of one OSD."""
        return OsdFacts(
            name=name,
            commit_latency_seconds=self.about(_OSD_COMMIT, name),
            slow_operations=self.about(_SLOW, name),
            stalled=mapped(self.about(_OSD_STALLED, name), bool),
        )

    def about(self, metric: str, key: str) -> Reading[float]:
        """The value about a tenant, or about an OSD."""
        value = self._by_name[metric].get(key)
        if value is None:
            return Unknown(f"Prometheus has no {metric} for it")
        return number(value, self._age_seconds, metric)


def _disturbance(sample: VectorSample) -> Iterable[Disturbance]:
    """None where it does not go on, or a newer collector has another word for it."""
    kind, scope = sample.labels.get("disturbance", ""), sample.labels.get("scope", "")
    if sample.value > 0 and kind in set(Kind) and scope in set(Scope):
        yield Disturbance(Kind(kind), Scope(scope), sample.labels.get("where", ""))


def _key(sample: VectorSample) -> str | None:
    labels = sample.labels
    if labels.get("__name__") == LAST_SUCCESS:
        return labels.get("source")
    if labels.get("storage", RBD) != RBD:
        return None
    return labels.get("tenant") or labels.get("daemon")
