"""Samples of dcgm-exporter → one reading per GPU and per MIG slice, each device counted once. Pure: no I/O.

The exporter repeats a device's values for every pod that shares it, and the whole GPU's power for every MIG
slice; some versions add series per process beside those of the device. Here a device has one value per fact and
a list of holders, and the power of a whole GPU stands only on its reading without a slice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Literal, TypeVar

from collector.model.reading import Known, Reading, Unknown, mapped, total
from collector.parse.exposition import Exposition, Sample

T = TypeVar("T")

_PREFIX: Final = "DCGM_"
_ENGINE_ACTIVE: Final = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
_SM_ACTIVE: Final = "DCGM_FI_PROF_SM_ACTIVE"
_UTILIZATION: Final = "DCGM_FI_DEV_GPU_UTIL"
_MEMORY_TOTAL: Final = "DCGM_FI_DEV_FB_TOTAL"
_MEMORY_USED: Final = "DCGM_FI_DEV_FB_USED"
_MEMORY_PARTS: Final = (_MEMORY_USED, "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED")
_POWER: Final = "DCGM_FI_DEV_POWER_USAGE"
_TEMPERATURE: Final = "DCGM_FI_DEV_GPU_TEMP"
_XID: Final = "DCGM_FI_DEV_XID_ERRORS"
_OF_WHOLE_GPU: Final = frozenset((_POWER, _TEMPERATURE, _XID))

DCGM_NAMES: Final = _OF_WHOLE_GPU.union(_MEMORY_PARTS, (_MEMORY_TOTAL, _ENGINE_ACTIVE, _SM_ACTIVE, _UTILIZATION))
"""The names that are read here, for `parse_exposition(text, DCGM_NAMES)`."""

_BLANK_FROM: Final = 2147483632.0
"""DCGM writes "no value" as a number: 0x7ffffff0 and a few above it, larger ones in its wider types."""
_BYTES_PER_MIB: Final = 1024.0 * 1024.0
_RATIO_LIMIT: Final = 1.01
"""Sampling may put a ratio a little above 1; more means that the unit has changed."""

_UUID: Final = ("UUID", "uuid", "gpu_uuid")
_MODEL: Final = ("modelName", "model_name")
_NODE: Final = ("Hostname", "hostname")
_HOLDER: Final = (("namespace", "pod", "container"), ("pod_namespace", "pod_name", "container_name"))
_RENAMED_HOLDER: Final = (("exported_namespace", "exported_pod", "exported_container"),)

_EXPORTER: Final = "dcgm-exporter"
"""Part of the exporter's own pod name, which a Prometheus puts on series of a GPU that nobody holds."""

Attribution = Literal["exclusive", "shared", "partitioned", "none"]


@dataclass(frozen=True, slots=True)
class GpuHolder:
    """A container that holds the device, or a part of its time."""

    namespace: str
    pod: str
    container: str
    replica: str | None = None
    """Its number on a time-sliced or virtual GPU."""


@dataclass(frozen=True, slots=True)
class MigSlice:
    """A hardware partition: its profile, such as 1g.5gb, and its GPU instance id."""

    profile: str
    instance_id: str


@dataclass(frozen=True, slots=True)
class GpuReading:
    """One GPU, or one MIG slice. A GPU with slices has a reading beside theirs: count GPUs by `mig is None`."""

    uuid: str
    index: str
    node: str
    """As the exporter says, often the name of its own pod, unless the caller knew better."""
    model: str
    mig: MigSlice | None
    partitioned: bool
    """A whole GPU cut into slices: holders, activity and memory stand on those."""
    holders: tuple[GpuHolder, ...]
    activity_ratio: Reading[float]
    """Share of time in which the compute engine (where unknown: any SM) worked."""
    utilization_ratio: Reading[float]
    """Share of time in which at least one kernel ran, however small: no measure of load."""
    memory_used_bytes: Reading[float]
    memory_total_bytes: Reading[float]
    power_watts: Reading[float]
    temperature_celsius: Reading[float]
    """Of the whole GPU, also on a slice."""
    last_xid_code: Reading[int]
    """The last error code seen, 0 for none; of the whole GPU, also on a slice. Never cleared, has no time."""

    @property
    def attribution(self) -> Attribution:
        """Whose the values are: they may be summed per tenant only where this is "exclusive"."""
        if self.partitioned:
            return "partitioned"
        if len(self.holders) > 1 or any(holder.replica for holder in self.holders):
            return "shared"
        return "exclusive" if self.holders else "none"

    @property
    def key(self) -> tuple[str, str]:
        """Identity over scrapes and sources: the device, and its slice or ""."""
        return _key(self.uuid, self.index, self.node, self.mig)


