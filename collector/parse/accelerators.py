"""Samples of any vendor's exporter → the accelerators in them, each counted once, and the fate of every sample. Pure.

One engine for all: what differs between vendors stands in `collector.catalogue.spellings` as data. A device has one
value per fact and a list of holders; the power of a whole GPU stands only on its reading without a slice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.spelling import Devices, Holders, Scope, Spelling, Vocabulary
from collector.model.accelerator import GpuHolder, MigSlice, device_key
from collector.model.collected import SampleCounts
from collector.model.reading import Known, Reading, Unknown, total
from collector.parse.device_facts import NO_DEVICE, Fact, Limits, Point, Resolved, resolve
from collector.parse.exposition import Sample
from collector.parse.vocabulary import Word

FactKey = tuple[str, tuple[tuple[str, str], ...]]
"""(our name, further labels)"""

_RENAMED: Final = "exported_"
_OF_WHOLE: Final = frozenset(
    (names.TEMPERATURE, names.MEMORY_TEMPERATURE, names.HEALTH, names.LAST_ERROR, names.THROTTLE)
)
"""Facts of a whole device that hold for each of its slices as well. Power and energy would be multiplied."""
_MULTIPLIED: Final = frozenset((names.POWER, names.ENERGY))


@dataclass(slots=True, eq=False)
class Device:
    """What the samples of one text say about one device or slice."""

    vocabulary: Vocabulary
    uuid: str
    index: str
    node: str
    model: str
    mig: MigSlice | None = None
    whole: Device | None = None
    """The device of a slice."""
    partitioned: bool = False
    slices: dict[str, Device] = field(default_factory=dict)
    holders: dict[GpuHolder, None] = field(default_factory=dict)
    facts: dict[FactKey, Fact] = field(default_factory=dict)
    resolved: dict[FactKey, Resolved] = field(default_factory=dict)

    def known_slices(self) -> Iterator[Device]:
        """Its slices, under the names of the device as they are known in the end."""
        for one in self.slices.values():
            one.uuid, one.index, one.node, one.model = self.uuid, self.index, self.node, self.model
            yield one

    def value(self, ours: str) -> Reading[float]:
        """One fact, or why it is not known."""
        if self.mig is not None and self.whole is not None:
            if ours in _MULTIPLIED:
                return Unknown("measured for the whole GPU, not per slice")
            if ours in _OF_WHOLE:
                return self.whole.value(ours)
        found = self.resolved.get((ours, ()))
        if found is not None and isinstance(found.reading, Known):
            return found.reading
        if ours == names.MEMORY_TOTAL:
            return self._memory_total(found)
        if ours == names.ACTIVE:
            return self._active(found)
        return found.reading if found is not None else self._absent(ours)

    def _active(self, engine: Resolved | None) -> Reading[float]:
        multiprocessors = self.value(names.MULTIPROCESSOR)
        if isinstance(multiprocessors, Known):
            return multiprocessors
        first = engine.reading if engine is not None else self._absent(names.ACTIVE)
        reasons = dict.fromkeys(one.reason for one in (first, multiprocessors) if isinstance(one, Unknown))
        return Unknown("; ".join(reasons))

    def _memory_total(self, told: Resolved | None) -> Reading[float]:
        """As told, else the sum of all parts where the exporter has parts to tell."""
        parts = (names.MEMORY_USED, names.MEMORY_FREE, names.MEMORY_RESERVED)
        if all(_first_spelling(self.vocabulary, part) for part in parts):
            return total(self.value(part) for part in parts)
        return told.reading if told is not None else self._absent(names.MEMORY_TOTAL)

    def _absent(self, ours: str) -> Unknown:
        theirs = _first_spelling(self.vocabulary, ours)
        return Unknown(f"{theirs} is not exported" if theirs else f"{self.vocabulary.title} does not tell it")


@dataclass(frozen=True, slots=True)
class Found:
    """The devices of one exporter's samples, and where the samples went."""

    devices: tuple[Device, ...]
    samples: SampleCounts


def find_devices(
    vocabulary: Vocabulary,
    samples: Sequence[Sample],
    words: Mapping[str, Word],
    node: str = "",
    age_seconds: float = 0.0,
    stale_before: float | None = None,
) -> Found:
    """Every device that the samples of this vocabulary name. `node` overrides what the exporter calls its host."""
    gathering = _Gathering(vocabulary, node, _renamed_labels(samples))
    counts = Counter[str]()
    used = passed = 0
    for sample in samples:
        spelling = words[sample.name].spelling
        identity = gathering.identity(sample.labels)
        if identity is None:
            if spelling is None:
                passed += 1
            else:
                counts[NO_DEVICE] += 1
        elif spelling is None:
            passed += 1
        elif spelling.scope is Scope.INFO:
            used += 1
        else:
            gathering.file(sample, spelling, identity)
    limits = Limits(vocabulary, stale_before)
    devices = tuple(one for gpu in gathering.devices.values() for one in (gpu, *gpu.known_slices()))
    for device in devices:
        for key, fact in device.facts.items():
            device.resolved[key] = one = resolve(key[0], fact, vocabulary.spellings, limits, age_seconds)
            used, passed = used + one.used, passed + one.passed
            if one.dropped:
                counts.update(one.dropped)
    return Found(devices, SampleCounts(used, passed, dict(counts)))


@dataclass(frozen=True, slots=True)
class _Identity:
    """Whom a set of labels is about."""

    gpu: Device
    device: Device
    """The slice, where one is named; else the GPU."""
    holder: GpuHolder | None


