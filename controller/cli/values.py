"""What the values of options must be: each kind in one place, judged before any verb begins.

Each function takes the name of the option and gives its parser, which raises InputError in the words of `Mistake`.
Judges text; asks nobody.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from collector.model.quantities import parse_duration
from controller.api.errors import InputError, Mistake
from controller.api.object_names import is_label_name, is_object_name
from controller.api.shown_values import told
from controller.cli.addresses import http_address

HIGHEST_TIME_SCALE: Final = 3600.0
"""An hour in a second: beyond that a tick takes longer than what it measures."""

_NAMESPACE: Final = "the name of a namespace: at most 63 of a-z, 0-9 and -, with a letter or digit at both ends"
_CLUSTER_NAME: Final = "the name of a cluster: at most 253 of a-z, 0-9, - and single dots, such as east-1"
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,12}(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?")


def path_for(option: str) -> Callable[[str], Path]:
    """A file or folder by name. An empty name is none: it would mean the current folder."""

    def path(text: str) -> Path:
        if not text.strip() or "\0" in text:
            raise _mistake(option, text, "the name of a file or folder")
        return Path(text)

    return path


def words_for(option: str, expected: str) -> Callable[[str], str]:
    """Any text with something in it."""

    def text(words: str) -> str:
        if not words.strip():
            raise _mistake(option, words, expected)
        return words

    return text


def namespace_for(option: str) -> Callable[[str], str]:
    """The name of a namespace: it becomes part of addresses of the API server."""

    def name(text: str) -> str:
        if not is_label_name(text):
            raise _mistake(option, text, _NAMESPACE)
        return text

    return name


def cluster_for(option: str) -> Callable[[str], str]:
    """The name of a cluster, as its metrics carry it: it becomes part of queries and rules."""

    def name(text: str) -> str:
        if not is_object_name(text):
            raise _mistake(option, text, _CLUSTER_NAME)
        return text

    return name


def address_for(option: str) -> Callable[[str], str]:
    """An http or https address."""

    def url(text: str) -> str:
        return http_address(option, text)

    return url


def time_scale_for(option: str, most: float = HIGHEST_TIME_SCALE) -> Callable[[str | float], float]:
    """How many times faster than the clock; never slower, and always a number."""

    def number(text: str | float) -> float:  # the default comes as a number
        value = float(text) if _NUMBER.fullmatch(str(text)) else math.nan
        if not 1 <= value <= most:
            raise _mistake(option, str(text), f"a number from 1 to {most:g}")
        return value

    return number


def duration_for(option: str, least_seconds: float, most_seconds: float, expected: str) -> Callable[[str], float]:
    """A length of time in seconds, within bounds; `expected` says them."""

    def time(text: str) -> float:
        try:
            seconds = parse_duration(text)
        except ValueError:
            seconds = math.nan
        if not least_seconds <= seconds <= most_seconds:
            raise _mistake(option, text, expected)
        return seconds

    return time


def _mistake(option: str, value: str, expected: str) -> InputError:
    return InputError((Mistake(option, told(value), expected),))
