"""Addresses that people give as options. Judges their text; asks nobody."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from controller.api.errors import InputError, Mistake
from controller.api.shown_values import told

_PLAIN: Final = re.compile(r"[!-~]+")
"""Neither blanks nor letters that only look like those of an address."""


def http_address(option: str, text: str) -> str:
    """The text itself. Raises InputError when it is no http or https address."""
    try:
        parts = urlsplit(text)
        usable = (
            parts.scheme in ("http", "https") and bool(_PLAIN.fullmatch(text) and parts.hostname) and parts.port != 0
        )
    except ValueError:
        usable = False
    if not usable:
        raise InputError((Mistake(option, told(text), "an address such as http://prometheus:9090"),))
    return text
