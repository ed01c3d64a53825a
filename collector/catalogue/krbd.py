"""Images of RBD that the kernel of a node has mapped, by the disk statistics of their devices. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

KRBD_PREFIX: Final = "trimtab_krbd_"
KRBD_LABELS: Final = ("node", "device", "ceph_pool", "image_namespace", "image")
_HERE: Final = "what librbd does is not among it"


def _entry(name: str, unit: Unit, meaning: str, *traps: str) -> Metric:
    return Metric(KRBD_PREFIX + name, Kind.COUNTER, unit, KRBD_LABELS, Source.COLLECTOR, meaning, (*traps, _HERE))


KRBD: Final = tuple(
    entry
    for way in ("read", "write")
    for entry in (
        _entry(f"{way}_operations_total", Unit.OPERATIONS, f"{way.capitalize()}s that the node sent to Ceph."),
        _entry(
            f"{way}_merged_operations_total",
            Unit.OPERATIONS,
            f"{way.capitalize()}s that the kernel merged with a neighbour before it sent them: the sign of a sequence.",
            "read-ahead makes large requests that need no merging: few merges of large requests prove nothing",
        ),
        _entry(f"{way}_bytes_total", Unit.BYTES, f"Bytes of these {way}s."),
    )
)
