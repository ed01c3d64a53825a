"""What GPUs did over a while, remembered from scrape to scrape. Pure.

A single reading says little: training pauses between steps. So each device is known by the highest activity of a
window, and one that was quiet but not watched for a whole window is unknown, which is neither idle nor busy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from collector.model.accelerator import GpuReading
from collector.model.quantities import format_duration
from collector.model.reading import Known, Reading, Unknown
from collector.parse.accelerator_readings import merge_gpu_readings

IDLE_BELOW_RATIO: Final = 0.05
"""A GPU that is busy for less of its time computes nothing: monitoring and context switches stay below it."""

DeviceKey = tuple[str, str]
"""(GPU, MIG slice or "")"""


@dataclass(frozen=True, slots=True)
class History:
    """One device: its last reading, and (epoch seconds, activity ratio) back to the beginning of the window."""

    last: GpuReading
    read_at: float
    points: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """All devices that were read lately. A device that nobody reads any more is forgotten."""

    window_seconds: float = 600.0
    histories: Mapping[DeviceKey, History] = field(default_factory=dict)

    @property
    def longest_gap_seconds(self) -> float:
        """Silence longer than this may have been work: the device's history begins anew after it."""
        return self.window_seconds / 4

    def advance(self, readings: Iterable[GpuReading], now: float) -> GpuMemory:
        """The memory after one more scrape of some or all devices."""
        histories = {
            key: self._trimmed(history, now) for key, history in self.histories.items() if self._recent(history, now)
        }
        for reading in merge_gpu_readings(readings):
            points = histories[reading.key].points if reading.key in histories else ()
            activity = _activity(reading)
            if isinstance(activity, Known):
                points = (*points, (now - activity.age_seconds, activity.value))
            histories[reading.key] = History(reading, now, points)
        return replace(self, histories=MappingProxyType(histories))

    def readings(self, now: float) -> Reading[tuple[GpuReading, ...]]:
        """Every device that was read lately, its activity being the highest of the window."""
        recent = [history for _, history in sorted(self.histories.items()) if self._recent(history, now)]
        if not recent:
            return Unknown("no GPU exporter was read lately")
        return Known(tuple(self._judged(history, now) for history in recent))

    def _recent(self, history: History, now: float) -> bool:
        return now - history.read_at <= self.longest_gap_seconds

    def _trimmed(self, history: History, now: float) -> History:
        """Without what lies before the window or before a gap; the point that opens the window stays."""
        kept: list[tuple[float, float]] = []
        later = now
        for at, ratio in reversed(history.points):
            if later - at > self.longest_gap_seconds:
                break
            kept.append((at, ratio))
            later = at
            if at <= now - self.window_seconds:
                break
        return replace(history, points=tuple(reversed(kept)))

    def _judged(self, history: History, now: float) -> GpuReading:
        points = self._trimmed(history, now).points
        highest = max((ratio for _, ratio in points), default=0.0)
        whole = bool(points) and points[0][0] <= now - self.window_seconds
        activity: Reading[float] = Unknown(f"watched for less than {format_duration(self.window_seconds)}")
        if whole or highest >= IDLE_BELOW_RATIO:
            activity = Known(highest, now - points[-1][0])
        return replace(history.last, activity_ratio=activity, utilization_ratio=Unknown("counted as activity"))


def _activity(reading: GpuReading) -> Reading[float]:
    # The share of time with any kernel is never below the engine's, so what it calls idle is idle.
    return reading.activity_ratio if isinstance(reading.activity_ratio, Known) else reading.utilization_ratio
