"""The accelerators of a text as readings: one record per device for the collector, or a number per fact by name. Pure.

An error code that is merely the last one seen is never counted: repeats of it can not be seen, which is said. A
device's value is a tenant's only where the device is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, TypeVar

from collector.catalogue import accelerators as names
from collector.catalogue.error_codes import xid_kind
from collector.catalogue.index import find
from collector.catalogue.spelling import Vocabulary
from collector.catalogue.spellings.index import ACCELERATOR_VOCABULARIES
from collector.model.accelerator import Attribution, GpuHolder, GpuReading
from collector.model.collected import NormalReading
from collector.model.reading import Known, Reading, Unknown, mapped, total
from collector.parse.accelerators import Device, FactKey, find_devices
from collector.parse.exposition import Exposition
from collector.parse.vocabulary import words

T = TypeVar("T")

PROCESS_SLICE: Final = "process"
"""The slice of a holder whose part of a device was measured, and is no device of its own."""
REPEATS_UNSEEN: Final = "the exporter shows the last code alone: repeats of it can not be seen"
_TAKES_TWO: Final = "from counters it takes two readings"
_NVIDIA: Final = "nvidia"


def gpu_readings(
    exposition: Exposition,
    node: str = "",
    age_seconds: float = 0.0,
    vocabularies: Sequence[Vocabulary] = ACCELERATOR_VOCABULARIES,
) -> tuple[GpuReading, ...]:
    """Every GPU and slice named in the scrape, whatever vendor's, by node, index and slice.

    `node` overrides what the exporter calls its host; `age_seconds` is the age of the scrape. Samples that name
    no GPU are left out. A fact that is absent, blank or out of range is Unknown with its reason.
    """
    meanings = words(exposition.samples, vocabularies)
    found: list[GpuReading] = []
    for vocabulary in vocabularies:
        ours = [one for one in exposition.samples if (word := meanings.get(one.name)) and word.vocabulary is vocabulary]
        if ours:
            devices = find_devices(vocabulary, ours, meanings, node, age_seconds).devices
            found += (_gpu_reading(device) for device in devices)
    return _in_order(found)


def merge_gpu_readings(*sources: Iterable[GpuReading]) -> tuple[GpuReading, ...]:
    """One reading per device out of several scrapes or exporters: of each fact the youngest known one.

    On equal age the earlier source wins. Holders are united; names come from the first source that has them.
    """
    merged: dict[tuple[str, str], GpuReading] = {}
    for reading in chain.from_iterable(sources):
        earlier = merged.get(reading.key)
        merged[reading.key] = _united(earlier, reading) if earlier else reading
    return _in_order(merged.values())


def normal_readings(
    devices: Iterable[Device], tenants: Mapping[str, str], time: float | None
) -> Iterator[NormalReading]:
    """Every fact of every device under its name. `tenants`: namespace → tenant; `time`: when the source was asked."""
    for device in devices:
        yield from _Speaker(device, tenants, time).readings()


class _Speaker:
    """Says what is known of one device."""

    def __init__(self, device: Device, tenants: Mapping[str, str], time: float | None) -> None:
        self._device, self._tenants, self._time = device, tenants, time
        self._record = _gpu_reading(device)
        self._shared = self._record.attribution == "shared"

    def readings(self) -> Iterator[NormalReading]:
        """The core facts, known or not; then whatever else the exporter tells."""
        device = self._device
        labels = self._labels()
        for name in names.CORE:
            yield self._reading(name, self._core(name), labels, self._time_of((name, ())))
        for key, resolved in device.resolved.items():
            if key[0] not in names.CORE or key[1]:
                yield self._reading(key[0], resolved.reading, labels | self._further(key), resolved.time)
        yield from self._unseen_repeats(labels)
        if self._shared:
            yield from self._parts()

    def _core(self, name: str) -> Reading[float]:
        if name == names.HEALTH:
            return self._record.health
        if name == names.THROTTLE and (name, ()) not in self._whole.resolved:
            counted = any(key[0] == names.THROTTLED for key in self._whole.resolved)
            return Unknown(_TAKES_TWO) if counted else self._device.value(name)
        return self._device.value(name)

    @property
    def _whole(self) -> Device:
        return self._device.whole or self._device

    def _time_of(self, key: FactKey) -> float | None:
        found = self._device.resolved.get(key) or self._whole.resolved.get(key)
        return found.time if found is not None else None

    def _further(self, key: FactKey) -> dict[str, str]:
        further = dict(key[1])
        if "code" in further:
            further["kind"] = _kind(self._device.vocabulary.vendor, further["code"])
        return further

    def _unseen_repeats(self, labels: dict[str, str]) -> Iterator[NormalReading]:
        last = self._device.resolved.get((names.LAST_ERROR, ()))
        if last is None or not isinstance(last.reading, Known) or last.reading.value == 0:
            return
        code = f"{last.reading.value:.0f}"
        if not any(key[0] == names.ERRORS and ("code", code) in key[1] for key in self._device.resolved):
            further = {"code": code, "kind": _kind(self._device.vocabulary.vendor, code)}
            yield self._reading(names.ERRORS, Unknown(REPEATS_UNSEEN), labels | further, last.time)

    def _parts(self) -> Iterator[NormalReading]:
        """What was measured for single holders of a shared device: theirs alone, so it may be summed."""
        for key, resolved in self._device.resolved.items():
            for holder, value in resolved.parts.items():
                part = Known(value)
                yield self._reading(key[0], part, self._labels_of_part(holder) | self._further(key), resolved.time)

    def _labels(self) -> dict[str, str]:
        record = self._record
        namespaces = {holder.namespace for holder in record.holders}
        pods = {holder.pod for holder in record.holders}
        namespace = namespaces.pop() if len(namespaces) == 1 else ""
        pod = pods.pop() if len(pods) == 1 and namespace else ""
        return self._labelled(record.key[1], namespace, pod, record.attribution)

    def _labels_of_part(self, holder: GpuHolder) -> dict[str, str]:
        return self._labelled(holder.replica or PROCESS_SLICE, holder.namespace, holder.pod, "slice")

    def _labelled(self, slice_id: str, namespace: str, pod: str, attribution: Attribution) -> dict[str, str]:
        record = self._record
        return {
            "vendor": record.vendor,
            "model": record.model,
            "node": record.node,
            "device": record.uuid or record.index,
            "slice": slice_id,
            "tenant": self._tenants.get(namespace, "") if namespace else "",
            "namespace": namespace,
            "pod": pod,
            "attribution": attribution,
            "via": self._device.vocabulary.source,
        }

    def _reading(
        self, name: str, value: Reading[float], labels: Mapping[str, str], time: float | None
    ) -> NormalReading:
        entry = find(name)
        unit = entry.unit.value if entry is not None else ""
        source = self._device.vocabulary.source
        return NormalReading(name, value, unit, labels, self._time if time is None else time, source)


def _gpu_reading(device: Device) -> GpuReading:
    value = device.value
    return GpuReading(
        uuid=device.uuid,
        index=device.index,
        node=device.node,
        model=device.model,
        mig=device.mig,
        partitioned=device.partitioned,
        holders=tuple(device.holders),
        activity_ratio=value(names.ACTIVE),
        utilization_ratio=value(names.UTILIZATION),
        memory_used_bytes=value(names.MEMORY_USED),
        memory_total_bytes=value(names.MEMORY_TOTAL),
        power_watts=value(names.POWER),
        temperature_celsius=value(names.TEMPERATURE),
        last_xid_code=_last_xid(device),
        vendor=device.vocabulary.vendor,
        health=_health(device),
        tensor_active_ratio=value(names.TENSOR),
        memory_active_ratio=value(names.MEMORY_ACTIVE),
        power_limit_watts=_whole_value(device, names.POWER_LIMIT),
        clock_hertz=_whole_value(device, names.CLOCK),
        throttled_seconds=_throttled(device),
        throttle_ratio=value(names.THROTTLE),
    )


def _whole_value(device: Device, name: str) -> Reading[float]:
    return (device.whole or device).value(name)


def _throttled(device: Device) -> Reading[float]:
    """All that holds the clock back and should not, together."""
    counted = [
        resolved.reading
        for key, resolved in (device.whole or device).resolved.items()
        if key[0] == names.THROTTLED and dict(key[1]).get("throttle") in names.HARMFUL_THROTTLES
    ]
    return total(counted) if counted else Unknown("no counter of throttling is exported")


def _last_xid(device: Device) -> Reading[int]:
    if device.vocabulary.vendor != _NVIDIA:
        return Unknown("no error codes of NVIDIA on it")
    return mapped(device.value(names.LAST_ERROR), int)


def _kind(vendor: str, code: str) -> str:
    return xid_kind(int(code)) if vendor == _NVIDIA and code.isdecimal() else "other"


def _health(device: Device) -> Reading[float]:
    """The exporter's own judgement; sick as well for a code of broken hardware, well for one that is none."""
    told = device.value(names.HEALTH)
    whole = device.whole or device
    counted = [
        _kind(device.vocabulary.vendor, dict(key[1]).get("code", ""))
        for key, resolved in whole.resolved.items()
        if key[0] in (names.ERRORS, names.RECENT_ERRORS) and isinstance(resolved.reading, Known)
        if resolved.reading.value > 0
    ]
    last = _last_xid(device)
    kind = xid_kind(last.value) if isinstance(last, Known) else ""
    if kind == "hardware" or "hardware" in counted:
        return Known(0.0)
    if isinstance(told, Known) or not kind:
        return told
    if kind == "other":
        return Unknown(f"error code {last.value if isinstance(last, Known) else ''} does not tell whose fault it is")
    return Known(1.0, last.age_seconds if isinstance(last, Known) else 0.0)


