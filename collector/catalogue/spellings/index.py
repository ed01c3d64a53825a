"""All vocabularies together, and what a name of somebody else becomes. Data and look-ups only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.spelling import Vocabulary
from collector.catalogue.spellings.ceph import CEPH_EXPORTER, CEPH_MGR
from collector.catalogue.spellings.kubernetes import KUBE_SCHEDULER, KUBE_STATE_METRICS, KUEUE
from collector.catalogue.spellings.network import ETHTOOL
from collector.catalogue.spellings.nvidia import DCGM, NVIDIA_SMI
from collector.catalogue.spellings.nvml import NVML
from collector.catalogue.spellings.rdma import NODE_EXPORTER, SYSFS
from collector.catalogue.spellings.vendors import AMD, ASCEND, CAMBRICON, HAMI

ACCELERATOR_VOCABULARIES: Final = (DCGM, NVIDIA_SMI, AMD, ASCEND, CAMBRICON, HAMI)
EXPOSITION_VOCABULARIES: Final = (
    *ACCELERATOR_VOCABULARIES,
    NODE_EXPORTER,
    CEPH_MGR,
    CEPH_EXPORTER,
    KUBE_STATE_METRICS,
    KUBE_SCHEDULER,
    KUEUE,
)
VOCABULARIES: Final = (*EXPOSITION_VOCABULARIES, SYSFS, ETHTOOL, NVML)

_BY_SOURCE: Final = {vocabulary.source: vocabulary for vocabulary in VOCABULARIES}


def vocabulary_of(source: str) -> Vocabulary:
    """The vocabulary by the name of its source. Raises KeyError for none."""
    return _BY_SOURCE[source]


def names_of(vocabulary: Vocabulary, *ours: str) -> tuple[str, ...]:
    """What the exporter calls these metrics of ours, in the order of its table."""
    return tuple(spelling.theirs for spelling in vocabulary.spellings if spelling.ours in ours)
