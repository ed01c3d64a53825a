"""GPU readings out of a Prometheus that scrapes dcgm-exporter: the same readings as from its text, over a window.

Asks only for series that exist now, so that a device does not keep the names of pods that held it earlier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.spellings.index import names_of
from collector.catalogue.spellings.nvidia import DCGM
from collector.model.accelerator import GpuReading
from collector.model.reading import Known, Reading, Unknown
from collector.parse.accelerator_readings import gpu_readings, merge_gpu_readings
from collector.parse.exposition import Exposition, Sample
from collector.sources.errors import SourceError
from collector.sources.prometheus import Prometheus

_ACTIVITY: Final = names_of(DCGM, names.ACTIVE, names.MULTIPROCESSOR, names.UTILIZATION)
_TARGET: Final = ("cluster", "job", "instance")
_LAST_XID: Final = names_of(DCGM, names.LAST_ERROR)[0]


def read_gpus(prometheus: Prometheus, window_seconds: float) -> Reading[tuple[GpuReading, ...]]:
    """Every GPU that Prometheus knows, with the highest activity of the window; Unknown when it knows none.

    Raises nothing: an answer that does not come is the reason.
    """
    samples: list[Sample] = []
    window = f"[{max(1, round(window_seconds))}s]"
    try:
        for name in _ACTIVITY:
            found = prometheus.instant(f"max_over_time({name}{window}) and {name}")
            samples += (Sample(name, one.labels, one.value) for one in found)
        samples += (Sample(_LAST_XID, one.labels, one.value) for one in prometheus.instant(_LAST_XID))
    except SourceError as error:
        return Unknown(f"Prometheus at {prometheus.url} did not answer: {error.message}")
    readings = merge_gpu_readings(*(gpu_readings(Exposition(tuple(one))) for one in _by_target(samples)))
    return Known(readings) if readings else Unknown(f"Prometheus at {prometheus.url} has no series of dcgm-exporter")


def _by_target(samples: Iterable[Sample]) -> Iterable[list[Sample]]:
    """What each scraped page said. One page may have had its labels renamed by Prometheus, and another not."""
    pages: dict[tuple[str, ...], list[Sample]] = defaultdict(list)
    for sample in samples:
        pages[tuple(sample.labels.get(label, "") for label in _TARGET)].append(sample)
    return pages.values()
