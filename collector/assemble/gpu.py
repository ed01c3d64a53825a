"""What GPUs did over a while, remembered from scrape to scrape. Pure.

A single reading says little: training pauses between steps. So each device is known by the highest activity of a
window, and one that was quiet but not watched for a whole window is unknown, which is neither idle nor busy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from collector.model.accelerator import LOST, GpuReading
from collector.model.quantities import format_duration
from collector.model.reading import Known, Reading, Unknown
from collector.parse.accelerator_readings import merge_gpu_readings

IDLE_BELOW_RATIO: Final = 0.05
"""A GPU that is busy for less of its time computes nothing: monitoring and context switches stay below it."""

LOST_REMEMBERED_SECONDS: Final = 6 * 3600.0
"""For so long a device that has vanished is told of: a card that was taken out for good is none in the end."""
_THROTTLING_SECONDS: Final = 300.0

DeviceKey = tuple[str, str]
"""(GPU, MIG slice or "")"""


@dataclass(frozen=True, slots=True)
class History:
    """One device: its last reading, and (epoch seconds, activity ratio) back to the beginning of the window."""

    last: GpuReading
    read_at: float
    points: tuple[tuple[float, float], ...] = ()
    throttled: tuple[tuple[float, float], ...] = ()
    """The same of the seconds for which its clock was held back."""


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """All devices that were read lately. A device that nobody reads any more is forgotten."""

    window_seconds: float = 600.0
    histories: Mapping[DeviceKey, History] = field(default_factory=dict)
    nodes_read_at: Mapping[str, float] = field(default_factory=dict)
    """Node → when any device of it was last read."""

    @property
    def longest_gap_seconds(self) -> float:
        """Silence longer than this may have been work: the device's history begins anew after it."""
        return self.window_seconds / 4

    @property
    def lost_after_seconds(self) -> float:
        """Unseen for longer while others of its node are seen, a device has vanished: a line may be bad once."""
        return self.window_seconds / 20

    def advance(self, readings: Iterable[GpuReading], now: float) -> GpuMemory:
        """The memory after one more scrape of some or all devices."""
        histories = {
            key: self._trimmed(history, now) for key, history in self.histories.items() if self._kept(history, now)
        }
        nodes = {node: at for node, at in self.nodes_read_at.items() if now - at <= LOST_REMEMBERED_SECONDS}
        for reading in merge_gpu_readings(readings):
            before = histories.get(reading.key)
            points = before.points if before is not None else ()
            activity = _activity(reading)
            if isinstance(activity, Known):
                points = (*points, (now - activity.age_seconds, activity.value))
            histories[reading.key] = History(reading, now, points, _throttled(before, reading, now))
            nodes[reading.node] = now
        return replace(self, histories=MappingProxyType(histories), nodes_read_at=MappingProxyType(nodes))

    def readings(self, now: float) -> Reading[tuple[GpuReading, ...]]:
        """Every device that was read lately, its activity being the highest of the window."""
        kept = self._all_kept(now)
        if not any(self._recent(history, now) for history in kept):
            return Unknown("no GPU exporter was read lately")
        return Known(tuple(_lost(one.last) if self._is_lost(one) else self._judged(one, now) for one in kept))

    def latest(self, now: float) -> tuple[GpuReading, ...]:
        """Every device as it was last read, with the share of the last minutes in which its clock was held back."""
        return tuple(_lost(one.last) if self._is_lost(one) else _with_throttling(one) for one in self._all_kept(now))

    def _all_kept(self, now: float) -> list[History]:
        return [history for _, history in sorted(self.histories.items()) if self._kept(history, now)]

    def _kept(self, history: History, now: float) -> bool:
        return self._recent(history, now) or (
            self._is_lost(history)
            and now - history.read_at <= LOST_REMEMBERED_SECONDS
            and now - self.nodes_read_at[history.last.node] <= self.longest_gap_seconds
        )

    def _is_lost(self, history: History) -> bool:
        node_read_at = self.nodes_read_at.get(history.last.node, history.read_at)
        return history.last.mig is None and node_read_at - history.read_at > self.lost_after_seconds

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


def _lost(reading: GpuReading) -> GpuReading:
    """A device that its node no longer shows: what is known of it is who held it."""
    gone = Unknown(LOST)
    return replace(
        reading,
        activity_ratio=gone,
        utilization_ratio=gone,
        memory_used_bytes=gone,
        power_watts=gone,
        temperature_celsius=gone,
        tensor_active_ratio=gone,
        memory_active_ratio=gone,
        clock_hertz=gone,
        throttle_ratio=gone,
        health=Known(0.0),
    )


def _throttled(before: History | None, reading: GpuReading, now: float) -> tuple[tuple[float, float], ...]:
    """What is kept of the counter: at most a few minutes, and nothing from before it began anew."""
    counter = reading.throttled_seconds
    if isinstance(counter, Unknown):
        return ()
    points = before.throttled if before is not None else ()
    if points and points[-1][1] > counter.value:
        points = ()
    recent = tuple(point for point in points if now - point[0] <= _THROTTLING_SECONDS)
    if len(recent) > 1 and now - recent[-2][0] < _THROTTLING_SECONDS / 5:
        recent = recent[:-1]  # a few points tell as much as all
    return (*recent, (now, counter.value))


def _with_throttling(history: History) -> GpuReading:
    points = history.throttled
    if isinstance(history.last.throttle_ratio, Known) or len(points) < 2 or points[-1][0] <= points[0][0]:
        return history.last
    (began, before), (ended, after) = points[0], points[-1]
    return replace(history.last, throttle_ratio=Known(min(1.0, (after - before) / (ended - began))))


def _activity(reading: GpuReading) -> Reading[float]:
    # The share of time with any kernel is never below the engine's, so what it calls idle is idle.
    return reading.activity_ratio if isinstance(reading.activity_ratio, Known) else reading.utilization_ratio
