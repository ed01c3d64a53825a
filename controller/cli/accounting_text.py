"""Rows of the history as cells for people and as plain values for scripts. Pure."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from collector.accounting.schema.rows import PolicyStep, Transition
from collector.model.quantities import format_duration, format_time


def row_record(row: Transition | PolicyStep) -> dict[str, Any]:
    """A row as plain values with times in RFC 3339, to the millisecond."""
    values = {one.name: getattr(row, one.name) for one in fields(row)}
    values["at"] = _moment(row.at)
    if isinstance(row, Transition):
        values["state"] = row.state.value
        values["seen_before"] = None if row.seen_before is None else _moment(row.seen_before)
    return values


def transition_cells(row: Transition) -> tuple[str, ...]:
    """A row for people: when, state, GPUs, wait, tenant, name, and what is not sure about it."""
    waited = ("≥ " if row.waited_is_lower_bound else "") + format_duration(row.waited_seconds)
    return format_time(row.at), row.state.value, str(row.gpus), waited, row.tenant, row.title, remarks(row)


def remarks(row: Transition) -> str:
    """Who evicted it and why; between which moments it was, when nobody saw it."""
    said = []
    if row.evicted_by or row.why:
        said.append(" ".join(part for part in (f"by {row.evicted_by}" if row.evicted_by else "", row.why) if part))
    if row.seen_before is not None:
        said.append(f"at some time after {format_time(row.seen_before)}")
    if row.unseen:
        said.append(
            "a change before it was not seen" if row.unseen == 1 else f"{row.unseen} changes before it were not seen"
        )
    return "; ".join(said)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
