"""How the long-lived programs are told to stop: by signal, and always so that what they started is ended in order."""

from __future__ import annotations

import signal
import threading
from types import FrameType

_ASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""SIGHUP: the terminal is gone. Its default would end the process and leave programs, folders and a lease behind."""


def stop_event() -> threading.Event:
    """An event that is set when somebody asks this process to end; one started by nohup outlives its terminal."""
    stop = threading.Event()

    def asked(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in _ASKED:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, asked)
    return stop
