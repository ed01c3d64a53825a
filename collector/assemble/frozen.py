"""Pages of GPU exporters that are served again and again although their devices run on. Pure.

A GPU that is on draws power, so its counter of energy grows; where none of a page's counters does, the exporter hangs
and repeats what it once saw. A page without such a counter is not judged: an idle device may say the same for hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.spellings.index import ACCELERATOR_VOCABULARIES
from collector.parse.exposition import Exposition
from collector.parse.vocabulary import words

FROZEN_WINDOWS: Final = 0.5
"""Share of the window of activity after which a page that stands still is believed no more: longer than exporters
rest between two looks at their devices, shorter than what makes a device count as idle."""


def energy_counters(exposition: Exposition) -> tuple[float, ...]:
    """The counters of energy of a page, in its order and in its own unit; () where it has none above zero."""
    meanings = words(exposition.samples, ACCELERATOR_VOCABULARIES)
    spelled = {name: word.spelling.ours for name, word in meanings.items() if word.spelling is not None}
    counters = tuple(one.value for one in exposition.samples if spelled.get(one.name) == names.ENERGY)
    return counters if any(value > 0 for value in counters) else ()


@dataclass(frozen=True, slots=True)
class Pages:
    """Each page → its counters, and since when (epoch seconds) they have not moved."""

    still_since: Mapping[str, tuple[tuple[float, ...], float]] = field(default_factory=dict)

    def advance(self, looks: Mapping[str, tuple[float, ...]], now: float) -> Pages:
        """The memory after a look at some pages. A page without counters, or without an answer, is forgotten."""
        since = {
            page: before if (before := self.still_since.get(page)) and before[0] == counters else (counters, now)
            for page, counters in looks.items()
            if counters
        }
        return replace(self, still_since=MappingProxyType(since))

    def frozen(self, page: str, limit_seconds: float, now: float) -> bool:
        """Whether nothing on the page has moved for so long."""
        found = self.still_since.get(page)
        return found is not None and now - found[1] >= limit_seconds
