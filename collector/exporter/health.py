"""What the collector knows about its own reading: errors so far, and when each source was last read as a whole.

Written by every thread that reads something; values only, no logging.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

ErrorKey = tuple[str, str, str]
"""(source, device, reason)"""


@dataclass(frozen=True, slots=True)
class HealthState:
    """One moment of it. Times are epoch seconds; 0 for a source that is configured and was never read."""

    errors: Mapping[ErrorKey, int]
    last_success_at: Mapping[str, float]


class Health:
    """Counts that only grow. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._errors: Counter[ErrorKey] = Counter()
        self._last_success_at: dict[str, float] = {}

    def expect(self, source: str) -> None:
        """The source is configured: until it is read its last success is at 0, not absent."""
        with self._lock:
            self._last_success_at.setdefault(source, 0.0)

    def error(self, source: str, device: str, reason: str) -> None:
        """One reading failed. `reason` is a word out of a small set, since it becomes a series."""
        with self._lock:
            self._errors[source, device, reason] += 1

    def success(self, source: str, at: float) -> None:
        """The source was read as a whole at `at` (epoch seconds)."""
        with self._lock:
            self._last_success_at[source] = at

    def state(self) -> HealthState:
        """All counts as they stand."""
        with self._lock:
            return HealthState(dict(self._errors), dict(self._last_success_at))