@dataclass(slots=True)
class _Device:
    """What the samples say about one GPU or slice, gathered."""

    uuid: str
    index: str
    node: str
    model: str
    mig: MigSlice | None = None
    whole: _Device | None = None
    """The GPU of a slice."""
    partitioned: bool = False
    holders: dict[GpuHolder, None] = field(default_factory=dict)
    own_values: dict[str, list[float]] = field(default_factory=dict)
    holder_values: dict[str, list[float]] = field(default_factory=dict)

    def fact(self, name: str, age_seconds: float, limit: float = math.inf) -> Reading[float]:
        """The device's own value; else the one on which the series of its holders agree."""
        if self.whole and name in _OF_WHOLE_GPU:
            return self.whole.fact(name, age_seconds, limit)
        values = self.own_values.get(name) or self.holder_values.get(name)
        if not values:
            return Unknown(f"{name} is not exported")
        usable = {value for value in values if value < _BLANK_FROM}  # NaN is not below it either
        if not usable:
            return Unknown(f"blank value from DCGM ({name})")
        if len(usable) > 1 and name not in self.own_values:
            return Unknown(f"{name} differs between pods on one device, and the device has no series of its own")
        # Where series of one device disagree, the highest never calls it idle or well by mistake.
        value = max(usable)
        if not 0 <= value <= limit:
            return Unknown(f"{name} is {value:g}: expected 0 to {limit:g}")
        return Known(value, age_seconds)


@dataclass(frozen=True, slots=True)
class _Gathering:
    """The devices of one scrape, as its samples come in."""

    node: str
    holder_labels: tuple[tuple[str, str, str], ...]
    devices: dict[tuple[str, str], _Device] = field(default_factory=dict)

    def add(self, sample: Sample) -> None:
        """File the sample under its device; one that names no GPU is left out."""
        labels = sample.labels
        uuid, _, replica = _first(labels, _UUID).partition("::")
        index, instance = labels.get("gpu", ""), labels.get("GPU_I_ID", "")
        if not uuid and not index:
            return
        gpu = self._device(uuid, index, labels, None)
        device = gpu
        if instance:
            device = self._device(uuid, index, labels, MigSlice(labels.get("GPU_I_PROFILE", ""), instance))
            device.whole, gpu.partitioned = gpu, True
        holder = self._holder(labels, replica or labels.get("vgpu") or None)
        if holder:
            device.holders[holder] = None
        if sample.name in _OF_WHOLE_GPU:
            gpu.own_values.setdefault(sample.name, []).append(sample.value)
        else:
            values = device.holder_values if holder else device.own_values
            values.setdefault(sample.name, []).append(sample.value)

    def _device(self, uuid: str, index: str, labels: Mapping[str, str], mig: MigSlice | None) -> _Device:
        node = self.node or _first(labels, _NODE)
        device = _Device(uuid, index, node, _first(labels, _MODEL), mig)
        return self.devices.setdefault(_key(uuid, index, node, mig), device)

    def _holder(self, labels: Mapping[str, str], replica: str | None) -> GpuHolder | None:
        for namespace, pod, container in self.holder_labels:
            if labels.get(pod) and _EXPORTER not in labels[pod]:
                return GpuHolder(labels.get(namespace, ""), labels[pod], labels.get(container, ""), replica)
        return None