class _Labels:
    """The labels of one series, asked for by what they mean."""

    def __init__(self, labels: Mapping[str, str], renamed: frozenset[str], any_case: bool) -> None:
        self._labels = {name.lower(): value for name, value in labels.items()} if any_case else labels
        self._renamed = renamed

    def one(self, label: str) -> str:
        """Its value; of a label that a Prometheus has renamed, the renamed one."""
        return self._labels.get(_RENAMED + label if label in self._renamed else label, "")

    def first(self, candidates: Iterable[str]) -> str:
        """The first of these that is not empty, else ""."""
        return next(filter(None, map(self.one, candidates)), "")


class _Gathering:
    """The devices of one text, as its samples come in."""

    def __init__(self, vocabulary: Vocabulary, node: str, renamed: frozenset[str]) -> None:
        if vocabulary.devices is None:
            raise ValueError(f"{vocabulary.source} names no devices")
        self._vocabulary, self._node, self._renamed = vocabulary, node, renamed
        self._spelled: Devices = vocabulary.devices
        self.devices: dict[tuple[str, str], Device] = {}
        self._by_index: dict[tuple[str, str], Device] = {}
        self._seen: dict[int, _Identity | None] = {}

    def identity(self, labels: Mapping[str, str]) -> _Identity | None:
        """Whom the labels are about, remembered: series of one device share their labels. None: they name no device."""
        remembered = id(labels)  # the samples keep their labels alive
        if remembered not in self._seen:
            self._seen[remembered] = self._identified(_Labels(labels, self._renamed, self._vocabulary.any_case))
        return self._seen[remembered]

    def file(self, sample: Sample, spelling: Spelling, identity: _Identity) -> None:
        """The sample under its fact."""
        if identity.holder is not None:
            identity.device.holders[identity.holder] = None
        device = identity.gpu if spelling.scope is Scope.WHOLE else identity.device
        kept = tuple((ours, sample.labels.get(theirs, "")) for ours, theirs in spelling.keeps)
        key = (spelling.ours, (*spelling.labels, *kept))
        fact = device.facts.get(key)
        if fact is None:
            fact = device.facts[key] = Fact()
        fact.add(spelling, Point(sample.value, identity.holder, sample.timestamp_seconds))

    def _identified(self, labels: _Labels) -> _Identity | None:
        spelled = self._spelled
        profile, slice_id = labels.first(spelled.slice_profile), labels.first(spelled.slice_id)
        cut = bool(slice_id) and profile.lower() not in spelled.whole_profiles
        uuid, _, replica = labels.first(spelled.uuid_of_cut or spelled.uuid if cut else spelled.uuid).partition("::")
        index = labels.first(spelled.index)
        if not uuid and not index:
            return None
        node = self._node or labels.first(spelled.node)
        gpu = self._gpu(uuid, index, node, labels.first(spelled.model))
        device = gpu
        if cut:
            device = self._slice(gpu, MigSlice(profile, slice_id))
        return _Identity(gpu, device, _holder(labels, spelled.holders, replica))

    def _gpu(self, uuid: str, index: str, node: str, model: str) -> Device:
        """The device by its id; where a series has none, by its index on the node."""
        known = self.devices.get((uuid, "")) if uuid else None
        beside = self._by_index.get((node, index)) if index else None
        if known is None and beside is not None and not (uuid and beside.uuid):
            known = beside
            if uuid:  # told by its index so far
                del self.devices[device_key("", known.index, known.node, None)]
                known.uuid = uuid
                self.devices[uuid, ""] = known
        if known is None:
            known = Device(self._vocabulary, uuid, index, node, model)
            self.devices[device_key(uuid, index, node, None)] = known
        known.index, known.node, known.model = known.index or index, known.node or node, known.model or model
        if index:
            self._by_index.setdefault((node, index), known)
        return known

    def _slice(self, gpu: Device, mig: MigSlice) -> Device:
        gpu.partitioned = True
        device = gpu.slices.get(mig.instance_id)
        if device is None:
            device = Device(self._vocabulary, gpu.uuid, gpu.index, gpu.node, gpu.model, mig, gpu)
            gpu.slices[mig.instance_id] = device
        if mig.profile and device.mig is not None and not device.mig.profile:
            device.mig = mig
        return device


def _holder(labels: _Labels, spelled: Holders, replica: str) -> GpuHolder | None:
    replica = replica or labels.first(spelled.replicas)
    job = labels.first(spelled.jobs)
    for namespace, pod, container in spelled.labels:
        name = labels.one(pod)
        if name and not any(part in name for part in spelled.own_pods):
            return GpuHolder(labels.one(namespace), name, labels.one(container), replica or None, job)
    for namespace, claim in spelled.claims:
        if labels.one(claim):
            return GpuHolder(labels.one(namespace), "", "", replica or None, labels.one(claim))
    return GpuHolder("", "", "", replica or None, job) if job else None


def _renamed_labels(samples: Iterable[Sample]) -> frozenset[str]:
    """Labels of the exporter in whose place a Prometheus put those of the exporter's own pod."""
    blocks = {id(sample.labels): sample.labels for sample in samples}
    labels = {label for block in blocks.values() for label in block}
    return frozenset(label.removeprefix(_RENAMED) for label in labels if label.startswith(_RENAMED))


@lru_cache(maxsize=512)
def _first_spelling(vocabulary: Vocabulary, ours: str) -> str:
    return next((one.theirs for one in vocabulary.spellings if one.ours == ours), "")
