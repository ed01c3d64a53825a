"""A small Ceph as its manager counts it: disks with a latency each, images that do I/O on them. Does no I/O itself.

Counters only grow, as real ones do; what they mean stands in `collector.parse.ceph`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

READS_PER_GPU_SECOND: Final = 6.0
WRITES_PER_GPU_SECOND: Final = 1.5
_READ_BYTES: Final = 256 * 1024
_WRITE_BYTES: Final = 1024 * 1024
_REPLICAS: Final = 3
_SLOW_SECONDS: Final = 1.8
"""What an operation takes on a disk that fails without saying so."""
_BASE_SECONDS: Final = {"fast": 0.0006, "capacity": 0.009}


@dataclass(slots=True)
class IoCounters:
    """Operations of one kind since the start."""

    operations: float = 0.0
    latency_seconds: float = 0.0
    bytes: float = 0.0

    def add(self, operations: float, latency_seconds: float, size: int) -> None:
        """Count operations that took `latency_seconds` each."""
        self.operations += operations
        self.latency_seconds += operations * latency_seconds
        self.bytes += operations * size


@dataclass(slots=True)
class Osd:
    """One disk of a storage pool."""

    number: int
    pool: str
    slow: bool = False
    read: IoCounters = field(default_factory=IoCounters)
    write: IoCounters = field(default_factory=IoCounters)
    busy: bool = False

    @property
    def latency_seconds(self) -> float:
        """What an operation takes here now."""
        return _SLOW_SECONDS if self.slow else _BASE_SECONDS[self.pool] * (1 + self.number % 3 / 10)


@dataclass(slots=True)
class Image:
    """One RBD image."""

    pool: str
    name: str
    read: IoCounters = field(default_factory=IoCounters)
    write: IoCounters = field(default_factory=IoCounters)


class CephModel:
    """Disks and images. `images`: tenant → (pool, name)."""

    def __init__(self, images: Mapping[str, tuple[str, str]], osds_per_pool: int = 4) -> None:
        pools = sorted({pool for pool, _ in images.values()}, reverse=True)
        numbered = enumerate(pool for pool in pools for _ in range(osds_per_pool))
        self.osds = [Osd(number, pool) for number, pool in numbered]
        self.images = {tenant: Image(pool, name) for tenant, (pool, name) in images.items()}
        self.rounds = 0

    def advance(self, seconds: float, busy_gpus: Mapping[str, float]) -> None:
        """Let time pass. `busy_gpus`: tenant → GPUs that work, those of slowed jobs in part."""
        self.rounds += 1
        for osd in self.osds:
            osd.busy = False
        for tenant, image in sorted(self.images.items()):
            gpus = busy_gpus.get(tenant, 0.0)
            if gpus > 0:
                self._transfer(image, gpus * seconds)

    def set_slow(self, tenants: Collection[str]) -> None:
        """The last disk of the pool of each of these tenants is slow, all others are well."""
        pools = {self.images[tenant].pool for tenant in tenants}
        for osd in self.osds:
            last = max(other.number for other in self.osds if other.pool == osd.pool)
            osd.slow = osd.pool in pools and osd.number == last

    def _transfer(self, image: Image, gpu_seconds: float) -> None:
        osds = [osd for osd in self.osds if osd.pool == image.pool]
        reads, writes = gpu_seconds * READS_PER_GPU_SECOND, gpu_seconds * WRITES_PER_GPU_SECOND
        slowest = max(osd.latency_seconds for osd in osds)
        any_slow = min(1.0, _REPLICAS / len(osds)) if any(osd.slow for osd in osds) else 0.0
        mean = _mean(osd.latency_seconds for osd in osds)
        # A read asks one disk, a write waits for the slowest of its replicas.
        write_seconds = any_slow * slowest + (1 - any_slow) * min(osd.latency_seconds for osd in osds)
        image.read.add(reads, mean, _READ_BYTES)
        image.write.add(writes, write_seconds, _WRITE_BYTES)
        for osd in osds:
            osd.busy = True
            osd.read.add(reads / len(osds), osd.latency_seconds, _READ_BYTES)
            osd.write.add(writes / len(osds), max(osd.latency_seconds, any_slow * slowest), _WRITE_BYTES)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
