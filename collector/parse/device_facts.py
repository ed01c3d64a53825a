"""Samples that say one thing about one device → one value, with the fate of each of them. Pure: no I/O.

Exporters repeat a device's value for every pod that shares it, add series per process beside the device's own, and
write numbers for "no value". Here a device has one value per fact, and parts of holders only where they really differ.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from collector.catalogue import accelerators as names
from collector.catalogue.spelling import Scope, Spelling, Vocabulary
from collector.model.accelerator import GpuHolder
from collector.model.collected import SampleCounts
from collector.model.reading import Known, Reading, Unknown

BLANK: Final = "blank value"
IMPLAUSIBLE: Final = "implausible value"
NO_HOLDER: Final = "names no holder"
NO_DEVICE: Final = "names no device"
DIFFERS: Final = "differs between pods on one device"
STALE: Final = "stale sample"

_COMBINED: Final[Mapping[str, Callable[[Iterable[float]], float]]] = {names.HEALTH: min, names.THROTTLE: max}
"""Facts that several spellings tell together: sick if any says so, throttled as much as the worst."""


class Point(NamedTuple):
    """One sample about a fact, in the unit of its exporter."""

    value: float
    holder: GpuHolder | None
    time: float | None


@dataclass(slots=True)
class Fact:
    """One fact of one device as its samples come in, by spelling."""

    points: dict[Spelling, list[Point]] = field(default_factory=dict)

    def add(self, spelling: Spelling, point: Point) -> None:
        """One more sample."""
        self.points.setdefault(spelling, []).append(point)


@dataclass(frozen=True, slots=True)
class Limits:
    """What is no value."""

    vocabulary: Vocabulary
    stale_before: float | None = None
    """Samples that name an older time than this say nothing about now; None: never judged."""

    def is_blank(self, spelling: Spelling, value: float) -> bool:
        """Whether the number means that there is none."""
        if value < self.vocabulary.blank_from and value < math.inf:
            return False
        if not spelling.is_counter or not value < math.inf:  # NaN is not below it either
            return True
        return any(lowest <= value <= highest for lowest, highest in self.vocabulary.blank_in)


@dataclass(slots=True)
class Resolved:
    """The value of a fact, the parts of its holders, and where its samples went."""

    reading: Reading[float]
    parts: dict[GpuHolder, float] = field(default_factory=dict)
    time: float | None = None
    used: int = 0
    passed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def samples(self) -> SampleCounts:
        """Their fates."""
        return SampleCounts(self.used, self.passed, dict(self.dropped))


def resolve(ours: str, fact: Fact, order: Sequence[Spelling], limits: Limits, age_seconds: float) -> Resolved:
    """The first spelling in the order of the table that has a value; further ones say it again and are passed."""
    total = Resolved(Unknown("not exported"))
    combine = _COMBINED.get(ours)
    first_reason: str | None = None
    values: list[float] = []
    for spelling in fact.points if len(fact.points) == 1 else [one for one in order if one in fact.points]:
        points = fact.points[spelling]
        if values and combine is None and spelling.scope is not Scope.HOLDER:
            total.passed += len(points)
            continue
        if total.parts and spelling.scope is Scope.HOLDER:
            total.passed += len(points)
            continue
        one = _judged(spelling, points, limits)
        total.used += one.used
        if one.dropped:
            total.dropped.update(one.dropped)
        total.parts = total.parts or one.parts
        if isinstance(one.reading, Known):
            values.append(one.reading.value)
            total.time = one.time if total.time is None else total.time
        elif first_reason is None and spelling.scope is not Scope.HOLDER:
            first_reason = one.reading.reason
    if values:
        total.reading = Known((combine or max)(values), age_seconds)
    elif first_reason is not None:
        total.reading = Unknown(first_reason)
    elif total.parts:
        total.reading = Unknown("told for its holders alone, not for the device")
    return total


def _judged(spelling: Spelling, points: Sequence[Point], limits: Limits) -> Resolved:
    result = Resolved(Unknown(f"{spelling.theirs} is not exported"))
    usable: list[Point] = []
    for point in points:
        reason, why = _fault(spelling, point, limits)
        if reason:
            result.dropped[reason] += 1
            result.reading = Unknown(why)
        else:
            usable.append(point)
    if not usable:
        return result
    result.time = max((point.time for point in usable if point.time is not None), default=None)
    if spelling.scope is Scope.HOLDER:
        return _of_holders(spelling, usable, result)
    return _of_device(spelling, usable, result)


def _fault(spelling: Spelling, point: Point, limits: Limits) -> tuple[str, str]:
    """(reason to drop the sample, sentence about the fact), or two empty words."""
    if limits.is_blank(spelling, point.value):
        return BLANK, f"blank value ({spelling.theirs})"
    if not spelling.lowest <= point.value <= spelling.limit:
        expected = f"{spelling.lowest:g} to {spelling.limit:g}"
        return IMPLAUSIBLE, f"{spelling.theirs} is {point.value:g}: expected {expected}"
    if limits.stale_before is not None and point.time is not None and point.time < limits.stale_before:
        return STALE, f"{spelling.theirs} is of an old moment: the exporter repeats it"
    return "", ""


def _of_holders(spelling: Spelling, usable: Sequence[Point], result: Resolved) -> Resolved:
    for point in usable:
        if point.holder is None:
            result.dropped[NO_HOLDER] += 1
            continue
        result.used += 1
        value = spelling.converted(point.value)
        result.parts[point.holder] = max(value, result.parts.get(point.holder, value))
    return result


def _of_device(spelling: Spelling, usable: Sequence[Point], result: Resolved) -> Resolved:
    """The device's own value; else the one on which the series of its holders agree."""
    result.used += len(usable)
    if spelling.scope is Scope.WHOLE:
        result.reading = _value(spelling, {point.value for point in usable})
        return result
    own = {point.value for point in usable if point.holder is None}
    held = {point.holder: point.value for point in usable if point.holder is not None}
    distinct = set(held.values())
    if own or len(distinct) == 1:
        result.reading = _value(spelling, own or distinct)
    else:
        result.reading = Unknown(f"{spelling.theirs} {DIFFERS}, and the device has no series of its own")
    if distinct - own if own else len(distinct) > 1:
        result.parts = {holder: spelling.converted(value) for holder, value in held.items()}
    return result


def _value(spelling: Spelling, values: Iterable[float]) -> Known[float]:
    """Where series of one device disagree, the highest never calls it idle, and the sickest never calls it well."""
    if spelling.true_when is not None:
        return Known(min(map(spelling.converted, values)))
    converted = spelling.converted(max(values))
    return Known(min(converted, 1.0) if spelling.ours.endswith("_ratio") else converted)
