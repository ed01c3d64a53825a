"""Numbers and moments out of the cells of a table. Narrower than Python's: what nobody would take for one is none."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import isfinite, nan

# No digits of other scripts, no underscores, no more digits than a count of GPUs has.
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|nan|inf", re.IGNORECASE)
_WHOLE = re.compile(r"[-+]?[0-9]{1,9}(\.0+)?")
NO_TIME = "a time that is no time"


def number_of(text: str) -> float:
    """The number that a text is, maybe an infinite one; NaN for none."""
    return float(text) if _NUMBER.fullmatch(text) else nan


def whole_of(text: str) -> int | None:
    """The whole number of at most nine digits that a text is; None for none."""
    return int(float(text)) if _WHOLE.fullmatch(text) else None


def seconds_of(text: str, unit_seconds: float = 1.0) -> float | str:
    """A moment: a number of units, or any ISO form, without time zone as if it were UTC. Else the reason why not."""
    number = number_of(text) * unit_seconds
    if isfinite(number):
        return number
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        return NO_TIME
