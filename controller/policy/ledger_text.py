"""The ledger as JSON text, one document per change, and back. Pure.

The text survives versions: fields that are missing take their default, fields that are unknown are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from controller.policy.change import Change, Forecast, Stage, Verdict, WorkRef

SCHEMA_VERSION = 1


def change_document(change: Change) -> dict[str, Any]:
    """The change as plain JSON values, with what undoes it in words."""
    return {"schema_version": SCHEMA_VERSION, **asdict(change), "inverse": change.inverse}


def change_text(change: Change) -> str:
    """The change as one line of JSON, always the same for the same change."""
    return json.dumps(change_document(change), sort_keys=True, separators=(",", ":"))


def read_change(text: str) -> Change:
    """The change of such a text. Raises ValueError that says what is wrong with it."""
    try:
        raw = json.loads(text)
        known = {field.name for field in fields(Change)}
        values = {name: value for name, value in raw.items() if name in known}
        values["stage"] = Stage(values["stage"])
        values["verdict"] = Verdict(values["verdict"]) if values.get("verdict") else None
        values["seen_ready"] = tuple(values.get("seen_ready", ()))
        values["forecast"] = _forecast(values["forecast"])
        return Change(**values)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"not a change of the ledger: {error}") from None


def _forecast(raw: Mapping[str, Any]) -> Forecast:
    return Forecast(
        ready=tuple(WorkRef(**item) for item in raw["ready"]),
        ready_by=raw["ready_by"],
        evicted=tuple(WorkRef(**item) for item in raw.get("evicted", ())),
        lost_gpu_hours=raw.get("lost_gpu_hours", 0.0),
    )
