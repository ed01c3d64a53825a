"""What is known of one kind of objects: written by the thread that watches it, read by any. No I/O."""

from __future__ import annotations

import threading
from typing import Any

from collector.sources.kubernetes_kinds import Kind, KindState
from collector.sources.kubernetes_lists import Listing, project
from collector.sources.kubernetes_port import WatchEvent


class KindStore:
    """What is known of one kind, written by one thread and read by any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._objects: dict[str, Any] = {}
        self._malformed: dict[str, str] = {}
        self._confirmed_at: float | None = None
        self._problem: str | None = None
        self._served = True
        self._shown: KindState | None = None
        self.settled = threading.Event()
        """Set once the kind was read, or it is known why not."""

    def state(self) -> KindState:
        """An immutable view; the copy is made only when something has changed since the last one."""
        with self._lock:
            if self._shown is None:
                self._shown = KindState(dict(self._objects), dict(self._malformed))
            shown = self._shown
            return KindState(shown.objects, shown.malformed, self._confirmed_at, self._problem, self._served)

    def replace(self, listing: Listing, at: float) -> None:
        """Take a whole list, asked for at `at`, as the truth."""
        with self._lock:
            self._objects, self._malformed = listing.objects, listing.malformed
            self._shown = None
            self._confirm(at)

    def confirm(self, at: float) -> None:
        """The API server vouched for what is known."""
        with self._lock:
            self._confirm(at)

    def take(self, kind: Kind, event: WatchEvent, at: float) -> None:
        """Take one event; an object that cannot be understood leaves the picture and is counted."""
        found = project(kind, event.object)
        with self._lock:
            left = (self._objects.pop(found.uid, None), self._malformed.pop(found.uid, None))
            entered = event.kind != "DELETED" and (found.projection, found.problem) != (None, None)
            if entered and found.problem is not None:
                self._malformed[found.uid] = found.problem
            elif entered:
                self._objects[found.uid] = found.projection
            if entered or left != (None, None):
                self._shown = None
            self._confirm(at)

    def fail(self, problem: str) -> None:
        """It cannot be read now. What is known stays, and grows old."""
        with self._lock:
            self._problem = problem
            self.settled.set()

    def unserve(self) -> None:
        """The cluster does not have this kind."""
        with self._lock:
            self._objects, self._malformed, self._shown = {}, {}, None
            self._confirmed_at, self._problem, self._served = None, None, False
            self.settled.set()

    def _confirm(self, at: float) -> None:
        self._confirmed_at, self._problem, self._served = at, None, True
        self.settled.set()
