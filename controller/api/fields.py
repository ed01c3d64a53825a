"""Kinds of field that both documents share: names, durations, limits of latency. Pure.

Each reads text as a person writes it and raises ValueError that says in words what was expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from collector.model.quantities import parse_duration
from controller.api.object_names import is_label_name, is_object_name

_RESOURCE: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_BASELINE: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)x-baseline")
_A_LIMIT: Final = "a duration with its unit from 1us to 1h, such as 50ms, or a factor above 1, such as 3x-baseline"

MOST_GPUS: Final = 1_000_000
"""Nobody has more: a larger number is a slip of the pen."""


_LEAST_LATENCY_SECONDS: Final = 1e-6
_MOST_LATENCY_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Within:
    """A limit of latency: seconds, or a factor over the own baseline; one of the two is set."""

    seconds: float | None = None
    baseline_factor: float | None = None


def _name(text: str) -> str:
    if not is_label_name(text):
        raise ValueError("a DNS label: at most 63 of a-z, 0-9 and -, with a letter or digit first and last")
    return text


def _object_name(text: str) -> str:
    if not is_object_name(text):
        raise ValueError("the name of a Kubernetes object: at most 253 of a-z, 0-9, - and single dots")
    return text


def _resource(text: str) -> str:
    if not _RESOURCE.fullmatch(text):
        raise ValueError("an extended resource such as nvidia.com/gpu")
    return text


def _from_to(least: str, most: str) -> BeforeValidator:
    """Reads a duration between two others, ends included."""
    least_seconds, most_seconds = parse_duration(least), parse_duration(most)
    expected = f"a duration with its unit from {least} to {most}, such as 30s, 15m, 1h30m or 28d"

    def seconds(value: Any) -> float:
        try:
            # To the microsecond, so that one length of time is one number however it was written.
            found = round(parse_duration(value), 6) if isinstance(value, str) else math.nan
        except ValueError:
            found = math.nan
        if not least_seconds <= found <= most_seconds:
            raise ValueError(expected)
        return found

    return BeforeValidator(seconds)


def _within(value: Any) -> Within:
    match = _BASELINE.fullmatch(value) if isinstance(value, str) else None
    if match is not None and float(match.group(1)) > 1:
        return Within(baseline_factor=float(match.group(1)))
    try:
        found = round(parse_duration(value), 6) if isinstance(value, str) else math.nan
    except ValueError:
        found = math.nan
    if not _LEAST_LATENCY_SECONDS <= found <= _MOST_LATENCY_SECONDS:
        raise ValueError(_A_LIMIT)
    return Within(seconds=found)


Name = Annotated[str, AfterValidator(_name)]
ObjectName = Annotated[str, AfterValidator(_object_name)]
Resource = Annotated[str, AfterValidator(_resource)]
Text = Annotated[str, Field(min_length=1)]
Tick = Annotated[float, _from_to("1s", "1h")]
Dwell = Annotated[float, _from_to("1s", "7d")]
Lifetime = Annotated[float, _from_to("1m", "30d")]
Wait = Annotated[float, _from_to("1s", "365d")]
Window = Annotated[float, _from_to("1h", "365d")]
"""What Prometheus keeps for years is in no store that a site would ask."""
WithinLimit = Annotated[Within, PlainValidator(_within)]
Gpus = Annotated[int, Field(ge=0, le=MOST_GPUS)]
Share = Annotated[float, Field(gt=0, lt=1)]


def duration_text(seconds: float) -> str:
    """The shortest text that reads back as `seconds`: "28d", "1h30m", "50ms", "7us".

    Raises ValueError for what a document can not say: zero or less, or finer than a microsecond.
    """
    microseconds = round(seconds * 1_000_000)
    if microseconds <= 0 or not math.isclose(microseconds / 1_000_000, seconds, rel_tol=1e-12):
        raise ValueError(f"{seconds} seconds can not be written as a duration of a document")
    if microseconds % 1000:
        return f"{microseconds}us"
    milliseconds = microseconds // 1000
    if milliseconds % 1000:
        return f"{milliseconds}ms"
    remaining, text = milliseconds // 1000, ""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if remaining >= size:
            text += f"{remaining // size}{unit}"
            remaining %= size
    return text


def with_nearest(word: object, known: Iterable[str]) -> str:
    """The known words, and the one that `word` most resembles: "a, b, c; did you mean b?"."""
    words = list(known)
    listed = ", ".join(words[:12]) + (", …" if len(words) > 12 else "") or "none"
    near = get_close_matches(str(word)[:100], words, n=1, cutoff=0.6) or [
        known_word for known_word in words if known_word.lower() == str(word).lower()
    ]
    return f"{listed}; did you mean {near[0]}?" if near else listed
