"""What the watching half of this room asks of a connection: reads, as raw JSON. No I/O here; tests bring their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
Query: TypeAlias = Mapping[str, str | int]
Decode: TypeAlias = Callable[[bytes], Mapping[str, Any] | None]
"""Decodes a list no further than its reader looks; None when it must be decoded whole."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list. `resource_version` is that of the whole list."""

    items: list[Any]
    resource_version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch: ADDED, MODIFIED, DELETED or BOOKMARK, and the object it speaks of."""

    kind: str
    object: JsonObject

    @property
    def resource_version(self) -> str:
        """From here a later watch can go on; "" when the object does not say."""
        metadata = self.object.get("metadata")
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
        return version if isinstance(version, str) else ""


class EventStream(Protocol):
    """An open watch."""

    def __iter__(self) -> Iterator[WatchEvent]:
        """The events, once. Raises SourceError; a clean end is the server's time limit."""
        ...

    def interrupt(self) -> None:
        """End the watch from another thread: the one that reads gets a SourceError at once."""
        ...


class ObjectReader(Protocol):
    """Reads of an API server. All raise SourceError or CredentialsProblem."""

    def get(self, path: str, query: Query | None = None) -> JsonObject:
        """One object."""
        ...

    def list_pages(
        self, path: str, limit: int = 500, query: Query | None = None, decode: Decode | None = None
    ) -> Iterator[Page]:
        """A list in pages of `limit`, each decoded by `decode`, or whole."""
        ...

    def watch(self, path: str, resource_version: str, timeout_seconds: int, query: Query | None = None) -> EventStream:
        """Events with bookmarks from `resource_version` on."""
        ...
