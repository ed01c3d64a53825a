"""Samples that are about no accelerator → readings under our names, with their own labels. Pure: no I/O.

NaN, infinities, values that no such metric can have and counters that stand at their end are no numbers: the reading is
Unknown and says why, and the sample counts as dropped for the same reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from collector.catalogue.index import find
from collector.catalogue.spelling import Canary, Spelling, Vocabulary
from collector.model.collected import Collected, NormalReading, SampleCounts
from collector.model.reading import Known, Reading, Unknown
from collector.parse.exposition import Sample
from collector.parse.vocabulary import Word

NOT_A_NUMBER: Final = "not a number"
INFINITE: Final = "infinite value"
IMPLAUSIBLE: Final = "implausible value"
SATURATED: Final = "saturated counter"
REPEATED: Final = "repeats a series"


def plain_readings(
    vocabulary: Vocabulary, samples: Iterable[Sample], words: Mapping[str, Word], time: float | None = None
) -> Collected:
    """Each sample that has a word, under it. A series that comes twice counts once, by its higher value."""
    dropped = Counter[str]()
    used = passed = 0
    readings: dict[tuple[str, tuple[tuple[str, str], ...]], NormalReading] = {}
    labels_of = _Labels(vocabulary)
    for sample in samples:
        word = words[sample.name]
        spelling = word.spelling
        if spelling is None:
            passed += 1
            continue
        value, reason = judged(spelling, sample.value)
        name = spelling.ours + word.suffix
        labels = labels_of(sample, spelling)
        key = (name, tuple(sorted(labels.items())))
        earlier = readings.get(key)
        if reason:
            dropped[reason] += 1
        elif earlier is not None and isinstance(earlier.value, Known):
            dropped[REPEATED] += 1
        else:
            used += 1
        if earlier is None or _is_higher(value, earlier.value):
            moment = sample.timestamp_seconds if sample.timestamp_seconds is not None else time
            readings[key] = NormalReading(name, value, unit_of(spelling.ours), labels, moment, vocabulary.source)
    kept, changed = watched(readings.values(), vocabulary.canaries)
    if changed:
        used, dropped[IMPLAUSIBLE] = used - changed, dropped[IMPLAUSIBLE] + changed
    return Collected(kept, SampleCounts(used, passed, dict(dropped)), (vocabulary.source,))


def watched(readings: Iterable[NormalReading], canaries: Sequence[Canary]) -> tuple[tuple[NormalReading, ...], int]:
    """The readings, those Unknown whose mean says that a unit has changed; and how many these are."""
    kept = list(readings)
    places = {(one.name, tuple(sorted(one.labels.items()))): place for place, one in enumerate(kept)}
    changed = 0
    for canary in canaries:
        for (name, labels), place in places.items():
            beside = places.get((canary.count, labels)) if name == canary.amount else None
            if beside is None:
                continue
            amount, count = kept[place].value, kept[beside].value
            if isinstance(amount, Unknown) or isinstance(count, Unknown) or count.value < canary.counted_at_least:
                continue
            mean = amount.value / count.value
            if not canary.lowest <= mean <= canary.highest:
                expected = f"{canary.lowest:g} to {canary.highest:g}"
                reason = f"it would be {mean:.3g} for each of them, expected {expected}: its unit must have changed"
                kept[place] = replace(kept[place], value=Unknown(reason))
                changed += 1
    return tuple(kept), changed


def judged(spelling: Spelling, value: float) -> tuple[Reading[float], str]:
    """The value in our unit, and "" or the reason why the sample is dropped."""
    if math.isnan(value):
        return Unknown(f"{spelling.theirs} is not a number"), NOT_A_NUMBER
    if math.isinf(value):
        return Unknown(f"{spelling.theirs} is infinite: no limit is set, or it was divided by nothing"), INFINITE
    if not spelling.lowest <= value <= spelling.limit:
        expected = f"{spelling.lowest:g} to {spelling.limit:g}"
        return Unknown(f"{spelling.theirs} is {value:g}: expected {expected}"), IMPLAUSIBLE
    if spelling.saturates_at is not None and value >= spelling.saturates_at:
        return Unknown(f"{spelling.theirs} stands at its end, {value:.0f}: it counts no more"), SATURATED
    return Known(spelling.converted(value)), ""


def unit_of(ours: str) -> str:
    """The unit that the catalogue gives the metric, "" for a name that it does not know."""
    entry = find(ours)
    return entry.unit.value if entry is not None else ""


def _is_higher(value: Reading[float], than: Reading[float]) -> bool:
    return isinstance(value, Known) and (isinstance(than, Unknown) or value.value > than.value)


class _Labels:
    """Labels as the catalogue calls them, remembered by the block that they were written in."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._renames, self._values = vocabulary.renames, vocabulary.values
        self._seen: dict[tuple[int, Spelling], dict[str, str]] = {}

    def __call__(self, sample: Sample, spelling: Spelling) -> dict[str, str]:
        key = (id(sample.labels), spelling)
        labels = self._seen.get(key)
        if labels is None:
            renames, values = self._renames, self._values
            labels = {renames.get(name, name): values.get(value, value) for name, value in sample.labels.items()}
            labels.update(spelling.labels)
            self._seen[key] = labels
        return labels
