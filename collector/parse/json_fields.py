"""Typed access to fields of decoded JSON. Pure: says which field is wrong, never guesses, never converts silently.

An absent field and a null are the same thing, as in the Kubernetes API. A field of the wrong type is a
ParseProblem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from collector.model.quantities import parse_time

JsonObject: TypeAlias = Mapping[str, Any]

_NOTHING: Final[JsonObject] = {}
_SHOWN_CHARACTERS: Final = 80


class ParseProblem(ValueError):
    """A field that is not what it must be: `path` in the object, the `value` found, what was `expected`."""

    def __init__(self, path: str, value: object, expected: str) -> None:
        self.path = path
        self.value = value
        self.expected = expected
        shown = repr(value)
        if len(shown) > _SHOWN_CHARACTERS:
            shown = shown[:_SHOWN_CHARACTERS] + "…"
        super().__init__(f"{path or 'object'}: expected {expected}, found {shown}")


def as_object(value: object, path: str = "") -> JsonObject:
    """`value` itself when it is a JSON object. Raises ParseProblem."""
    if not isinstance(value, dict):
        raise ParseProblem(path, value, "an object")
    return value


def parts(raw: JsonObject) -> tuple[JsonObject, JsonObject, JsonObject]:
    """`metadata`, `spec` and `status` of a Kubernetes object. Raises ParseProblem."""
    found = as_object(raw)
    return section(found, "metadata"), section(found, "spec"), section(found, "status")


def section(raw: JsonObject, key: str, path: str = "") -> JsonObject:
    """The object at `key`; empty when absent. `path` is where `raw` stands. Raises ParseProblem."""
    value = raw.get(key)
    if value is None:
        return _NOTHING
    return as_object(value, _join(path, key))


def items(raw: JsonObject, key: str, path: str = "") -> Iterator[JsonObject]:
    """The objects in the list at `key`; none when absent. Raises ParseProblem."""
    value = raw.get(key)
    if value is None:
        return
    if not isinstance(value, list):
        raise ParseProblem(_join(path, key), value, "a list")
    for index, entry in enumerate(value):
        if not isinstance(entry, dict):
            raise ParseProblem(f"{_join(path, key)}[{index}]", entry, "an object")
        yield entry


def text(raw: JsonObject, key: str, path: str = "") -> str:
    """The text at `key`, which must be there and not be empty. Raises ParseProblem."""
    value = raw.get(key)
    if not isinstance(value, str) or not value:
        raise ParseProblem(_join(path, key), value, "text")
    return value


def word(raw: JsonObject, key: str, path: str = "", default: str | None = None) -> str:
    """Like `text`, for values that many objects share (namespace, phase): kept once in memory."""
    value = raw.get(key)
    if value is None and default is not None:
        return default
    return _kept_once(text(raw, key, path))


def optional_word(raw: JsonObject, key: str, path: str = "") -> str | None:
    """The shared text at `key`; None when absent or empty. Raises ParseProblem."""
    value = raw.get(key)
    if value is None or value == "":
        return None
    return _kept_once(text(raw, key, path))


def whole(raw: JsonObject, key: str, path: str = "", default: int = 0) -> int:
    """The whole number at `key`; `default` when absent. Raises ParseProblem."""
    value = raw.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise ParseProblem(_join(path, key), value, "a whole number")
    return value


def flag(raw: JsonObject, key: str, path: str = "", default: bool = False) -> bool:
    """The boolean at `key`; `default` when absent. Raises ParseProblem."""
    value = raw.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise ParseProblem(_join(path, key), value, "true or false")
    return value


def text_map(raw: JsonObject, key: str, path: str = "") -> dict[str, str]:
    """The map of texts at `key` (labels, annotations); empty when absent. Raises ParseProblem."""
    entries: dict[str, str] = {}
    for name, value in section(raw, key, path).items():
        if not isinstance(value, str):
            raise ParseProblem(f"{_join(path, key)}.{name}", value, "text")
        entries[_kept_once(name)] = value
    return entries


def optional_time(raw: JsonObject, key: str, path: str = "") -> float | None:
    """The RFC 3339 time at `key` in epoch seconds; None when absent. Raises ParseProblem."""
    value = raw.get(key)
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return parse_time(value)
    except (ValueError, OverflowError):
        pass
    raise ParseProblem(_join(path, key), value, "an RFC 3339 time")


def required_time(raw: JsonObject, key: str, path: str = "") -> float:
    """The time at `key`, which must be there, in epoch seconds. Raises ParseProblem."""
    value = optional_time(raw, key, path)
    if value is None:
        raise ParseProblem(_join(path, key), None, "an RFC 3339 time")
    return value


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


@lru_cache(maxsize=16384)
def _kept_once(value: str) -> str:
    """The same text object each time: tens of thousands of pods share a few namespaces, nodes and phases."""
    return value
