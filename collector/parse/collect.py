"""The text of any source → readings in our names, and the fate of every sample in it. Pure: chooses who reads what.

A sample is one line with a value, or one row of results. read = used + passed + dropped, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from collector.catalogue.spelling import Vocabulary
from collector.catalogue.spellings.index import EXPOSITION_VOCABULARIES, vocabulary_of
from collector.model.collected import Collected, SampleCounts, united
from collector.parse.accelerator_readings import normal_readings
from collector.parse.accelerator_sums import owner_sums
from collector.parse.accelerators import find_devices
from collector.parse.exposition import Exposition, Sample, parse_exposition
from collector.parse.perftest import perftest_readings
from collector.parse.perftest_json import looks_like_json
from collector.parse.plain_series import plain_readings
from collector.parse.ucx_output import looks_like_ucx, ucx_readings
from collector.parse.vocabulary import Word, words

MALFORMED: Final = "malformed line"
TRUNCATED: Final = "truncated line"

_PERFTEST_MARK: Final = re.compile(
    r"^[ \t]*(?:#bytes\s+#iterations|#, (?:usec|cycles)|(?:RDMA_|Raw )?\w+ (?:Latency|BW|Bandwidth) Test\b)",
    re.MULTILINE,
)
_BARE_LATENCY: Final = re.compile(r"\s*[0-9]+\.[0-9]+\s*")


class SourceKind(StrEnum):
    """What a text may be."""

    AUTO = "auto"
    DCGM = "dcgm"
    NVIDIA_SMI = "nvidia-smi"
    AMD = "amd"
    ASCEND = "ascend"
    CAMBRICON = "cambricon"
    HAMI = "hami"
    NODE_EXPORTER = "node-exporter"
    CEPH_MGR = "ceph-mgr"
    CEPH_EXPORTER = "ceph-exporter"
    KUBE_STATE_METRICS = "kube-state-metrics"
    KUBE_SCHEDULER = "kube-scheduler"
    KUEUE = "kueue"
    PERFTEST = "perftest"
    UCX = "ucx"
    SYSFS = "sysfs"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the text itself does not say."""

    time: float | None = None
    """When the source was asked, in epoch seconds; None for a text that was kept."""
    node: str = ""
    """Overrides what an exporter calls its host."""
    tenants: Mapping[str, str] = field(default_factory=dict)
    """Namespace → tenant."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """Metric names of this site → those of the exporter's default, where the site has renamed them."""
    stale_after_seconds: float = 300.0
    """Of a source that was asked: a sample that names an older time is repeated, not read."""


NOTHING_MORE: Final = Circumstances()


def collect_text(text: str, kind: SourceKind, around: Circumstances = NOTHING_MORE) -> Collected:
    """Everything that the text says. Never raises: what can not be read is counted."""
    if kind is SourceKind.PERFTEST or (kind is SourceKind.AUTO and _is_perftest(text)):
        return perftest_readings(text, around.time)
    if kind is SourceKind.UCX or (kind is SourceKind.AUTO and looks_like_ucx(text)):
        return ucx_readings(text, around.time)
    vocabularies = EXPOSITION_VOCABULARIES if kind is SourceKind.AUTO else (vocabulary_of(kind.value),)
    return collect_exposition(parse_exposition(text), vocabularies, around)


def collect_exposition(
    exposition: Exposition, vocabularies: Sequence[Vocabulary], around: Circumstances = NOTHING_MORE
) -> Collected:
    """Everything that a scrape says in the words of these vocabularies; other samples are passed on."""
    samples = _renamed(exposition.samples, around.renames)
    meanings = words(samples, vocabularies)
    by_vocabulary: dict[Vocabulary, list[Sample]] = {}
    foreign = 0
    for sample in samples:
        word = meanings.get(sample.name)
        if word is None:
            foreign += 1
        else:
            by_vocabulary.setdefault(word.vocabulary, []).append(sample)
    parts = [_part(one, found, meanings, around) for one, found in by_vocabulary.items()]
    return united((*parts, Collected((), SampleCounts(passed=foreign, dropped=_bad_lines(exposition)))))


def _part(
    vocabulary: Vocabulary, samples: Sequence[Sample], meanings: Mapping[str, Word], around: Circumstances
) -> Collected:
    if vocabulary.devices is None:
        return plain_readings(vocabulary, samples, meanings, around.time)
    stale_before = None if around.time is None else around.time - around.stale_after_seconds
    found = find_devices(vocabulary, samples, meanings, around.node, stale_before=stale_before)
    readings = normal_readings(found.devices, around.tenants, around.time)
    sums = owner_sums(found.devices, around.tenants)
    return Collected(tuple(readings), found.samples, (vocabulary.source,), sums=sums)


def _bad_lines(exposition: Exposition) -> Mapping[str, int]:
    cut = int(exposition.cut_off)
    counts = {MALFORMED: len(exposition.problems) - cut, TRUNCATED: cut}
    return {reason: count for reason, count in counts.items() if count}


def _renamed(samples: Sequence[Sample], renames: Mapping[str, str]) -> Sequence[Sample]:
    if not renames:
        return samples
    return [sample._replace(name=renames.get(sample.name, sample.name)) for sample in samples]


def _is_perftest(text: str) -> bool:
    if looks_like_json(text) or _PERFTEST_MARK.search(text):
        return True
    lines = text.split("\n", 2)
    return bool(_BARE_LATENCY.fullmatch(lines[0])) and not "".join(lines[1:]).strip()
