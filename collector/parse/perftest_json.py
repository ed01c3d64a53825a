"""What perftest's --out_json writes, also the versions whose output is no JSON. Pure: no I/O.

Old versions leave out quotes and keep commas before braces, so the text is read as what it nearly is: names, colons and
plain values inside braces. Only `test_info` and `results` matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

TRUNCATED: Final = "truncated result"

_START: Final = re.compile(r"\s*\{\s*[\"']?(?:test_info|results)\b")
_RESULTS: Final = re.compile(r"[\"']?\bresults[\"']?\s*:\s*(?=[\[{])")
_OBJECT: Final = re.compile(r"\{([^{}]*)(\})?")
_FIELD: Final = re.compile(
    r"(?<![A-Za-z0-9_.])[\"']?([A-Za-z][A-Za-z0-9_.]*)[\"']?\s*:\s*(?:\"([^\"]*)\"|([^\s,{}\[\]\"]+))"
)
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:[eE][+-]?[0-9]{1,2})?")
_TEST: Final = ("test", "Test", "test_type")
_DEVICE: Final = ("Device", "device")
_UNIT: Final = ("BW_unit", "bw_unit", "report_fmt")


@dataclass(frozen=True, slots=True)
class JsonResults:
    """The result rows of a document: name → number as text."""

    rows: Sequence[Mapping[str, str]]
    test: str = ""
    device: str = ""
    bandwidth_unit: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)


def looks_like_json(text: str) -> bool:
    """Whether it begins as such a document does, valid or not."""
    return _START.match(text) is not None


def json_results(text: str) -> JsonResults:
    """Everything found. A row that ends before its brace is counted as truncated."""
    rows: list[dict[str, str]] = []
    dropped = Counter[str]()
    info: dict[str, str] = {}
    position = 0
    for start in _RESULTS.finditer(text):
        info.update(_fields(text[position : start.start()]))
        position = _read_rows(text, start.end(), rows, dropped)
    info.update(_fields(text[position:]) if not rows else {})
    return JsonResults(rows, _first(info, _TEST), _first(info, _DEVICE), _first(info, _UNIT), dict(dropped))


def _read_rows(text: str, position: int, rows: list[dict[str, str]], dropped: Counter[str]) -> int:
    """The object, or all objects of the list, that stand at `position`; where they end."""
    several = text[position] == "["
    position += several
    while (match := _OBJECT.match(text, position)) is not None:
        position = match.end()
        if match[2] is None:
            dropped[TRUNCATED] += 1
            break
        numbers = {name: value for name, value in _fields(match[1]).items() if _NUMBER.fullmatch(value)}
        rows.append(numbers)
        after = re.compile(r"\s*,?\s*").match(text, position)
        if not several or after is None:
            break
        position = after.end()
    return position


def _fields(text: str) -> dict[str, str]:
    return {match[1]: match[2] if match[2] is not None else match[3] for match in _FIELD.finditer(text)}


def _first(info: Mapping[str, str], keys: Sequence[str]) -> str:
    return next((info[key] for key in keys if info.get(key)), "")
