"""Does something again and again in a thread of its own, so that what is slow holds up nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Repeated:
    """Calls `action` at once and then every `interval_seconds`, until stopped. The action must not raise."""

    def __init__(self, name: str, interval_seconds: float, action: Callable[[], None]) -> None:
        self._interval_seconds, self._action = interval_seconds, action
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin. Once."""
        self._thread.start()

    def stop(self, within_seconds: float = 2.0) -> None:
        """Let the call under way end; as a daemon the thread does not keep the process when it takes longer."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(within_seconds)

    def _run(self) -> None:
        while True:
            self._action()
            if self._stop.wait(self._interval_seconds):
                return
