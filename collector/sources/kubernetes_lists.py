"""One look at a cluster by lists alone, page by page: each page is projected and dropped. Keeps no state."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from collector.model.objects import Picture
from collector.parse.json_fields import ParseProblem, as_object
from collector.parse.kubernetes import uid_of
from collector.sources.errors import Forbidden, Malformed, NotFound, SourceError, Throttled, TimedOut, Unreachable
from collector.sources.kubernetes_kinds import KINDS, Kind, KindState, picture_of
from collector.sources.kubernetes_port import ObjectReader

_OF_THE_WHOLE_SERVER: Final = (Unreachable, TimedOut, Throttled)
"""Another kind would be answered no better, and no sooner."""


@dataclass(frozen=True, slots=True)
class Projected:
    """One object: its uid and projection, or why there is none. Both None: it does not matter to us."""

    uid: str
    projection: object | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All objects of a kind as of `resource_version`."""

    objects: dict[str, Any]
    malformed: dict[str, str]
    resource_version: str


def project(kind: Kind, raw: object) -> Projected:
    """One object of `kind`; never raises, whatever `raw` is."""
    uid = ""
    try:
        uid = uid_of(raw)
        return Projected(uid, kind.project(as_object(raw)))
    except ParseProblem as problem:
        return Projected(uid, None, f"{_name_of(raw)}: {problem}")


def served_version(api: ObjectReader, kind: Kind) -> str:
    """The version to read. Raises NotFound when the cluster lacks the group, Malformed when we know none of its."""
    if len(kind.versions) == 1 and kind.always_served:
        return kind.versions[0]
    path = f"/apis/{kind.group}"
    versions = api.get(path).get("versions")
    served = [entry.get("version") for entry in versions or () if isinstance(entry, dict)]
    for version in kind.versions:
        if version in served:
            return version
    raise Malformed("GET", path, f"serves {served}, expected one of {list(kind.versions)}")


def read_list(api: ObjectReader, kind: Kind, version: str, page_size: int) -> Listing:
    """List all objects of a kind. Raises SourceError."""
    objects: dict[str, Any] = {}
    malformed: dict[str, str] = {}
    resource_version = ""
    with _garbage_collector_resting():
        for page in api.list_pages(kind.path(version), page_size, kind.query, kind.decode_list):
            resource_version = page.resource_version
            for raw in page.items:
                found = project(kind, raw)
                if found.problem is not None:
                    malformed[found.uid] = found.problem
                elif found.projection is not None:
                    objects[found.uid] = found.projection
    return Listing(objects, malformed, resource_version)


def look_once(api: ObjectReader, now: float, page_size: int = 500) -> Picture:
    """A picture from lists, for a command that looks once. A kind that cannot be read stands in `unreadable`.

    Raises SourceError when nothing at all could be read, CredentialsProblem when there is nobody to ask as.
    """
    states: dict[str, KindState] = {}
    first_problem: SourceError | None = None
    for kind in KINDS:
        try:
            listing = read_list(api, kind, served_version(api, kind), page_size)
            states[kind.name] = KindState(listing.objects, listing.malformed, confirmed_at=now)
        except SourceError as problem:
            if isinstance(problem, NotFound) and kind.may_be_absent:
                states[kind.name] = KindState(served=False)
                continue
            first_problem = first_problem or problem
            states[kind.name] = KindState(problem=str(problem), forbidden=isinstance(problem, Forbidden))
            if isinstance(problem, _OF_THE_WHOLE_SERVER) and not _was_read(states):
                raise
    if first_problem is not None and not _was_read(states):
        raise first_problem
    return picture_of(states, now, since=now)


@contextmanager
def _garbage_collector_resting() -> Iterator[None]:
    """No search for cycles while a list is read: a page is a hundred thousand short-lived objects without a cycle, and
    to walk them again and again takes longer than to make them. With several threads the first to end wakes it up.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _was_read(states: Mapping[str, KindState]) -> bool:
    return any(state.confirmed_at is not None for state in states.values())


def _name_of(raw: object) -> str:
    metadata = raw.get("metadata") if isinstance(raw, dict) else None
    if not isinstance(metadata, dict):
        return "an object without metadata"
    return "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key))
