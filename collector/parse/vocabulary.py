"""Which exporter says what in a text: each metric's name → the vocabulary it belongs to, and its line there. Pure.

A text may hold several exporters (a federation); each name belongs to one of them. Works on names, which are few, and
never on samples, which are many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from collector.catalogue.spelling import Spelling, Vocabulary
from collector.catalogue.spellings.ceph import CEPH_EXPORTER, CEPH_MGR
from collector.parse.exposition import Sample

_ONLY_MANAGER: Final = "ceph_health_status"
_HISTOGRAM: Final = ("_bucket", "_sum", "_count")
_LONGEST_PREFIX: Final = 64


@dataclass(frozen=True, slots=True)
class Word:
    """What one metric's name means."""

    vocabulary: Vocabulary
    spelling: Spelling | None
    """None: one of this exporter's metrics that the catalogue does not name."""
    suffix: str = ""
    """Of a histogram's or summary's series: _bucket, _sum or _count."""


def words(samples: Iterable[Sample], vocabularies: Sequence[Vocabulary]) -> Mapping[str, Word]:
    """Name → word, for every name in the text that belongs to one of the vocabularies."""
    labels_of: dict[str, Mapping[str, str]] = {}
    for sample in samples:
        if sample.name not in labels_of:
            labels_of[sample.name] = sample.labels
    found: dict[str, Word] = {}
    for vocabulary in _that_apply(vocabularies, labels_of):
        for name, word in _Reader(vocabulary, labels_of).words():
            known = found.get(name)
            if known is None or (known.spelling is None and word.spelling is not None):
                found[name] = word
    return found


def _that_apply(vocabularies: Sequence[Vocabulary], names: Mapping[str, object]) -> Iterable[Vocabulary]:
    """Both exporters of Ceph say the same words: the manager alone speaks of the cluster's health."""
    not_ceph = CEPH_EXPORTER if _ONLY_MANAGER in names else CEPH_MGR
    both = CEPH_MGR in vocabularies and CEPH_EXPORTER in vocabularies
    return [vocabulary for vocabulary in vocabularies if not both or vocabulary is not not_ceph]


class _Reader:
    """One vocabulary, and the names of a text."""

    def __init__(self, vocabulary: Vocabulary, labels_of: Mapping[str, Mapping[str, str]]) -> None:
        self._vocabulary = vocabulary
        self._names = {name: self._folded(name) for name in labels_of if self._may_be_ours(labels_of[name])}
        self._table = {self._folded(spelling.theirs): spelling for spelling in vocabulary.spellings}
        self._prefix = self._best_prefix() if vocabulary.any_prefix else ""

    def words(self) -> Iterable[tuple[str, Word]]:
        """(name as written, word) of every name that is this exporter's."""
        for name, folded in self._names.items():
            bare = folded.removeprefix(self._prefix)
            spelling, suffix = self._spelling(bare)
            if spelling is not None or bare.startswith(self._vocabulary.prefixes):
                yield name, Word(self._vocabulary, spelling, suffix)

    def _folded(self, name: str) -> str:
        return name.lower() if self._vocabulary.any_case else name

    def _may_be_ours(self, labels: Mapping[str, str]) -> bool:
        devices = self._vocabulary.devices
        if devices is None or not devices.needs:
            return True
        return any(self._folded(label) in devices.needs for label in labels)

    def _spelling(self, bare: str) -> tuple[Spelling | None, str]:
        spelling = self._table.get(bare)
        if spelling is not None:
            return spelling, ""
        for suffix in _HISTOGRAM:
            base = bare.removesuffix(suffix)
            if base != bare and self._vocabulary.devices is None and base in self._table:
                return self._table[base], suffix
        return None, ""

    def _best_prefix(self) -> str:
        """The beginning of all names under which most of them are known; "" where no prefix helps."""
        if not self._names:
            return ""
        first, last = min(self._names.values()), max(self._names.values())
        same = next(
            (n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last))
        )
        prefixes = [first[: place + 1] for place in range(min(same, _LONGEST_PREFIX)) if first[place] == "_"]
        return max(["", *prefixes], key=lambda prefix: (self._known_under(prefix), -len(prefix)))

    def _known_under(self, prefix: str) -> int:
        return sum(name.removeprefix(prefix) in self._table for name in self._names.values())
