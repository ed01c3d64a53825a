"""Values as a message shows them: on one line, short, and with nothing that could steer a terminal. Pure, and light:
every program loads it, also those that read no document.
"""

from __future__ import annotations

import json
from typing import Any


def printable(text: str) -> str:
    """`text` with escapes for what no terminal or file should be given: control signs, half characters."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def shortened(text: str, limit: int = 60) -> str:
    """`text` on one line, printable, cut to `limit` characters."""
    line = printable(" ".join(text[: 4 * limit].split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def told(value: Any) -> str:
    """A value that was read, as a message shows it: on one line, cut short, "nothing" for none."""
    if value is None or value == "":
        return "nothing"
    return shortened(value if isinstance(value, str) else json.dumps(value, default=str))
