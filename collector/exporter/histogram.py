"""A classic histogram that only grows: counts below fixed bounds, as Prometheus wants them. One writer at a time."""

from __future__ import annotations

import bisect
from collections.abc import Sequence


class Histogram:
    """Values counted by bounds in ascending order."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds, self._counts, self.total = tuple(bounds), [0] * (len(bounds) + 1), 0.0

    def observe(self, value: float) -> None:
        """One value more."""
        self._counts[bisect.bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        """(upper bound as Prometheus writes it, how many are not above it), the last without a bound."""
        found, sum_so_far = [], 0
        for bound, count in zip((*map(_text, self._bounds), "+Inf"), self._counts, strict=True):
            sum_so_far += count
            found.append((bound, float(sum_so_far)))
        return found


def _text(bound: float) -> str:
    return f"{bound:.6g}"
