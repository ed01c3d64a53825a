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
_QUANTITY: Final = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]{0,2})")
_DURATION: Final = re.compile(r"(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?")
_DURATION_SECONDS: Final = (604800.0, 86400.0, 3600.0, 60.0, 1.0, 0.001)


def parse_quantity(text: str | int | float) -> Decimal:
    """A Kubernetes quantity ("8", "500m", "16Gi") as a number. Raises ValueError that names the text."""
    match = _QUANTITY.fullmatch(str(text).strip())
    try:
        if match is None:
            raise InvalidOperation
        return Decimal(match.group(1)) * _SUFFIXES[match.group(2)]
    except (InvalidOperation, KeyError):
        raise ValueError(f"{text!r} is not a Kubernetes quantity such as 8, 500m or 16Gi") from None


def whole_gpus(text: str | int | float) -> int:
    """A quantity of whole devices. Raises ValueError when it is not a whole, non-negative number."""
    value = parse_quantity(text)
    if value != value.to_integral_value() or value < 0:
        raise ValueError(f"{text!r} is not a whole number of GPUs")
    return int(value)


def parse_duration(text: str) -> float:
    """ "90s", "15m", "1h30m", "28d", "500ms" in seconds. Raises ValueError that names the text."""
    stripped = str(text).strip()
    match = _DURATION.fullmatch(stripped)
    if not stripped or match is None:
        raise ValueError(f"{text!r} is not a duration such as 90s, 15m, 1h30m or 28d")
    return sum(int(part) * unit for part, unit in zip(match.groups(), _DURATION_SECONDS, strict=True) if part)


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
    except ValueError:
        raise ValueError(f"{text!r} is not an RFC 3339 time") from None


def format_time(epoch_seconds: float) -> str:
    """Epoch seconds as RFC 3339 in UTC, whole seconds."""
    return datetime.fromtimestamp(epoch_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def counted(number: int, one: str, many: str = "") -> str:
    """The number with its noun: "1 GPU", "2 GPUs"; `many` where an s does not make the plural."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
