"""Who was refused by a quota and tries again: after 1, 2, 4 … seconds, at most 60, so that nobody has precedence. Pure.

Only tries that can succeed are looked at, and they are found by their phase within the minute.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from math import ceil

_FIRST_TRIES = (0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0)
"""Seconds after the first one; from the last on it is a try every `_LONGEST_PAUSE`."""
_LONGEST_PAUSE = 60.0


def next_try(since: float, now: float) -> float:
    """The first moment from `now` on at which a job is tried that was tried first at `since`."""
    waited = now - since
    if waited <= _FIRST_TRIES[-1]:
        return since + _FIRST_TRIES[bisect_left(_FIRST_TRIES, waited)]
    return since + _FIRST_TRIES[-1] + _LONGEST_PAUSE * ceil((waited - _FIRST_TRIES[-1]) / _LONGEST_PAUSE)


class Refused:
    """Jobs of one tenant, one size and one class of work that were refused."""

    def __init__(self, since: Sequence[float]) -> None:
        """`since` is by row: when it was tried first. It may change for rows that are not in here."""
        self._since = since
        self._young: deque[int] = deque()
        self._old: list[tuple[float, int]] = []
        """(phase, row), by phase: all are tried once in each longest pause."""

    def __len__(self) -> int:
        """How many."""
        return len(self._young) + len(self._old)

    def add(self, row: int) -> None:
        """One more; rows come in order of their first try."""
        self._young.append(row)

    def remove(self, row: int) -> None:
        """It was served."""
        if row in self._young:
            self._young.remove(row)
        else:
            del self._old[bisect_left(self._old, (self._phase(row), row))]

    def rows(self) -> tuple[int, ...]:
        """All of them, in no order that means anything."""
        return (*self._young, *(row for _, row in self._old))

    def first(self, now: float) -> tuple[float, int] | None:
        """(when, row) of the first try from `now` on."""
        while self._young and now - self._since[self._young[0]] > _FIRST_TRIES[-1]:
            row = self._young.popleft()
            insort(self._old, (self._phase(row), row))
        tries = [(next_try(self._since[row], now), row) for row in self._young]
        if self._old:
            place = bisect_left(self._old, (now % _LONGEST_PAUSE, -1)) % len(self._old)
            row = self._old[place][1]
            tries.append((next_try(self._since[row], now), row))
        return min(tries, default=None)

    def _phase(self, row: int) -> float:
        return (self._since[row] + _FIRST_TRIES[-1]) % _LONGEST_PAUSE
