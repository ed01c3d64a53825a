"""Text of quantities, durations and times, read and written in one canonical form. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Final

_SUFFIXES: Final = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50,
    "Ei": Decimal(2) ** 60,
}
# An exponent of more digits is no amount of anything, and takes the memory of a machine once it is a whole number.
_QUANTITY: Final = re.compile(r"([+-]?[0-9.]{1,100}(?:[eE][+-]?[0-9]{1,3})?)([A-Za-z]{0,2})")
_LARGEST_QUANTITY: Final = Decimal(2**63)
"""Kubernetes keeps no larger number."""
_UNITS: Final = (
    ("w", 604800.0),
    ("d", 86400.0),
    ("h", 3600.0),
    ("m", 60.0),
    ("s", 1.0),
    ("ms", 0.001),
    ("(?:us|\u00b5s|\u03bcs)", 0.000001),
)
"""Of durations, as people write them; both Greek letters that stand for micro are in use."""
_DURATION: Final = re.compile("".join(f"(?:([0-9]+){unit})?" for unit, _ in _UNITS))


def _shown(text: object) -> str:
    """What was written, quoted if it is text, cut short."""
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def parse_quantity(text: str | int | float) -> Decimal:
    """A Kubernetes quantity ("8", "500m", "16Gi") as a number. Raises ValueError that names the text."""
    match = _QUANTITY.fullmatch(str(text).strip())
    try:
        if match is None:
            raise InvalidOperation
        value = Decimal(match.group(1)) * _SUFFIXES[match.group(2)]
        if abs(value) > _LARGEST_QUANTITY:
            raise InvalidOperation
        return value
    except (ArithmeticError, KeyError):
        raise ValueError(f"{_shown(text)} is not a Kubernetes quantity such as 8, 500m or 16Gi") from None


def whole_gpus(text: str | int | float) -> int:
    """A quantity of whole devices. Raises ValueError when it is not a whole, non-negative number."""
    value = parse_quantity(text)
    if value != value.to_integral_value() or value < 0:
        raise ValueError(f"{_shown(text)} is not a whole number of GPUs")
    return int(value)


def parse_duration(text: str) -> float:
    """ "90s", "15m", "1h30m", "28d", "500ms", "50us" in seconds. Raises ValueError that names the text."""
    stripped = str(text).strip()
    match = _DURATION.fullmatch(stripped)
    if not stripped or match is None:
        raise ValueError(f"{_shown(text)} is not a duration such as 90s, 15m, 1h30m or 28d")
    try:
        return sum(int(part) * unit for part, (_, unit) in zip(match.groups(), _UNITS, strict=True) if part)
    except (ValueError, OverflowError):
        raise ValueError(f"{_shown(text)} is longer than any duration") from None


def format_duration(seconds: float) -> str:
    """A length of time for people, at most two units: "3d 4h", "12m 30s", "45s"."""
    remaining = round(seconds)
    if remaining < 0:
        return "-" + format_duration(-seconds)
    parts: list[str] = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if remaining >= size:
            parts.append(f"{remaining // size}{unit}")
            remaining %= size
        if len(parts) == 2:
            break
    return " ".join(parts) or "0s"


def parse_time(text: str | None) -> float | None:
    """RFC 3339 time as epoch seconds; None for an absent time. Raises ValueError that names the text."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise ValueError(f"{_shown(text)} is not an RFC 3339 time") from None


def format_time(epoch_seconds: float) -> str:
    """Epoch seconds as RFC 3339 in UTC, whole seconds."""
    return datetime.fromtimestamp(epoch_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def counted(number: int, one: str, many: str = "") -> str:
    """The number with its noun: "1 GPU", "2 GPUs"; `many` where an s does not make the plural."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
