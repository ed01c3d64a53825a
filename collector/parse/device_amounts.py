"""Amounts of extended resources that need not be whole: shares of queues, and what shared GPUs use of them. Pure."""

from __future__ import annotations

from typing import Final

from collector.model.quantities import parse_quantity
from collector.parse.extended_resources import is_extended
from collector.parse.json_fields import JsonObject, ParseProblem

_MOST_DEVICES: Final = 10**15
"""Beyond this a number is a mistake."""


def device_amounts(quantities: JsonObject, path: str) -> dict[str, float]:
    """Only the extended resources of a resource list, in devices ("1500m" is 1.5). Raises ParseProblem."""
    return {name: _amount(value, f"{path}.{name}") for name, value in quantities.items() if is_extended(name)}


def _amount(quantity: object, path: str) -> float:
    if isinstance(quantity, str | int | float) and not isinstance(quantity, bool):
        try:
            amount = parse_quantity(quantity)
            if 0 <= amount <= _MOST_DEVICES:
                return float(amount)
        except (ValueError, ArithmeticError):
            pass
    raise ParseProblem(path, quantity, "an amount of devices")
