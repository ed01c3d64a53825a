"""How a long-lived program is told to stop: SIGTERM or Ctrl-C, once, and it ends in order."""

from __future__ import annotations

import signal
import threading


def stop_on_signals() -> threading.Event:
    """An event that the first SIGTERM or SIGINT from now on sets. To be called in the main thread."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop
