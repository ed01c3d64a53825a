"""What the collector knows about its own reading: errors, and when each source and each of its devices was last read.

Written by every thread that reads something; values only, no logging. A device that was seen once is never forgotten:
one that vanishes must not vanish from here.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

ErrorKey = tuple[str, str, str]
"""(source, device, reason)"""


@dataclass(frozen=True, slots=True)
class DeviceSeen:
    """The last look at one device, one address or one kind of object."""

    at: float | None
    """When it was last read, in epoch seconds; None: never."""
    known: int = 0
    """Readings that have a value."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Reason → readings that have none."""

    @property
    def coverage_ratio(self) -> float:
        """Share of readings that have a value; 0 where there is none to have."""
        total = self.known + sum(self.unknown.values())
        return self.known / total if total else 0.0


@dataclass(frozen=True, slots=True)
class HealthState:
    """One moment of it. Times are epoch seconds; 0 for a source that is configured and was never read."""

    errors: Mapping[ErrorKey, int]
    last_success_at: Mapping[str, float]
    last_error_at: Mapping[ErrorKey, float] = field(default_factory=dict)
    devices: Mapping[tuple[str, str], DeviceSeen] = field(default_factory=dict)
    """(source, device) → its last look."""
    device_counts: Mapping[str, int] = field(default_factory=dict)
    """Source → devices at the last look."""


class Health:
    """Counts that only grow. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._lock, self._clock = threading.Lock(), clock
        self._errors: Counter[ErrorKey] = Counter()
        self._last_success_at: dict[str, float] = {}
        self._last_error_at: dict[ErrorKey, float] = {}
        self._devices: dict[tuple[str, str], DeviceSeen] = {}
        self._device_counts: dict[str, int] = {}

    def expect(self, source: str) -> None:
        """The source is configured: until it is read its last success is at 0, not absent."""
        with self._lock:
            self._last_success_at.setdefault(source, 0.0)

    def error(self, source: str, device: str, reason: str) -> None:
        """One reading failed. `reason` is a word out of a small set, since it becomes a series."""
        at = self._clock()
        with self._lock:
            self._errors[source, device, reason] += 1
            self._last_error_at[source, device, reason] = at

    def success(self, source: str, at: float) -> None:
        """The source was read as a whole at `at` (epoch seconds)."""
        with self._lock:
            self._last_success_at[source] = at

    def seen(self, source: str, device: str, look: DeviceSeen) -> None:
        """One device was read, in part at least."""
        with self._lock:
            self._devices[source, device] = look

    def unseen(self, source: str, device: str) -> None:
        """One device could not be read at all: its age goes on, nothing of it is known."""
        with self._lock:
            earlier = self._devices.get((source, device))
            self._devices[source, device] = DeviceSeen(earlier.at if earlier is not None else None)

    def counted(self, source: str, devices: int) -> None:
        """So many devices were there at the last look."""
        with self._lock:
            self._device_counts[source] = devices

    def known_devices(self, source: str) -> frozenset[str]:
        """Every device of the source that was seen since the start."""
        with self._lock:
            return frozenset(device for name, device in self._devices if name == source)

    def state(self) -> HealthState:
        """All counts as they stand."""
        with self._lock:
            return HealthState(
                dict(self._errors),
                dict(self._last_success_at),
                dict(self._last_error_at),
                dict(self._devices),
                dict(self._device_counts),
            )
