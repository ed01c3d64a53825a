"""One look at a cluster for a verb that reads: picture, site (documents or inferred), snapshot, GPU readings.

Reads only, and remembers nothing: without a history waits are what the objects still tell, a lower bound for work that
was evicted.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from collector.assemble.assemble import assemble
from collector.assemble.clocks import WaitClocks
from collector.assemble.gang_devices import GpuTroubles, troubles_of_window
from collector.assemble.gpu_ledger import Devices, PoolLedger, gpu_ledger
from collector.assemble.infer import Inferred, infer_site, with_known_namespaces
from collector.assemble.lies import lies
from collector.assemble.waiting import named, naming_context
from collector.model.objects import Picture
from collector.model.snapshot import Evidence, Lie, Snapshot, UseTold, WaitingName
from collector.model.tenancy import Site
from collector.sources.kubernetes_api import KubernetesApi, connect
from collector.sources.kubernetes_lists import look_once
from controller.cli.addresses import http_address
from controller.cli.not_known import OF_TENANTS, OF_USE, OF_WAITS, Gap, gaps, unseen, without_invention
from controller.runtime.configuration import Configuration

_STORAGE_SECONDS: Final = 300.0
"""What was read of Ceph longer ago is not told as if it were now."""


@dataclass(frozen=True, slots=True)
class Where:
    """Which cluster, which Prometheus, which documents: the options of a reading verb."""

    kubeconfig: Path | None = None
    context: str | None = None
    prometheus_url: str | None = None
    config: Sequence[Path] = ()
    clocks: WaitClocks = field(default_factory=WaitClocks)
    """What is known of waits before this look."""

    def connection(self) -> KubernetesApi:
        """A connection to the API server. Raises CredentialsProblem."""
        return connect(self.kubeconfig, self.context)


@dataclass(frozen=True, slots=True)
class StorageSeen:
    """How storage is used, in words."""

    tenants: Mapping[str, tuple[UseTold, ...]] = field(default_factory=dict)
    volumes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(namespace, claim) → a sentence, of the busiest."""


@dataclass(frozen=True)  # no slots: what few verbs ask for is worked out once
class View:
    """Everything a reading verb speaks of."""

    server: str
    now: float
    picture: Picture
    site: Site
    inferred: Inferred | None
    """None when the tenants come from documents."""
    snapshot: Snapshot
    devices: Devices
    ledgers: tuple[PoolLedger, ...]
    lies: tuple[Lie, ...]
    storage: StorageSeen = field(default_factory=StorageSeen)
    """Empty as well where no Prometheus was asked, or it knows of no Ceph."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What was not seen."""
        return gaps(self.picture, self.devices)

    @cached_property
    def troubles(self) -> GpuTroubles:
        """Gangs that hang or wait for one rank, GPUs that are not well: as far as one look at a window tells."""
        return troubles_of_window(self.snapshot, self.devices)

    @property
    def use_hidden(self) -> bool:
        """Whether what tenants use can not be told."""
        return unseen(self.picture, OF_USE) or (self.inferred is None and unseen(self.picture, (OF_TENANTS,)))

    @property
    def waits_hidden(self) -> bool:
        """Whether there may be waits that were not seen."""
        return self.use_hidden or unseen(self.picture, OF_WAITS)


def view_of(where: Where, api: KubernetesApi | None = None) -> View:
    """Look now. Raises InputError, CredentialsProblem, SourceError (only when the API server tells nothing at all)."""
    cluster = where.context or "default"
    site = Configuration(where.config, cluster).load().site if where.config else None
    devices = _devices(where.prometheus_url)
    now = time.time()
    connection = api or where.connection()
    picture = with_known_namespaces(look_once(connection, now))
    inferred = infer_site(picture, cluster) if site is None else None
    agreed = site or (inferred.site if inferred else Site(cluster, (), (), ()))
    snapshot = with_reasons(assemble(picture, agreed, Evidence(), where.clocks, now)[0], picture)
    snapshot = without_invention(snapshot, picture)
    return View(
        server=connection.server,
        now=now,
        picture=picture,
        site=agreed,
        inferred=inferred,
        snapshot=snapshot,
        devices=devices,
        ledgers=gpu_ledger(picture, agreed, snapshot.works, devices, now),
        lies=tuple(dict.fromkeys((*snapshot.lies, *lies(picture, agreed)))),
        storage=_storage(where.prometheus_url, agreed, now),
    )


def with_reasons(snapshot: Snapshot, picture: Picture) -> Snapshot:
    """The snapshot in which work within its limit says what keeps it as well: a person asks before it is late."""
    context = naming_context(picture, snapshot.pools, snapshot.tenants, snapshot.taken_at)
    works = []
    for work in snapshot.works:
        why = work.why
        if work.waiting is WaitingName.WITHIN_LIMIT:
            late = replace(work, limit_seconds=-1.0)
            judged = named(late, context)
            # Nothing in its way, and not late: it is about to start, and nothing is broken yet.
            why = why if judged.waiting in (None, WaitingName.BROKEN) else judged.why
        works.append(replace(work, why=why))
    return replace(snapshot, works=tuple(works))


def _storage(url: str | None, site: Site, now: float) -> StorageSeen:
    if url is None:
        return StorageSeen()
    # Only now, as below.
    from collector.assemble.storage_advice import pattern
    from collector.sources.errors import SourceError
    from collector.sources.prometheus import Prometheus
    from collector.sources.storage_evidence import STORAGE_SERIES, storage_evidence
    from collector.sources.storage_use import VOLUME_SERIES, volume_uses

    prometheus = Prometheus(http_address("--prometheus-url", url))
    names = "|".join(sorted(STORAGE_SERIES | VOLUME_SERIES))
    try:
        samples = prometheus.instant(f'{{__name__=~"{names}"}}')
    except SourceError:
        return StorageSeen()  # it is told already that Prometheus does not answer
    finally:
        prometheus.close()
    named = [one for one in samples if one.labels.get("cluster") == site.cluster]
    own = named or list(samples)  # a context may bear another name than the collector gave the cluster
    volumes = {claim: pattern(use) for claim, use in volume_uses(own).items()}
    return StorageSeen(storage_evidence(own, site, now, _STORAGE_SECONDS).uses, volumes)


def _devices(url: str | None) -> Devices:
    if url is None:
        return Devices()
    address = http_address("--prometheus-url", url)
    # Only now: most looks need no HTTP client beside that of the API server.
    from collector.sources.gpu_series import read_devices
    from collector.sources.prometheus import Prometheus

    window_seconds = Devices().window_seconds
    prometheus = Prometheus(address)
    try:
        return read_devices(prometheus, window_seconds)
    finally:
        prometheus.close()
