"""Ceph's readings and the volumes that are bound → how the storage of each tenant does. Pure.

A volume belongs to the namespace of its claim, and that to a tenant. Images that no bound volume names (virtual
machines, other clusters) belong to nobody here, and how much of all I/O that is, is told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Final

from collector.assemble.ceph_memory import CephState
from collector.assemble.ceph_progress import Worst
from collector.model.objects import CephClient, CephVolume, FsVolume, RbdVolume
from collector.model.reading import Known, Reading, Unknown
from collector.model.tenancy import UNASSIGNED, ObjectiveKind, Tenant
from collector.parse.ceph import ImageReading, Transfer
from collector.parse.ceph_names import RbdImage

RBD: Final = "rbd"
"""How objectives and metrics name volumes on RBD images."""
CEPHFS: Final = "cephfs"
NOT_PER_SUBVOLUME: Final = "Ceph counts no I/O per subvolume of CephFS"
_NOT_EXPORTED: Final = "the manager exports none of its images: is the pool in mgr/prometheus/rbd_stats_pools?"


@dataclass(frozen=True, slots=True)
class TenantStorage:
    """All volumes of one tenant on one kind of storage together, over the window of the readings."""

    tenant: str
    read: Reading[Transfer]
    write: Reading[Transfer]
    stalled: Reading[bool]
    """Whether a volume did I/O until a stall of Ceph began and has done none since."""
    storage: str = RBD
    worst: Worst = field(default_factory=Worst)
    read_burstiness: Reading[float] = Unknown("not watched")
    write_burstiness: Reading[float] = Unknown("not watched")
    volumes: Mapping[tuple[CephClient, bool], int] = field(default_factory=dict)
    """(what does their I/O, whether Ceph counts it) → volumes."""

    @property
    def read_latency_seconds(self) -> Reading[float]:
        """Mean of all reads that completed."""
        return self.read if isinstance(self.read, Unknown) else self.read.value.mean_latency_seconds

    @property
    def write_latency_seconds(self) -> Reading[float]:
        """Mean of all writes that completed."""
        return self.write if isinstance(self.write, Unknown) else self.write.value.mean_latency_seconds


@dataclass(frozen=True, slots=True)
class VolumeStorage:
    """One bound volume on an RBD image."""

    tenant: str
    volume: RbdVolume
    read: Reading[Transfer]
    write: Reading[Transfer]
    write_burstiness: Reading[float]
    waits: bool

    @property
    def bytes(self) -> float:
        """Moved within the window; 0 where it is unknown: only for an order."""
        known = [one.value.bytes for one in (self.read, self.write) if isinstance(one, Known)]
        return sum(known)


def limit_seconds(tenant: Tenant, storage: str = RBD) -> float | None:
    """The tightest latency that the tenant was promised for that storage; None when nothing was."""
    limits = (
        objective.within_seconds
        for objective in tenant.objectives
        if objective.kind is ObjectiveKind.STORAGE_LATENCY and objective.storage == storage
    )
    return min((limit for limit in limits if limit is not None), default=None)


def tenant_storage(
    state: CephState, volumes: Iterable[CephVolume], owners: Mapping[str, str]
) -> tuple[TenantStorage, ...]:
    """The storage of each tenant that has a bound volume. `owners`: namespace → tenant."""
    images: defaultdict[str, dict[RbdImage, CephClient]] = defaultdict(dict)
    subvolumes: defaultdict[str, Counter[tuple[CephClient, bool]]] = defaultdict(Counter)
    for volume in volumes:
        tenant = owners.get(volume.claim_namespace, UNASSIGNED)
        if isinstance(volume, FsVolume):
            subvolumes[tenant][volume.client, False] += 1
        else:
            images[tenant][RbdImage(*volume.image)] = volume.client
    readings = {reading.image: reading for reading in state.readings.images}
    found = [_on_images(state, tenant, own, readings) for tenant, own in images.items()]
    nothing = Unknown(NOT_PER_SUBVOLUME)
    found += [
        TenantStorage(tenant, nothing, nothing, nothing, CEPHFS, Worst(), nothing, nothing, own)
        for tenant, own in subvolumes.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.tenant, one.storage)))


def _on_images(
    state: CephState, tenant: str, own: Mapping[RbdImage, CephClient], readings: Mapping[RbdImage, ImageReading]
) -> TenantStorage:
    counted = [readings[image] for image in sorted(own) if image in readings]
    worsts = (state.worst_images[image] for image in own if image in state.worst_images)
    return TenantStorage(
        tenant=tenant,
        read=_summed(one.read for one in counted),
        write=_summed(one.write for one in counted),
        stalled=Known(not own.keys().isdisjoint(state.waiting_images)),
        worst=reduce(Worst.or_worse, worsts, Worst()),
        read_burstiness=state.bursts.burstiness(own, "read"),
        write_burstiness=state.bursts.burstiness(own, "write"),
        volumes=Counter((client, image in readings) for image, client in own.items()),
    )


def volume_storage(
    state: CephState, volumes: Iterable[CephVolume], owners: Mapping[str, str]
) -> tuple[VolumeStorage, ...]:
    """Each bound volume on RBD, those that move most first. One whose image is gone has no numbers."""
    readings = {reading.image: reading for reading in state.readings.images}
    found: list[VolumeStorage] = []
    for volume in volumes:
        if isinstance(volume, FsVolume):
            continue
        image = RbdImage(*volume.image)
        reading = readings.get(image) or ImageReading(image, Unknown(_NOT_EXPORTED), Unknown(_NOT_EXPORTED))
        bursts = state.bursts.burstiness((image,), "write")
        tenant = owners.get(volume.claim_namespace, UNASSIGNED)
        waits = image in state.waiting_images
        found.append(VolumeStorage(tenant, volume, reading.read, reading.write, bursts, waits))
    return tuple(sorted(found, key=lambda one: (-one.bytes, one.volume.name)))


def unattributed_ratio(state: CephState, volumes: Iterable[CephVolume]) -> Reading[float]:
    """Share of the operations on all images that no bound volume here names."""
    bound = {RbdImage(*volume.image) for volume in volumes if isinstance(volume, RbdVolume)}
    known = [
        (image.image, image.completed.value) for image in state.readings.images if isinstance(image.completed, Known)
    ]
    total = sum(count for _, count in known)
    if total <= 0:
        return Unknown("no image that the manager exports did any I/O")
    return Known(sum(count for image, count in known if image not in bound) / total, state.age_seconds)


def pool_latency_seconds(state: CephState, pool: str) -> tuple[Reading[float], Reading[float]]:
    """Mean of reads and of writes over the images of a pool: Ceph counts no latency of pools."""
    images = [one for one in state.readings.images if one.image.pool == pool]
    if not images:
        nothing = Unknown("Ceph counts no latency of pools, and it has no image whose statistics are on")
        return nothing, nothing
    read, write = _summed(one.read for one in images), _summed(one.write for one in images)
    return (
        read if isinstance(read, Unknown) else read.value.mean_latency_seconds,
        write if isinstance(write, Unknown) else write.value.mean_latency_seconds,
    )


def _summed(transfers: Iterable[Reading[Transfer]]) -> Reading[Transfer]:
    """The sum of what is known: a new volume counts from its second scrape on."""
    readings = list(transfers)
    known = [reading for reading in readings if isinstance(reading, Known)]
    if known:
        total = reduce(add, (reading.value for reading in known))
        return Known(total, max(reading.age_seconds for reading in known))
    return next((reading for reading in readings if isinstance(reading, Unknown)), Unknown(_NOT_EXPORTED))
