"""The families of exporters of other vendors that the rules read: made of the tables of their spellings, data only."""

from __future__ import annotations

from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.metric import Kind, Metric, Source, Unit
from collector.catalogue.spelling import MIB, PERCENT, Devices, Scope, Spelling, Vocabulary
from collector.catalogue.spellings.nvidia import NVIDIA_SMI
from collector.catalogue.spellings.vendors import AMD, ASCEND

RECORDED_VENDORS: Final = (NVIDIA_SMI, AMD, ASCEND)
"""Exporters whose devices are recorded, beside dcgm-exporter's."""
RENAMED: Final = ("namespace", "pod", "container")
"""Labels of holders in whose place a Prometheus may put those of the exporter's own pod."""
_FACTS: Final = (names.ACTIVE, names.MULTIPROCESSOR, names.MEMORY_USED, names.POWER)
_MEANINGS: Final = {
    names.ACTIVE: "Share of time in which the engine worked.",
    names.MULTIPROCESSOR: "Mean share of cores that had work.",
    names.MEMORY_USED: "Memory in use.",
    names.POWER: "Power drawn.",
}


def devices_of(vocabulary: Vocabulary) -> Devices:
    """How it names devices. Raises ValueError for one that names none."""
    if vocabulary.devices is None:
        raise ValueError(f"{vocabulary.source} names no devices")
    return vocabulary.devices


def cases(vocabulary: Vocabulary, label: str) -> tuple[str, ...]:
    """The label as versions write it."""
    return (label, label.upper()) if vocabulary.any_case else (label,)


def spellings_of(vocabulary: Vocabulary, *facts: str) -> tuple[Spelling, ...]:
    """The lines of a table that tell these facts of devices, fact by fact in the order of the table."""
    return tuple(
        one for fact in facts for one in vocabulary.spellings if one.ours == fact and one.scope is not Scope.HOLDER
    )


def _labels_of(vocabulary: Vocabulary) -> tuple[str, ...]:
    spelled = devices_of(vocabulary)
    holders = tuple(label for labels in spelled.holders.labels for label in labels)
    known = (*spelled.uuid, *spelled.index, *spelled.node, *spelled.slice_id, *spelled.slice_profile, *holders)
    cased = [label for one in known for label in cases(vocabulary, one)]
    return tuple(dict.fromkeys((*cased, *(f"exported_{label}" for label in RENAMED))))


def _unit(spelling: Spelling) -> Unit:
    if spelling.ours == names.POWER:
        return Unit.WATTS
    if spelling.ours == names.MEMORY_USED:
        return Unit.MEBIBYTES if spelling.factor == MIB else Unit.BYTES if spelling.factor == 1 else Unit.NUMBER
    return Unit.PERCENT if spelling.factor == PERCENT else Unit.RATIO


VENDOR_SERIES: Final = tuple(
    Metric(one.theirs, Kind.GAUGE, _unit(one), _labels_of(vocabulary), Source.OTHER_GPU_EXPORTERS, _MEANINGS[one.ours])
    for vocabulary in RECORDED_VENDORS
    for one in spellings_of(vocabulary, *_FACTS)
)
