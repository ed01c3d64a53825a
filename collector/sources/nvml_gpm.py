"""How much of a GPU works, by NVML's GPM: means between two samples of its performance monitors (Hopper and newer).

Older GPUs, and drivers without GPM, tell nothing here: their active ratio stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from collector.catalogue.spellings import nvml as spelled

METRICS: Final = (
    (1, spelled.ACTIVE),
    (2, spelled.MULTIPROCESSOR),
    (5, spelled.TENSOR),
    (10, spelled.MEMORY_ACTIVE),
)
"""(number of the metric, our word for it); all in percent"""
_SUCCESS: Final = 0


class Gpm:
    """The samples of all GPUs and slices of a node. One thread. `library`: pynvml, or what behaves like it."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._samples: dict[tuple[str, int | None], tuple[Any, Any]] = {}
        """(GPU, slice or None) → the sample taken last, and the buffer for the next one."""
        self._without: set[str] = set()

    def read(self, uuid: str, handle: Any, instance: int | None = None) -> Mapping[str, float]:
        """Word → value, of the time since the last call for this GPU or slice; nothing at the first one."""
        if uuid in self._without:
            return {}
        try:
            return self._read(uuid, handle, instance)
        except (self._library.NVMLError, AttributeError):  # an old driver or module; or a GPU that is cut, as a whole
            return {}

    def _read(self, uuid: str, handle: Any, instance: int | None) -> Mapping[str, float]:
        library, key = self._library, (uuid, instance)
        if key not in self._samples:
            if not library.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice:
                self._without.add(uuid)
                return {}
            buffers = library.nvmlGpmSampleAlloc(), library.nvmlGpmSampleAlloc()
            self._take(handle, instance, buffers[0])
            self._samples[key] = buffers
            return {}
        before, after = self._samples[key]
        self._take(handle, instance, after)
        self._samples[key] = after, before
        asked = library.c_nvmlGpmMetricsGet_t()
        asked.version = library.NVML_GPM_METRICS_GET_VERSION
        asked.numMetrics = len(METRICS)
        asked.sample1, asked.sample2 = before, after
        for place, (number, _) in enumerate(METRICS):
            asked.metrics[place].metricId = number
        told = library.nvmlGpmMetricsGet(asked)
        rows = zip(METRICS, told.metrics, strict=False)
        return {word: float(row.value) for (_, word), row in rows if row.nvmlReturn == _SUCCESS}

    def _take(self, handle: Any, instance: int | None, buffer: Any) -> None:
        if instance is None:
            self._library.nvmlGpmSampleGet(handle, buffer)
        else:
            self._library.nvmlGpmMigSampleGet(handle, instance, buffer)
