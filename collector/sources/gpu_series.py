"""GPU readings out of a Prometheus that scrapes dcgm-exporter: the same readings as from its text, over a window.

Asks only for series that exist now, so that a device does not keep the names of pods that held it earlier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from collector.assemble.frozen import FROZEN_WINDOWS
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
_ENERGY: Final = names_of(DCGM, names.ENERGY)[0]
_LAST_XID: Final = names_of(DCGM, names.LAST_ERROR)[0]
_LEAST_LOOKS: Final = 4
"""With fewer samples of a page nobody can tell that it stands still."""


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
        frozen = {_target(one.labels) for one in prometheus.instant(_frozen_pages(FROZEN_WINDOWS * window_seconds))}
    except SourceError as error:
        return Unknown(f"Prometheus at {prometheus.url} did not answer: {error.message}")
    pages = _by_target(samples)
    alive = [Exposition(tuple(page)) for target, page in pages.items() if target not in frozen]
    readings = merge_gpu_readings(*map(gpu_readings, alive))
    if readings:
        return Known(readings)
    if pages:
        return Unknown(f"every exporter of GPUs that Prometheus at {prometheus.url} scrapes repeats the same values")
    return Unknown(f"Prometheus at {prometheus.url} has no series of dcgm-exporter")


def _frozen_pages(window_seconds: float) -> str:
    """The pages on which no counter of energy moved although it was read again and again."""
    energy = f"{_ENERGY}[{max(1, round(window_seconds))}s]"
    by = f"by ({', '.join(_TARGET)})"
    return f"(sum {by} (changes({energy})) == 0) and (min {by} (count_over_time({energy})) >= {_LEAST_LOOKS})"


def _target(labels: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(labels.get(label, "") for label in _TARGET)


def _by_target(samples: Iterable[Sample]) -> Mapping[tuple[str, ...], list[Sample]]:
    """What each scraped page said. One page may have had its labels renamed by Prometheus, and another not."""
    pages: dict[tuple[str, ...], list[Sample]] = defaultdict(list)
    for sample in samples:
        pages[_target(sample.labels)].append(sample)
    return pages
