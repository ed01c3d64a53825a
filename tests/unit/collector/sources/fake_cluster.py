"""A fake of a connection to an API server, in memory: what it answers is put in beforehand, what was asked is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from collector.sources.errors import NotFound, SourceError
from collector.sources.kubernetes_port import Decode, JsonObject, Page, Query, WatchEvent

Moment = WatchEvent | SourceError | float
"""In a watch: an event, a failure, or seconds that pass."""


class FakeClock:
    """A clock that goes only when told."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class FakeStream:
    """An open watch that plays its moments and ends."""

    def __init__(self, moments: list[Moment], clock: FakeClock) -> None:
        self._moments, self._clock = moments, clock
        self.interrupted = False

    def __iter__(self) -> Iterator[WatchEvent]:
        for moment in self._moments:
            if isinstance(moment, SourceError):
                raise moment
            if isinstance(moment, float):
                self._clock.now += moment
            else:
                yield moment

    def interrupt(self) -> None:
        self.interrupted = True


class FakeReader:
    """Lists by path; answers to `watch` in order, the last for ever."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.lists: dict[str, list[Any] | SourceError] = {}
        self.objects: dict[str, JsonObject] = {}
        self.watches: deque[list[Moment] | SourceError] = deque()
        self.asked: list[str] = []
        self.queries: dict[str, Query | None] = {}
        """Path → what its list was asked for besides."""

    def get(self, path: str, query: Query | None = None) -> JsonObject:
        self.asked.append(f"get {path}")
        if path not in self.objects:
            raise NotFound("GET", path, "not here", status=404)
        return self.objects[path]

    def list_pages(
        self, path: str, limit: int = 500, query: Query | None = None, decode: Decode | None = None
    ) -> Iterator[Page]:
        self.asked.append(f"list {path}")
        self.queries[path] = query
        found = self.lists.get(path, NotFound("GET", path, "not here", status=404))
        if isinstance(found, SourceError):
            raise found
        yield Page(found[:1], "100")
        yield Page(found[1:], "100")

    def watch(self, path: str, resource_version: str, timeout_seconds: int, query: Query | None = None) -> FakeStream:
        self.asked.append(f"watch {path} from {resource_version}")
        answer: list[Moment] | SourceError = [30.0]
        if self.watches:
            answer = self.watches.popleft() if len(self.watches) > 1 else self.watches[0]
        if isinstance(answer, SourceError):
            raise answer
        return FakeStream(answer, self.clock)


def pod(uid: str, gpus: object = 1, version: str = "1") -> JsonObject:
    """A pod of one container that asks for `gpus`."""
    container = {"resources": {"requests": {"nvidia.com/gpu": gpus}}}
    metadata = {
        "name": f"pod-{uid}",
        "namespace": "a",
        "uid": uid,
        "creationTimestamp": "2026-03-01T12:00:00Z",
        "resourceVersion": version,
    }
    return {"metadata": metadata, "spec": {"containers": [container]}, "status": {}}
