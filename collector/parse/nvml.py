"""What NVML's functions answered, as samples under the functions' names → readings of accelerators. Pure: no I/O.

The same engine as for the text of an exporter, so that a device says the same whoever read it; label `via` tells them
apart. NVML knows processes and no pods: nobody's holder is told, attribution is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from collector.catalogue.spellings.nvml import NVML
from collector.model.collected import Collected
from collector.parse.accelerator_readings import normal_readings
from collector.parse.accelerators import find_devices
from collector.parse.exposition import Sample
from collector.parse.vocabulary import words


def nvml_readings(samples: Sequence[Sample], node: str, time: float | None = None) -> Collected:
    """Every device and slice of the node."""
    found = find_devices(NVML, samples, words(samples, (NVML,)), node)
    return Collected(tuple(normal_readings(found.devices, {}, time)), found.samples, (NVML.source,))