def gpu_readings(exposition: Exposition, node: str = "", age_seconds: float = 0.0) -> tuple[GpuReading, ...]:
    """Every GPU and MIG slice named in the scrape, by node, index and slice.

    `node` overrides what the exporter calls its host; `age_seconds` is the age of the scrape. Samples that name
    no GPU are left out. A fact that is absent, blank or out of range is Unknown with its reason.
    """
    samples = [sample for sample in exposition.samples if sample.name.startswith(_PREFIX)]
    # A Prometheus that renamed the exporter's labels put its own in their place: those of the exporter's pod.
    renamed = any(label in sample.labels for sample in samples for label in _RENAMED_HOLDER[0])
    gathering = _Gathering(node, _RENAMED_HOLDER if renamed else _HOLDER)
    for sample in samples:
        gathering.add(sample)
    return _in_order(_reading(device, age_seconds) for device in gathering.devices.values())


def merge_gpu_readings(*sources: Iterable[GpuReading]) -> tuple[GpuReading, ...]:
    """One reading per device out of several scrapes or exporters: of each fact the youngest known one.

    On equal age the earlier source wins. Holders are united; names come from the first source that has them.
    """
    merged: dict[tuple[str, str], GpuReading] = {}
    for reading in chain.from_iterable(sources):
        earlier = merged.get(reading.key)
        merged[reading.key] = _united(earlier, reading) if earlier else reading
    return _in_order(merged.values())


def _reading(device: _Device, age_seconds: float) -> GpuReading:
    power = Unknown("measured for the whole GPU, not per slice") if device.mig else device.fact(_POWER, age_seconds)
    utilization = device.fact(_UTILIZATION, age_seconds, limit=100 * _RATIO_LIMIT)
    return GpuReading(
        uuid=device.uuid,
        index=device.index,
        node=device.node,
        model=device.model,
        mig=device.mig,
        partitioned=device.partitioned,
        holders=tuple(device.holders),
        activity_ratio=_activity_ratio(device, age_seconds),
        utilization_ratio=mapped(utilization, lambda percent: min(percent / 100, 1.0)),
        memory_used_bytes=mapped(device.fact(_MEMORY_USED, age_seconds), _bytes),
        memory_total_bytes=mapped(_memory_total_mib(device, age_seconds), _bytes),
        power_watts=power,
        temperature_celsius=device.fact(_TEMPERATURE, age_seconds),
        last_xid_code=mapped(device.fact(_XID, age_seconds), int),
    )


def _activity_ratio(device: _Device, age_seconds: float) -> Reading[float]:
    engine = device.fact(_ENGINE_ACTIVE, age_seconds, _RATIO_LIMIT)
    if isinstance(engine, Known):
        return mapped(engine, lambda ratio: min(ratio, 1.0))
    multiprocessors = device.fact(_SM_ACTIVE, age_seconds, _RATIO_LIMIT)
    if isinstance(multiprocessors, Known):
        return mapped(multiprocessors, lambda ratio: min(ratio, 1.0))
    return Unknown(f"{engine.reason}; {multiprocessors.reason}")


def _memory_total_mib(device: _Device, age_seconds: float) -> Reading[float]:
    whole = device.fact(_MEMORY_TOTAL, age_seconds)
    return whole if isinstance(whole, Known) else total(device.fact(part, age_seconds) for part in _MEMORY_PARTS)


def _bytes(mebibytes: float) -> float:
    return mebibytes * _BYTES_PER_MIB


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


def _key(uuid: str, index: str, node: str, mig: MigSlice | None) -> tuple[str, str]:
    return uuid or f"{node}/{index}", mig.instance_id if mig else ""


def _first(labels: Mapping[str, str], names: Iterable[str]) -> str:
    """The value of the first of these labels that is there and not empty, else ""."""
    return next((labels[name] for name in names if labels.get(name)), "")
