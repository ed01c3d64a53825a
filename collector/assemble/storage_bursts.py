"""How unevenly each image reads and writes: steadily, or in waves as checkpoints do. Pure.

A few numbers per image, however long it is watched: the mean of the bytes a second and of their square, both fading.
Their quotient tells waves from a steady stream; how often waves come is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import exp, sqrt
from typing import Final, NamedTuple

from collector.model.quantities import format_duration
from collector.model.reading import Known, Reading, Unknown
from collector.parse.ceph import ImageReading, Transfer
from collector.parse.ceph_names import RbdImage

FADE_SECONDS: Final = 600.0
"""What lies so far back counts a third."""
WATCHED_SECONDS: Final = 120.0
"""Watched for less, nothing is said."""


class Rate(NamedTuple):
    """Bytes a second of one direction. Both fade alike, and start at nothing; `weight` says how much was seen."""

    mean: float = 0.0
    square: float = 0.0
    weight: float = 0.0

    def after(self, rate: float, seconds: float, fade_seconds: float) -> Rate:
        """After so many seconds at that rate."""
        kept = exp(-seconds / fade_seconds)
        seen = 1.0 - kept
        return Rate(self.mean * kept + rate * seen, self.square * kept + rate * rate * seen, self.weight * kept + seen)

    @property
    def burstiness(self) -> float | None:
        """Standard deviation by mean: 0 is steady, 1 uneven, 2 and more waves. None when nothing flowed."""
        if self.weight <= 0 or self.mean <= 0:
            return None
        mean, square = self.mean / self.weight, self.square / self.weight
        return sqrt(max(0.0, square - mean * mean)) / mean


NOTHING: Final = Rate()


@dataclass(frozen=True, slots=True)
class Flow:
    """One image, or several together."""

    since: float
    """When it was first watched."""
    read: Rate = NOTHING
    write: Rate = NOTHING


@dataclass(frozen=True, slots=True)
class Bursts:
    """All images. One that is exported no more is forgotten."""

    fade_seconds: float = FADE_SECONDS
    watched_seconds: float = WATCHED_SECONDS
    flows: Mapping[RbdImage, Flow] = field(default_factory=dict)
    at: float = 0.0

    def advanced(self, images: Iterable[ImageReading], at: float) -> Bursts:
        """After what the images did between two rounds of the manager, the later one at `at`."""
        flows: dict[RbdImage, Flow] = {}
        for image in images:
            if not isinstance(image.read, Known) or not isinstance(image.write, Known):
                continue
            before = self.flows.get(image.image) or Flow(at - image.read.value.interval_seconds)
            flows[image.image] = Flow(
                before.since, self._after(before.read, image.read.value), self._after(before.write, image.write.value)
            )
        return Bursts(self.fade_seconds, self.watched_seconds, flows, at)

    def burstiness(self, images: Iterable[RbdImage], way: str) -> Reading[float]:
        """Of some images, the unevenness of the one that moves most in that direction (`read` or `write`)."""
        flows = [self.flows[image] for image in images if image in self.flows]
        if not flows:
            return Unknown("none of its images was watched yet")
        flow = max(flows, key=lambda one: _rate(one, way).mean)
        watched = self.at - flow.since
        if watched < self.watched_seconds:
            least = format_duration(self.watched_seconds)
            return Unknown(f"watched for {format_duration(watched)}: waves show after {least}")
        found = _rate(flow, way).burstiness
        return Unknown("nothing flowed") if found is None else Known(found)

    def _after(self, rate: Rate, moved: Transfer) -> Rate:
        seconds = moved.interval_seconds
        return rate.after(moved.bytes / seconds, seconds, self.fade_seconds) if seconds > 0 else rate


def _rate(flow: Flow, way: str) -> Rate:
    return flow.read if way == "read" else flow.write