def _united(earlier: GpuReading, later: GpuReading) -> GpuReading:
    return GpuReading(
        uuid=earlier.uuid,
        index=earlier.index or later.index,
        node=earlier.node or later.node,
        model=earlier.model or later.model,
        mig=earlier.mig,
        partitioned=earlier.partitioned or later.partitioned,
        holders=tuple(dict.fromkeys(earlier.holders + later.holders)),
        activity_ratio=_younger(earlier.activity_ratio, later.activity_ratio),
        utilization_ratio=_younger(earlier.utilization_ratio, later.utilization_ratio),
        memory_used_bytes=_younger(earlier.memory_used_bytes, later.memory_used_bytes),
        memory_total_bytes=_younger(earlier.memory_total_bytes, later.memory_total_bytes),
        power_watts=_younger(earlier.power_watts, later.power_watts),
        temperature_celsius=_younger(earlier.temperature_celsius, later.temperature_celsius),
        last_xid_code=_younger(earlier.last_xid_code, later.last_xid_code),
        vendor=earlier.vendor,
        health=_younger(earlier.health, later.health),
        tensor_active_ratio=_younger(earlier.tensor_active_ratio, later.tensor_active_ratio),
        memory_active_ratio=_younger(earlier.memory_active_ratio, later.memory_active_ratio),
        power_limit_watts=_younger(earlier.power_limit_watts, later.power_limit_watts),
        clock_hertz=_younger(earlier.clock_hertz, later.clock_hertz),
        throttled_seconds=_younger(earlier.throttled_seconds, later.throttled_seconds),
        throttle_ratio=_younger(earlier.throttle_ratio, later.throttle_ratio),
    )


def _younger(earlier: Reading[T], later: Reading[T]) -> Reading[T]:
    if isinstance(later, Unknown) or (isinstance(earlier, Known) and earlier.age_seconds <= later.age_seconds):
        return earlier
    return later


def _in_order(readings: Iterable[GpuReading]) -> tuple[GpuReading, ...]:
    """By node, index and slice, numbers as numbers."""
    return tuple(sorted(readings, key=lambda one: (one.node, _number(one.index), one.uuid, _number(one.key[1]))))


def _number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else -1, text)
