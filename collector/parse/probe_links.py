"""Links and what is usual for them as JSON values: what nodes tell, and what a node keeps over restarts. Pure.

Whatever is not as it must be is left out, and said how much: a node of another version costs its own links alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from collector.model.probing import Link, LinkQuantity, LinkState, Operation, Quantity
from collector.model.reading import Known, Reading, Unknown

_NUMBERS: Final = ("latest", "lasting", "usual", "spread")
_DIGITS: Final = 4


def links_document(states: Iterable[LinkState]) -> list[dict[str, Any]]:
    """One object for each link."""
    return [
        {
            "source": state.link.source,
            "destination": state.link.destination,
            "at": round(state.at, 3),
            "fault": state.fault,
            "quantities": [_quantity_document(*item) for item in state.quantities.items()],
        }
        for state in states
    ]


def _quantity_document(quantity: Quantity, told: LinkQuantity) -> dict[str, Any]:
    operation, quantile = quantity
    return {
        "operation": operation.value,
        "path": operation.path,
        "quantile": quantile,
        **{f"{name}_seconds": _number(getattr(told, name)) for name in _NUMBERS},
        "probes": told.probes,
    }


def read_links(document: object) -> tuple[tuple[LinkState, ...], int]:
    """The links of a document, and how many of it could not be read."""
    if not isinstance(document, list):
        return (), 1
    read = [_link(entry) for entry in document]
    good = tuple(one for one in read if one is not None)
    return good, len(read) - len(good)


def _link(entry: object) -> LinkState | None:
    match entry:
        case {
            "source": str(source),
            "destination": str(destination),
            "at": told_at,
            "fault": str(fault),
            "quantities": list(quantities),
        }:
            at = _finite(told_at)
            found = dict(filter(None, map(_quantity, quantities)))
            if at is None or len(found) != len(quantities):
                return None
            return LinkState(Link(source, destination), at, fault, found)
    return None


def _quantity(entry: object) -> tuple[Quantity, LinkQuantity] | None:
    match entry:
        case {"operation": str(operation), "quantile": int() | float() as quantile, "probes": int(probes), **rest}:
            if operation not in set(Operation) or not 0 < quantile < 1:
                return None
            latest, lasting, usual, spread = (_reading(rest.get(f"{name}_seconds")) for name in _NUMBERS)
            return (Operation(operation), quantile), LinkQuantity(latest, lasting, usual, spread, probes)
    return None


def past_document(values: Mapping[Quantity, Iterable[float]]) -> dict[str, list[float]]:
    """The past of one link, rounded to what a probe can tell."""
    return {
        f"{operation}:{quantile:g}": [_rounded(value) for value in past]
        for (operation, quantile), past in values.items()
    }


def read_past(document: object) -> Mapping[Quantity, tuple[float, ...]]:
    """What `past_document` wrote; what is not so is left out."""
    found: dict[Quantity, tuple[float, ...]] = {}
    for name, past in document.items() if isinstance(document, dict) else ():
        operation, _, quantile = str(name).partition(":")
        values = [_finite(value) for value in past] if isinstance(past, list) else []
        good = tuple(value for value in values if value is not None and value > 0)
        if operation in set(Operation) and quantile in ("0.5", "0.99") and good:
            found[Operation(operation), float(quantile)] = good
    return found


def _number(reading: Reading[float]) -> float | None:
    return _rounded(reading.value) if isinstance(reading, Known) else None


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _reading(value: object) -> Reading[float]:
    number = _finite(value)
    return Unknown("the node does not know it") if number is None else Known(number)


def _finite(value: object) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good and isinstance(value, int | float) else None
