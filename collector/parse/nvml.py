"""What NVML's functions answered, as samples under the functions' names → readings of accelerators. Pure: no I/O.

The same engine as for the text of an exporter, so that a device says the same whoever read it; label `via` tells them
apart. NVML knows processes and no pods: without what the kubelet tells, nobody's holder is told, attribution is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from collector.catalogue.spellings.nvml import NVML, SLICE_UUID
from collector.model.collected import Collected
from collector.parse.accelerator_readings import normal_readings
from collector.parse.accelerators import find_devices
from collector.parse.exposition import Sample
from collector.parse.pod_resources import DeviceHolder
from collector.parse.vocabulary import words


def nvml_readings(
    samples: Sequence[Sample], node: str, time: float | None = None, holders: Iterable[DeviceHolder] = ()
) -> Collected:
    """Every device and slice of the node; `holders`: what the kubelet says of them."""
    held = tuple(_held(samples, holders))
    found = find_devices(NVML, held, words(held, (NVML,)), node)
    return Collected(tuple(normal_readings(found.devices, {}, time)), found.samples, (NVML.source,))


def _held(samples: Sequence[Sample], holders: Iterable[DeviceHolder]) -> Iterator[Sample]:
    """Each sample with the names of who holds its device, as exporters write them: one for each holder."""
    of_device: dict[str, list[DeviceHolder]] = defaultdict(list)
    for holder in holders:
        of_device[holder.device.partition("::")[0]].append(holder)
    for sample in samples:
        labels = sample.labels
        found = of_device.get(labels.get(SLICE_UUID) or labels.get("uuid", ""), [])
        if not found:
            yield sample
        for holder in found:
            names = {"namespace": holder.namespace, "pod": holder.pod, "container": holder.container}
            share = holder.device.partition("::")[1:]
            uuid = labels.get("uuid", "") + "".join(share)
            yield Sample(sample.name, {**labels, **names, "uuid": uuid}, sample.value, sample.timestamp_seconds)
