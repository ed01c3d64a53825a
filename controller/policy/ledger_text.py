"""The ledger as JSON text, one document per change, and back. Pure.

The text survives versions: fields that are missing take their default, fields that are unknown are left out. People and
other programs can write to where it is kept, so it is read as strictly as any document.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from typing import Any

from pydantic import TypeAdapter, ValidationError

from controller.policy.change import Change

SCHEMA_VERSION = 1

_CHANGE = TypeAdapter(Change)


def change_document(change: Change) -> dict[str, Any]:
    """The change as plain JSON values, with what undoes it in words."""
    return {"schema_version": SCHEMA_VERSION, **asdict(change), "inverse": change.inverse}


def change_text(change: Change) -> str:
    """The change as one line of JSON, always the same for the same change."""
    return json.dumps(change_document(change), sort_keys=True, separators=(",", ":"))


def read_change(text: str) -> Change:
    """The change of such a text. Raises ValueError that says what is wrong with it."""
    try:
        change = _CHANGE.validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "text"
        raise ValueError(f"not a change of the ledger: {place}: {first['msg']}") from None
    if not 0 <= change.given <= change.taken or min(change.amount, change.taken_written, change.given_written) < 0:
        moved = f"amount {change.amount}, {change.taken} taken, {change.given} given"
        raise ValueError(f"not a change of the ledger: {moved}")
    if not all(isfinite(moment) for moment in (change.created_at, change.expires_at, change.forecast.ready_by)):
        raise ValueError("not a change of the ledger: it has no end")
    return change
