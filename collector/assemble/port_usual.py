"""Whether a port has more trouble than is usual for it at such a load: an all-reduce is a load, and no alarm. Pure.

What counts is trouble by packet, held against the port's own past at about the same share of its speed. What is unusual
does not become usual unless it lasts for as long as the memory asks; before there is a past nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from collector.assemble.port_trouble import PortKey, PortLoad
from collector.model.reading import Known, Reading, Unknown

_BANDS: Final = (0.01, 0.05, 0.2, 0.5)
"""Shares of the port's speed between which loads count as similar."""
_NONE: Final = -64
"""Stands for no trouble at all, below every power of two that a counter can give."""
LEAST_LOOKS: Final = 40
_USUAL_SHARE: Final = 0.95
_LONGEST_UNUSUAL: Final = 240
"""Looks in a row after which the unusual is the usual."""
_MOST_COUNTED: Final = 10_000
_BEYOND: Final = 1
"""Powers of two above what is usual."""


@dataclass(frozen=True, slots=True)
class _Past:
    """Looks at one trouble of one port at one load: power of two of its trouble by packet → how many."""

    counts: Mapping[int, int] = field(default_factory=dict)
    unusual_in_a_row: int = 0

    def limit(self) -> int | None:
        """The power of two that nearly all looks do not pass; None before there are enough."""
        looks, seen = sum(self.counts.values()), 0
        for power, count in sorted(self.counts.items()):
            seen += count
            if looks >= LEAST_LOOKS and seen >= _USUAL_SHARE * looks:
                return power
        return None


_Key = tuple[PortKey, str, int]
"""(port, trouble, band of load)"""
Verdict = tuple[PortKey, str, Reading[float]]
"""(port, trouble, 1: more than is usual at such a load)"""


@dataclass(frozen=True, slots=True)
class PortUsual:
    """All ports of a node. Immutable; bounded by ports, troubles, bands and the powers that were seen."""

    past: Mapping[_Key, _Past] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
    """Of the last look."""

    def advance(
        self, troubles: Iterable[tuple[PortKey, str, Reading[float]]], loads: Mapping[PortKey, Reading[PortLoad]]
    ) -> PortUsual:
        """After one more look. `troubles`: events in a second."""
        past, verdicts = dict(self.past), list[Verdict]()
        for port, trouble, rate in troubles:
            load = loads.get(port, Unknown("its load is not known"))
            if isinstance(rate, Unknown):
                verdicts.append((port, trouble, rate))
            elif isinstance(load, Unknown):
                verdicts.append((port, trouble, load))
            else:
                key = port, trouble, sum(load.value.ratio >= band for band in _BANDS)
                past[key], verdict = _judged(past.get(key, _Past()), _power(rate.value, load.value))
                verdicts.append((port, trouble, verdict))
        return PortUsual(MappingProxyType(past), tuple(verdicts))

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)


def _judged(past: _Past, power: int) -> tuple[_Past, Reading[float]]:
    limit = past.limit()
    if limit is None:
        return _counted(past, power), Unknown("too few looks at such a load")
    if power <= limit + _BEYOND:
        return _counted(past, power), Known(0.0)
    if past.unusual_in_a_row + 1 >= _LONGEST_UNUSUAL:
        return _counted(_Past(), power), Known(1.0)
    return replace(past, unusual_in_a_row=past.unusual_in_a_row + 1), Known(1.0)


def _counted(past: _Past, power: int) -> _Past:
    counts = {**past.counts, power: past.counts.get(power, 0) + 1}
    if sum(counts.values()) > _MOST_COUNTED:  # the far past weighs half of what it did
        counts = {one: (count + 1) // 2 for one, count in counts.items()}
    return _Past(MappingProxyType(counts))


def _power(events_per_second: float, load: PortLoad) -> int:
    if events_per_second <= 0:
        return _NONE
    return max(_NONE + _BEYOND + 1, math.floor(math.log2(events_per_second / max(1.0, load.packets_per_second))))
