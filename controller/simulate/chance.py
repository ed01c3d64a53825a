"""Numbers that look random and are the same for the same seed, on every machine and in every version. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


@dataclass(slots=True)
class Chance:
    """A stream of numbers (SplitMix64). `apart` gives streams that do not disturb each other."""

    state: int

    def apart(self, *names: str | int) -> Chance:
        """A stream of its own for what `names` say; drawing from one leaves the other as it was."""
        text = "/".join(str(name) for name in (self.state, *names))
        return Chance(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big"))

    def uniform(self) -> float:
        """A number from 0 up to, not including, 1."""
        self.state = (self.state + _STEP) & _WORD
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
        return ((mixed ^ (mixed >> 31)) >> 11) / (1 << 53)

    def between(self, low: float, high: float) -> float:
        """A number from `low` up to `high`."""
        return low + (high - low) * self.uniform()

    def exponential(self, mean: float) -> float:
        """A waiting time with that mean."""
        return -mean * math.log(1.0 - self.uniform())

    def pick(self, choices: Sequence[tuple[T, float]]) -> T:
        """One of the values, each with its weight."""
        left = self.uniform() * sum(weight for _, weight in choices)
        for value, weight in choices:
            left -= weight
            if left < 0:
                return value
        return choices[-1][0]
