"""The living picture of a cluster: per kind one list, then a watch with bookmarks, and a fresh list now and then.

Watches lose events, hang and end; so each has a time limit and a limit of silence, is opened again with growing pauses,
and the list made every ten minutes is the truth. No error leaves this module: it stands in the picture.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from collector.model.objects import Picture
from collector.sources.errors import CredentialsProblem, Gone, NotFound, SourceError, Throttled
from collector.sources.kubernetes_kinds import KINDS, Kind, picture_of
from collector.sources.kubernetes_lists import read_list, served_version
from collector.sources.kubernetes_port import EventStream, ObjectReader
from collector.sources.kubernetes_store import KindStore

Clock = Callable[[], float]

_FAILURES_UNTIL_LIST: Final = 3
"""After so many failures in a row the old position is given up, and so is hope that an absent kind is only a blip."""
_SHORTEST_WATCH_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Times of a watch, in seconds."""

    watch_seconds: int = 30
    """A watch ends after this long and is opened again: so much may pass in a quiet cluster without a confirmation."""
    relist_seconds: float = 600.0
    first_pause_seconds: float = 0.5
    longest_pause_seconds: float = 10.0
    unserved_seconds: float = 60.0
    """How often to ask whether an absent kind (Kueue not installed) has come."""
    page_size: int = 500


class KindFollower:
    """Keeps the store of one kind up to date: `run` until told to stop, in a thread of its own."""

    def __init__(self, api: ObjectReader, kind: Kind, settings: WatchSettings, clock: Clock) -> None:
        self.kind, self.store = kind, KindStore()
        self._api, self._settings, self._clock = api, settings, clock
        self._version = ""
        self._position = ""
        """Resource version from which a watch can go on; "" when only a list can help."""
        self._listed_at = 0.0
        self._failures = 0
        self._stream: EventStream | None = None

    def run(self, stop: threading.Event) -> None:
        """Follow the kind until `stop` is set. The outermost frame of its thread: a mistake of ours does not end it."""
        while not stop.is_set():
            try:
                pause_seconds = self.step(stop)
            except Exception as mistake:
                pause_seconds = self._pause_after_mistake(mistake)
            stop.wait(pause_seconds)

    def step(self, stop: threading.Event) -> float:
        """List if it is time, then watch once. Returns the seconds to pause before the next step."""
        try:
            self._list_when_due()
            return self._watch(stop)
        except (SourceError, CredentialsProblem) as problem:
            if stop.is_set():
                return 0.0
            self._failures += 1
            return self._pause_after(problem)

    def interrupt(self) -> None:
        """End the watch that is open, from another thread."""
        stream = self._stream
        if stream is not None:
            stream.interrupt()

    def _list_when_due(self) -> None:
        asked_at = self._clock()
        if self._position and 0 <= asked_at - self._listed_at < self._settings.relist_seconds:
            return
        self._version = served_version(self._api, self.kind)
        listing = read_list(self._api, self.kind, self._version, self._settings.page_size)
        self.store.replace(listing, asked_at)
        self._position, self._listed_at = listing.resource_version, asked_at

    def _watch(self, stop: threading.Event) -> float:
        opened_at = self._clock()
        stream = self._api.watch(
            self.kind.path(self._version), self._position, self._settings.watch_seconds, self.kind.query
        )
        self._stream = stream
        if stop.is_set():
            stream.interrupt()
        self.store.confirm(self._clock())
        for event in stream:
            if event.kind == "BOOKMARK":
                self.store.confirm(self._clock())
            else:
                self.store.take(self.kind, event, self._clock())
            self._position = event.resource_version or self._position
            self._failures = 0
        self.store.confirm(self._clock())
        self._failures = 0
        # A server that ends each watch at once must not be asked in a circle.
        return 0.0 if self._clock() - opened_at > _SHORTEST_WATCH_SECONDS else _SHORTEST_WATCH_SECONDS

    def _pause_after_mistake(self, mistake: Exception) -> float:
        """What is known grows old, and is listed anew: half an event may have been taken."""
        self._failures += 1
        self._position = ""
        self.store.fail(f"failed unexpectedly: {type(mistake).__name__}: {mistake}")
        return self._settings.longest_pause_seconds

    def _pause_after(self, problem: SourceError | CredentialsProblem) -> float:
        lasting = self._failures >= _FAILURES_UNTIL_LIST
        if lasting or isinstance(problem, Gone):
            self._position = ""
        absent = isinstance(problem, NotFound) and self.kind.may_be_absent
        if absent and (lasting or self.store.state().confirmed_at is None):
            self.store.unserve()
            return self._settings.unserved_seconds
        if lasting or not isinstance(problem, Gone):  # a version that is gone is everyday life, and a list away
            self.store.fail(str(problem))
        if isinstance(problem, Throttled) and problem.retry_after_seconds is not None:
            return min(problem.retry_after_seconds, self._settings.unserved_seconds)
        growing = self._settings.first_pause_seconds * 2.0 ** min(self._failures - 1, 10)
        # Jitter keeps the threads of all kinds from coming back together; chance is no secret here.
        return min(growing, self._settings.longest_pause_seconds) * (0.75 + 0.5 * random.random())


class ClusterWatch:
    """Threads that keep one picture of a cluster. `start`, then `picture` as often as wanted, then `stop`."""

    def __init__(
        self,
        api: ObjectReader,
        settings: WatchSettings | None = None,
        clock: Clock = time.time,
        kinds: tuple[Kind, ...] = KINDS,
    ) -> None:
        self._clock = clock
        self._followers = [KindFollower(api, kind, settings or WatchSettings(), clock) for kind in kinds]
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self._started_at = clock()

    def start(self) -> None:
        """Begin to list and watch. Once."""
        self._started_at = self._clock()
        for follower in self._followers:
            thread = threading.Thread(
                target=follower.run, args=(self._stop,), name=f"watch-{follower.kind.name}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def wait_ready(self, timeout_seconds: float) -> bool:
        """Wait until each kind was read or it is known why not. False when that took longer."""
        deadline = time.monotonic() + timeout_seconds
        return all(follower.store.settled.wait(max(0.0, deadline - time.monotonic())) for follower in self._followers)

    def picture(self, now: float) -> Picture:
        """The picture as it is known at `now` (same clock as the one given). Never waits for the network."""
        states = {follower.kind.name: follower.store.state() for follower in self._followers}
        return picture_of(states, now, since=self._started_at)

    def stop(self, within_seconds: float = 2.0) -> bool:
        """End the threads. False when one still waits for an answer: as a daemon it does not keep the process."""
        self._stop.set()
        for follower in self._followers:
            follower.interrupt()
        deadline = time.monotonic() + within_seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)
