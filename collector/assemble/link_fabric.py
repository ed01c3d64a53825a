"""Links between NICs as edges between nodes, for objectives of tenants: an edge is as slow as its worst rail. Pure.

Only what is half a round trip counts, as objectives mean it, and only what was probed lately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.model.fabric import Edge
from collector.model.probing import LinkQuantity, LinkState
from collector.model.reading import Known, Reading, Unknown, fresh

_HALF: Final = "half"
_NOT_PROBED: Final = Unknown("not probed yet")


@dataclass(frozen=True, slots=True)
class LinkFabric:
    """The edges of all links that were probed within `stale_after_seconds`."""

    stale_after_seconds: float
    worst: Mapping[tuple[Edge, float], tuple[LinkQuantity, float]] = field(default_factory=dict)
    """(edge, quantile) → the worst rail, and when it was probed."""

    @property
    def edges(self) -> Iterable[Edge]:
        """All edges that were probed lately."""
        return sorted({edge for edge, _ in self.worst})

    def lasting_seconds(self, edge: Edge, quantile: float, now: float) -> Reading[float]:
        """The better of the last two probes of its worst rail."""
        found = self.worst.get((edge, quantile))
        if found is None or isinstance(found[0].lasting, Unknown):
            return _NOT_PROBED if found is None else found[0].lasting
        age = max(0.0, now - found[1])
        return fresh(Known(found[0].lasting.value, age), self.stale_after_seconds, "the last probe")

    def baseline_seconds(self, edge: Edge, quantile: float) -> Reading[float]:
        """What is usual for that rail."""
        found = self.worst.get((edge, quantile))
        return _NOT_PROBED if found is None else found[0].usual

    def is_new(self, edge: Edge, quantile: float, *, needs_baseline: bool) -> bool:
        """Whether it was probed too seldom to be judged."""
        found = self.worst.get((edge, quantile))
        if found is None:
            return True
        return isinstance(found[0].lasting, Unknown) or (needs_baseline and isinstance(found[0].usual, Unknown))


def link_fabric(states: Iterable[LinkState], now: float, stale_after_seconds: float) -> LinkFabric:
    """The edges of these links. A probe that failed says nothing of its edge, as long as another rail does."""
    worst: dict[tuple[Edge, float], tuple[LinkQuantity, float]] = {}
    for state in states:
        if state.link.is_loop or state.fault or now - state.at > stale_after_seconds:
            continue
        edge = Edge(*(end.partition("/")[0] for end in (state.link.source, state.link.destination)))
        for (operation, quantile), told in state.quantities.items():
            if operation.path == _HALF and _ratio(told) >= _ratio(worst.get((edge, quantile), (None, 0.0))[0]):
                worst[edge, quantile] = told, state.at
    return LinkFabric(stale_after_seconds, worst)


def _ratio(told: LinkQuantity | None) -> float:
    if told is None:
        return -1.0
    if isinstance(told.lasting, Known) and isinstance(told.usual, Known):
        return told.lasting.value / told.usual.value
    return 0.0
