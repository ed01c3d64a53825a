"""Asks NVML about the GPUs of this node, function by function. A function that fails costs its own samples alone.

`nvidia-ml-py` (extra `nvml`) is loaded when it is first needed. No GPU stands behind our tests: they hand over a named
fake of the module. Events are counted from the moment of registering: what happened before nobody tells.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from collector.catalogue.spellings import nvml as spelled
from collector.catalogue.spellings.nvml import SLICE_UUID
from collector.parse.exposition import Sample
from collector.sources.nvml_gpm import Gpm

_PROFILE_MARK: Final = " MIG "
_XID: Final = 8
_SM_CLOCK: Final = 1
_MOST_EVENTS: Final = 1000
"""In one round: a flood goes on in the next one."""


class NvmlMissing(Exception):
    """NVML can not be asked at all; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class NvmlRound:
    """One look at all GPUs."""

    samples: tuple[Sample, ...]
    failures: tuple[tuple[str, str], ...] = ()
    """(device, word for what failed)"""


@dataclass(slots=True)
class _Gpu:
    handle: Any
    labels: dict[str, str]


def load_nvml() -> Any:
    """The module pynvml, its library found and started. Raises NvmlMissing."""
    try:
        library = import_module("pynvml")
    except ModuleNotFoundError:
        raise NvmlMissing("the Python package nvidia-ml-py is missing: install trimtab[nvml]") from None
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        if error.value == library.NVML_ERROR_LIBRARY_NOT_FOUND:
            why = "libnvidia-ml.so.1 is not here: no driver of NVIDIA, or its files are not given to this container"
            raise NvmlMissing(why) from None
        raise NvmlMissing(f"NVML does not start: {error}") from None
    return library


