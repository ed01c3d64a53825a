"""Ceph's readings and the volumes that are bound → how the storage of each tenant does. Pure.

A volume belongs to the namespace of its claim, and that to a tenant. Images that no bound volume names (virtual
machines, other clusters) belong to nobody here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

from collector.assemble.ceph_memory import CephState
from collector.model.objects import RbdVolume
from collector.model.reading import Known, Reading, Unknown
from collector.model.tenancy import UNASSIGNED, ObjectiveKind, Tenant
from collector.parse.ceph import RbdImage, Transfer

RBD: Final = "rbd"
"""How objectives and metrics name volumes on RBD images."""


@dataclass(frozen=True, slots=True)
class TenantStorage:
    """All volumes of one tenant together, over the window of the readings."""

    tenant: str
    read: Reading[Transfer]
    write: Reading[Transfer]
    stalled: Reading[bool]
    """Whether a volume did I/O until a stall of Ceph began and has done none since."""

    @property
    def read_latency_seconds(self) -> Reading[float]:
        """Mean of all reads that completed."""
        return self.read if isinstance(self.read, Unknown) else self.read.value.mean_latency_seconds

    @property
    def write_latency_seconds(self) -> Reading[float]:
        """Mean of all writes that completed."""
        return self.write if isinstance(self.write, Unknown) else self.write.value.mean_latency_seconds


def limit_seconds(tenant: Tenant, storage: str = RBD) -> float | None:
    """The tightest latency that the tenant was promised for that storage; None when nothing was."""
    limits = (
        objective.within_seconds
        for objective in tenant.objectives
        if objective.kind is ObjectiveKind.STORAGE_LATENCY and objective.storage == storage
    )
    return min((limit for limit in limits if limit is not None), default=None)


def tenant_storage(
    state: CephState, volumes: Iterable[RbdVolume], owners: Mapping[str, str]
) -> tuple[TenantStorage, ...]:
    """The storage of each tenant that has a bound volume. `owners`: namespace → tenant."""
    images: defaultdict[str, set[RbdImage]] = defaultdict(set)
    for volume in volumes:
        images[owners.get(volume.claim_namespace, UNASSIGNED)].add(RbdImage(*volume.image))
    readings = {reading.image: reading for reading in state.readings.images}
    found: list[TenantStorage] = []
    for tenant, own in sorted(images.items()):
        counted = [readings[image] for image in sorted(own) if image in readings]
        read, write = _summed(one.read for one in counted), _summed(one.write for one in counted)
        found.append(TenantStorage(tenant, read, write, Known(not own.isdisjoint(state.waiting_images))))
    return tuple(found)


def _summed(transfers: Iterable[Reading[Transfer]]) -> Reading[Transfer]:
    """The sum of what is known: a new volume counts from its second scrape on."""
    readings = list(transfers)
    known = [reading for reading in readings if isinstance(reading, Known)]
    if known:
        total = reduce(add, (reading.value for reading in known))
        return Known(total, max(reading.age_seconds for reading in known))
    return next(
        (reading for reading in readings if isinstance(reading, Unknown)),
        Unknown("the manager exports none of its images: is the pool in mgr/prometheus/rbd_stats_pools?"),
    )
