"""How a tenant uses its storage, in a sentence, and what would make it quicker: advice for people. Pure.

Only what follows from what is known is advised. Whether I/O is sequential or random is known where nodes tell how many
requests their kernel merged, and not from sizes; elsewhere it is unknown, and advice that depends on it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.assemble.disturbances import Disturbance, Kind
from collector.model.objects import CephClient
from collector.model.reading import Known, Reading, Unknown

WAVES_FROM: Final = 2.0
"""Burstiness from which writes come in waves."""
SMALL_BYTES: Final = 64 * 1024.0
LARGE_BYTES: Final = 512 * 1024.0
MOSTLY: Final = 0.7
SEQUENTIAL_FROM: Final = 0.5
"""Share of requests that the kernel merged with their neighbour."""
RANDOM_UP_TO: Final = 0.05
_IDLE_OPERATIONS: Final = 1.0
_NO_STATISTICS: Final = "no node tells how many requests of its volumes were merged (krbd, read by the node role)"


@dataclass(frozen=True, slots=True)
class StorageUse:
    """All volumes of a tenant on one kind of storage."""

    tenant: str
    storage: str = "rbd"
    read_operations_per_second: Reading[float] = Unknown("not exported")
    write_operations_per_second: Reading[float] = Unknown("not exported")
    read_bytes_per_second: Reading[float] = Unknown("not exported")
    write_bytes_per_second: Reading[float] = Unknown("not exported")
    write_burstiness: Reading[float] = Unknown("not exported")
    merged_ratio: Reading[float] = Unknown(_NO_STATISTICS)
    """Share of requests that kernels merged with a neighbour."""
    clients: Mapping[str, float] = field(default_factory=dict)
    """`CephClient` → volumes."""
    unmeasured: float = 0.0
    """Volumes whose I/O Ceph does not count."""
    slow: bool = False
    """Whether it is slower than promised, or stands still."""

    @property
    def operations_per_second(self) -> Reading[float]:
        """Reads and writes."""
        return _together(self.read_operations_per_second, self.write_operations_per_second)

    @property
    def read_ratio(self) -> Reading[float]:
        """Share of reads in the operations."""
        return _quotient(self.read_operations_per_second, self.operations_per_second)

    @property
    def read_size_bytes(self) -> Reading[float]:
        """Mean size of a read."""
        return _quotient(self.read_bytes_per_second, self.read_operations_per_second)

    @property
    def write_size_bytes(self) -> Reading[float]:
        """Mean size of a write."""
        return _quotient(self.write_bytes_per_second, self.write_operations_per_second)

    @property
    def order(self) -> Reading[str]:
        """sequential, random or mixed."""
        if isinstance(self.merged_ratio, Unknown):
            return self.merged_ratio
        ratio = self.merged_ratio.value
        word = "sequential" if ratio >= SEQUENTIAL_FROM else "random" if ratio <= RANDOM_UP_TO else "mixed"
        return Known(word, self.merged_ratio.age_seconds)

    @property
    def in_waves(self) -> bool:
        """Whether writes are known to come in waves."""
        return isinstance(self.write_burstiness, Known) and self.write_burstiness.value >= WAVES_FROM


def pattern(use: StorageUse) -> str:
    """One sentence about how the tenant reads and writes."""
    if isinstance(use.operations_per_second, Unknown):
        return f"What it reads and writes on {use.storage} is unknown: {use.operations_per_second.reason}."
    if use.operations_per_second.value < _IDLE_OPERATIONS:
        return f"It hardly reads or writes on {use.storage} now."
    parts = [f"{use.operations_per_second.value:.0f} operations/s on {use.storage}"]
    if isinstance(use.read_ratio, Known):
        parts.append(f"{use.read_ratio.value:.0%} reads")
    sizes = (("read", use.read_size_bytes), ("write", use.write_size_bytes))
    parts += [f"{_size(size.value)} a {way}" for way, size in sizes if isinstance(size, Known)]
    if isinstance(use.write_burstiness, Known):
        parts.append("writes in waves" if use.in_waves else "no waves")
    order = use.order
    told = f"order unknown: {order.reason}" if isinstance(order, Unknown) else order.value
    return f"{', '.join(parts)}; {told}."


def advice(use: StorageUse, going_on: Iterable[Disturbance] = ()) -> tuple[str, ...]:
    """What would make it quicker, each a sentence; nothing where nothing is known to help."""
    kinds = {one.kind for one in going_on}
    return (*_about_ceph(use, kinds), *_about_pattern(use), *_about_client(use))


def _about_ceph(use: StorageUse, kinds: Iterable[Kind]) -> Iterator[str]:
    """Only while it is slow: a recovery that hurts nobody needs no advice."""
    if use.slow:
        yield from (words for kind, words in _OF_CEPH.items() if kind in set(kinds))


_OF_CEPH: Final = {
    Kind.PAUSED: "Clients are stopped by a flag: ceph osd unpause.",
    Kind.FULL: "Free or add space first: Ceph refuses writes.",
    Kind.SILENT: "Restart the OSD that is silent, or mark it down, so that its peers go on without it.",
    Kind.AWAITED: "Take out the OSD that others wait for (ceph osd out): the primaries that complain are healthy.",
    Kind.SLOW_DISK: "Take out the OSD whose disk is slow (ceph osd out), once the rest has room for its data.",
    Kind.RECOVERY: "Let clients go before recovery: mclock profile high_client_ops, or a lower osd_max_backfills.",
    Kind.SCRUB: "Scrub while the cluster is quiet: osd_scrub_begin_hour and osd_scrub_end_hour.",
}


def _about_pattern(use: StorageUse) -> Iterator[str]:
    operations = use.operations_per_second
    if isinstance(operations, Unknown) or operations.value < _IDLE_OPERATIONS:
        return
    if use.in_waves:
        yield (
            "It writes in waves, as checkpoints do: spread the checkpoints of its jobs over time, or write them to "
            "local disks first and copy them behind the training; more bandwidth on average would not help."
        )
    reads, size = use.read_ratio, use.read_size_bytes
    if isinstance(reads, Known) and reads.value >= MOSTLY and isinstance(size, Known):
        yield from _about_reads(size.value, use.order)
    write_size = use.write_size_bytes
    mostly_writes = isinstance(reads, Known) and reads.value <= 1 - MOSTLY and not use.in_waves
    if mostly_writes and isinstance(write_size, Known) and write_size.value <= SMALL_BYTES:
        yield "Its writes are small: gather them (larger buffers, fewer fsyncs); what stays is for a pool on flash."


def _about_reads(size: float, order: Reading[str]) -> Iterator[str]:
    sequential = isinstance(order, Known) and order.value == "sequential"
    if size <= SMALL_BYTES and not sequential:
        yield (
            "It reads in small pieces: pack the data set into large shards, or keep a copy on local disks of the "
            "nodes; a pool on flash helps, a wider one of hard disks does not."
        )
    if sequential:
        yield "It reads in sequence: a larger read-ahead on the nodes (read_ahead_kb) helps, and hard disks will do."
    elif size >= LARGE_BYTES and isinstance(order, Unknown):
        yield "It reads large pieces: if in sequence, a larger read-ahead helps; nothing here tells whether it is."


def _about_client(use: StorageUse) -> Iterator[str]:
    kernel = use.clients.get(CephClient.KRBD, 0.0)
    if kernel and use.slow:
        which = "Its volumes are" if kernel == sum(use.clients.values()) else f"{kernel:.0f} of its volumes are"
        yield (
            f"{which} mapped by the kernel: rbd_qos_… limits do nothing there; hold a noisy pod back by its cgroup "
            "(io.max)."
        )
    if use.unmeasured:
        yield (
            f"{use.unmeasured:.0f} of its volumes on {use.storage} are not measured: "
            + (
                "Ceph counts no I/O per subvolume."
                if use.storage == "cephfs"
                else "add their pools to mgr/prometheus/rbd_stats_pools."
            )
        )


def _together(one: Reading[float], other: Reading[float]) -> Reading[float]:
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return one if isinstance(one, Unknown) else other
    return Known(one.value + other.value, max(one.age_seconds, other.age_seconds))


def _quotient(part: Reading[float], whole: Reading[float]) -> Reading[float]:
    if isinstance(part, Unknown) or isinstance(whole, Unknown):
        return part if isinstance(part, Unknown) else whole
    if whole.value <= 0:
        return Unknown("nothing moves")
    return Known(part.value / whole.value, max(part.age_seconds, whole.age_seconds))


def _size(count: float) -> str:
    return f"{count / 1024:.0f} KiB" if count < 1024 * 1024 else f"{count / 1024 / 1024:.1f} MiB"