class Nvml:
    """The GPUs of this node. One thread. `library`: pynvml, or what behaves like it."""

    def __init__(self, library: Any, clock: Callable[[], float] = time.time) -> None:
        self._library = library
        self._gpus: dict[str, _Gpu] = {}
        """By id, also those that have vanished since."""
        self._events: Any = None
        self._xids: Counter[tuple[str, int]] = Counter()
        self._last_xid_at: dict[tuple[str, int], float] = {}
        self._gpm, self._clock = Gpm(library), clock

    def read(self) -> NvmlRound:
        """Every function of every GPU and slice. Raises NvmlMissing when not even the number of GPUs is told."""
        failures: list[tuple[str, str]] = []
        here = self._find(failures)
        samples: list[Sample] = []
        for uuid, gpu in self._gpus.items():
            found = list(self._of_gpu(gpu)) if uuid in here else []
            if not found:
                samples.append(Sample(spelled.LOST, gpu.labels, 1.0))
                failures.append((uuid, "lost"))
            samples.extend(found)
        self._take_events()
        for (uuid, code), count in sorted(self._xids.items()):
            if uuid in self._gpus:
                labels = {**self._gpus[uuid].labels, "xid": str(code)}
                samples.append(Sample(spelled.XID_EVENTS, labels, float(count)))
                samples.append(Sample(spelled.XID_AT, labels, self._last_xid_at[uuid, code]))
        return NvmlRound(tuple(samples), tuple(failures))

    def _find(self, failures: list[tuple[str, str]]) -> set[str]:
        library, here = self._library, set()
        try:
            count = library.nvmlDeviceGetCount()
        except library.NVMLError as error:
            raise NvmlMissing(f"NVML does not tell the GPUs: {error}") from None
        for index in range(count):
            try:
                handle = library.nvmlDeviceGetHandleByIndex(index)
                uuid = _text(library.nvmlDeviceGetUUID(handle))
                name = _text(library.nvmlDeviceGetName(handle))
            except library.NVMLError:
                failures.append((f"index {index}", "unreadable"))
                continue
            here.add(uuid)
            if uuid not in self._gpus:
                self._gpus[uuid] = _Gpu(handle, {"uuid": uuid, "index": str(index), "name": name})
                self._listen(handle)
            self._gpus[uuid].handle = handle
        return here

    def _of_gpu(self, gpu: _Gpu) -> Iterator[Sample]:
        library, handle = self._library, gpu.handle
        yield from self._memory(handle, gpu.labels)
        for name, ask in self._questions(handle):
            value = self._answer(ask)
            if value is not None:
                yield Sample(name, gpu.labels, float(value))
        for name, value in self._gpm.read(gpu.labels["uuid"], handle).items():
            yield Sample(name, gpu.labels, value)
        yield from self._slices(handle, gpu.labels)
        for policy, name in enumerate(spelled.VIOLATIONS):
            status = self._answer(library.nvmlDeviceGetViolationStatus, handle, policy)
            if status is not None:
                yield Sample(name, gpu.labels, float(status.violationTime))

    def _questions(self, handle: Any) -> tuple[tuple[str, Callable[[], Any]], ...]:
        library = self._library
        return (
            (spelled.UTILIZATION, lambda: library.nvmlDeviceGetUtilizationRates(handle).gpu),
            (spelled.POWER, lambda: library.nvmlDeviceGetPowerUsage(handle)),
            (spelled.POWER_LIMIT, lambda: library.nvmlDeviceGetEnforcedPowerLimit(handle)),
            (spelled.CLOCK, lambda: library.nvmlDeviceGetClockInfo(handle, _SM_CLOCK)),
            (spelled.ENERGY, lambda: library.nvmlDeviceGetTotalEnergyConsumption(handle)),
            (spelled.TEMPERATURE, lambda: library.nvmlDeviceGetTemperature(handle, 0)),
            (spelled.REMAP_FAILED, lambda: library.nvmlDeviceGetRemappedRows(handle)[3]),
            (spelled.CORRECTED, lambda: library.nvmlDeviceGetTotalEccErrors(handle, 0, 0)),
            (spelled.UNCORRECTED, lambda: library.nvmlDeviceGetTotalEccErrors(handle, 1, 0)),
        )

    def _memory(self, handle: Any, labels: dict[str, str]) -> Iterator[Sample]:
        library = self._library
        memory = self._answer(lambda: library.nvmlDeviceGetMemoryInfo(handle, version=library.nvmlMemory_v2))
        if memory is not None:
            yield Sample(spelled.MEMORY_TOTAL, labels, float(memory.total))
            yield Sample(spelled.MEMORY_USED, labels, float(memory.used))
            yield Sample(spelled.MEMORY_FREE, labels, float(memory.free))
            yield Sample(spelled.MEMORY_RESERVED, labels, float(memory.reserved))

    def _slices(self, handle: Any, labels: dict[str, str]) -> Iterator[Sample]:
        library = self._library
        modes = self._answer(library.nvmlDeviceGetMigMode, handle)
        places = self._answer(library.nvmlDeviceGetMaxMigDeviceCount, handle) if modes and modes[0] else 0
        for place in range(places or 0):
            part = self._answer(library.nvmlDeviceGetMigDeviceHandleByIndex, handle, place)
            number = None if part is None else self._answer(library.nvmlDeviceGetGpuInstanceId, part)
            if number is None:
                continue  # an empty place
            name = _text(self._answer(library.nvmlDeviceGetName, part) or "")
            profile = name.rpartition(_PROFILE_MARK)[2] if _PROFILE_MARK in name else ""
            uuid = _text(self._answer(library.nvmlDeviceGetUUID, part) or "")
            told = {**labels, "slice": str(number), "profile": profile, SLICE_UUID: uuid}
            yield from self._memory(part, told)
            for word, value in self._gpm.read(labels["uuid"], handle, number).items():
                yield Sample(word, told, value)

    def _answer(self, ask: Callable[..., Any], *arguments: Any) -> Any:
        """None where this GPU or driver does not tell it."""
        try:
            return ask(*arguments)
        except self._library.NVMLError:
            return None

    def _listen(self, handle: Any) -> None:
        library = self._library
        if self._events is None:
            self._events = self._answer(library.nvmlEventSetCreate)
        if self._events is not None:
            self._answer(library.nvmlDeviceRegisterEvents, handle, _XID, self._events)

    def _take_events(self) -> None:
        for _ in range(_MOST_EVENTS if self._events is not None else 0):
            event = self._answer(self._library.nvmlEventSetWait_v2, self._events, 0)
            if event is None:
                return
            uuid = self._answer(self._library.nvmlDeviceGetUUID, event.device)
            if uuid is not None:
                key = _text(uuid), int(event.eventData)
                self._xids[key] += 1
                self._last_xid_at[key] = self._clock()


def _text(raw: str | bytes) -> str:
    return raw.decode(errors="replace") if isinstance(raw, bytes) else raw
