"""A number that may be missing: Known with its age, or Unknown with its reason. Never zero, never NaN for "missing"."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """A value that was really read, `age_seconds` before the moment it is used."""

    value: T
    age_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Unknown:
    """No value, and why, in words for a person."""

    reason: str


Reading: TypeAlias = Known[T] | Unknown


def number(value: float, age_seconds: float = 0.0, what: str = "value") -> Reading[float]:
    """Known for a finite number; NaN and infinities become Unknown, since no arithmetic may run over them."""
    if math.isnan(value):
        return Unknown(f"{what} is not a number")
    if math.isinf(value):
        return Unknown(f"{what} is infinite")
    return Known(value, age_seconds)


def fresh(reading: Reading[T], limit_seconds: float, what: str = "value") -> Reading[T]:
    """The reading itself, or Unknown when it is older than `limit_seconds`."""
    if isinstance(reading, Known) and reading.age_seconds > limit_seconds:
        return Unknown(f"{what} is {reading.age_seconds:.0f} s old (limit {limit_seconds:.0f} s)")
    return reading


def mapped(reading: Reading[T], function: Callable[[T], U]) -> Reading[U]:
    """Apply `function` to the value, keep the age; Unknown stays Unknown."""
    if isinstance(reading, Unknown):
        return reading
    return Known(function(reading.value), reading.age_seconds)


def known_or(reading: Reading[T], default: T) -> T:
    """The value, or `default`: only for display and for choices where the default is the safe side."""
    return reading.value if isinstance(reading, Known) else default


def total(readings: Iterable[Reading[float]]) -> Reading[float]:
    """Sum with the age of the oldest part; Unknown as soon as one part is, since a partial sum lies."""
    value, age_seconds = 0.0, 0.0
    for reading in readings:
        if isinstance(reading, Unknown):
            return reading
        value += reading.value
        age_seconds = max(age_seconds, reading.age_seconds)
    return Known(value, age_seconds)
