"""What the pods of a namespace use of accelerators together, no device counted twice. Pure: no I/O.

A value of a shared device belongs to all its holders at once. Where their parts were measured, those count; else the
value is divided by the number of holders, between nothing and all of it; where it is not known, there is no sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.index import find
from collector.model.collected import OwnerSum
from collector.model.reading import Known, Unknown
from collector.parse.accelerators import Device

SUMMED: Final = (names.MEMORY_USED, names.POWER, names.ACTIVE)
"""The active ratio summed is the number of whole devices' worth of work."""


@dataclass(slots=True)
class _Sum:
    value: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0
    unknown: str = ""

    def add(self, value: float, lowest: float, highest: float) -> None:
        """One more device, or a part of one."""
        self.value, self.lowest, self.highest = self.value + value, self.lowest + lowest, self.highest + highest


def owner_sums(devices: Iterable[Device], tenants: Mapping[str, str]) -> tuple[OwnerSum, ...]:
    """One sum per fact and namespace that holds a device, in order. `tenants`: namespace → tenant."""
    sums: dict[tuple[str, str], _Sum] = {}
    for device in devices:
        for namespace, holders in _holders_by_namespace(device).items():
            for name in SUMMED:
                _add(sums.setdefault((name, namespace), _Sum()), device, name, namespace, holders)
    return tuple(_owner_sum(name, namespace, one, tenants) for (name, namespace), one in sorted(sums.items()))


def _holders_by_namespace(device: Device) -> Mapping[str, int]:
    if device.partitioned:
        return {}
    return Counter(holder.namespace for holder in device.holders if holder.namespace)


def _add(one: _Sum, device: Device, name: str, namespace: str, holders: int) -> None:
    whole = device.value(name)
    parts = list(_parts(device, name))
    if parts:
        measured = sum(value for owner, value in parts if owner == namespace)
        one.add(measured, measured, measured)
    elif isinstance(whole, Unknown):
        one.unknown = one.unknown or f"{device.uuid or device.index}: {whole.reason}"
    elif holders == len(device.holders):
        one.add(whole.value, whole.value, whole.value)
    else:
        one.add(whole.value * holders / len(device.holders), 0.0, whole.value)


def _parts(device: Device, name: str) -> Iterator[tuple[str, float]]:
    resolved = device.resolved.get((name, ()))
    if resolved is not None and (len(device.holders) > 1 or not isinstance(resolved.reading, Known)):
        yield from ((holder.namespace, value) for holder, value in resolved.parts.items())


def _owner_sum(name: str, namespace: str, one: _Sum, tenants: Mapping[str, str]) -> OwnerSum:
    entry = find(name)
    value = Unknown(one.unknown) if one.unknown else Known(one.value)
    unit = entry.unit.value if entry is not None else ""
    return OwnerSum(name, namespace, tenants.get(namespace, ""), value, one.lowest, one.highest, unit)
