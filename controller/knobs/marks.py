"""Marks: the annotations in which an own object says which changes are in force on it. Pure.

They are written in the same apply as the level itself, so they are the authority on what is in force: a change that the
ledger lost is adopted from them, and a mark that is gone means that a person has ended the change.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collector.model.quantities import format_time, parse_time
from controller.policy.change import Change, Forecast, Stage, Verdict
from controller.policy.targets import moved

CHANGES_ANNOTATION = "trimtab.io/changes"
MANAGED_BY = {"app.kubernetes.io/managed-by": "trimtab"}
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,199}")
"""What every id of a change looks like; the ledger could not keep another one."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One change as an object tells it. `gpus` is what it added to (given) or took from (taken) this object."""

    object_name: str
    id: str
    tenant: str
    pool: str
    source: str
    destination: str
    gpus: int
    expires_at: float


def marks_of(object_name: str, annotations: Mapping[str, str]) -> tuple[Mark, ...]:
    """The marks of an object; text that is no mark of ours is skipped, since people may edit annotations."""
    try:
        raw = json.loads(annotations.get(CHANGES_ANNOTATION, "[]"))
    except ValueError:
        return ()
    marks = (_mark(object_name, item) for item in (raw if isinstance(raw, list) else ()))
    return tuple(mark for mark in marks if mark is not None)


def _mark(object_name: str, item: Mapping[str, str | int]) -> Mark | None:
    try:
        return _read_mark(object_name, item)
    except (ValueError, TypeError, KeyError):
        return None


def _read_mark(object_name: str, item: Mapping[str, str | int]) -> Mark:
    expires_at = parse_time(str(item["expiresAt"]))
    if expires_at is None or int(item["gpus"]) < 0 or not _ID.fullmatch(str(item["id"])):
        raise ValueError("a mark without end, of less than nothing, or with an id that is none of ours")
    return Mark(
        object_name=object_name,
        id=str(item["id"]),
        tenant=str(item["tenant"]),
        pool=str(item["pool"]),
        source=str(item["from"]),
        destination=str(item["to"]),
        gpus=int(item["gpus"]),
        expires_at=expires_at,
    )


def annotations_for(object_name: str, changes: Iterable[Change]) -> dict[str, str]:
    """The annotations to write on an own object together with its levels: one mark per change that moves its level."""
    items = [
        {
            "id": change.id,
            "tenant": change.tenant,
            "pool": change.pool,
            "from": change.source,
            "to": change.destination,
            "gpus": gpus,
            "expiresAt": format_time(change.expires_at),
        }
        for change in sorted(changes, key=lambda change: change.id)
        if (gpus := moved(change, object_name))
    ]
    return {CHANGES_ANNOTATION: json.dumps(items, sort_keys=True, separators=(",", ":"))} if items else {}


def adopted(known: Iterable[Change], marked: Iterable[Mark], now: float) -> tuple[Change, ...]:
    """Changes that objects are marked with and the ledger does not know: it was lost. They keep their end, unjudged."""
    ids = {change.id for change in known}
    parts: dict[str, list[Mark]] = defaultdict(list)
    for mark in marked:
        if mark.id not in ids:
            parts[mark.id].append(mark)
    return tuple(_unjudged(parts[identifier], now) for identifier in sorted(parts))


def _unjudged(marks: list[Mark], now: float) -> Change:
    first = marks[0]
    taken = max((mark.gpus for mark in marks if mark.object_name == mark.source), default=0)
    given = max((mark.gpus for mark in marks if mark.object_name == mark.destination), default=0)
    change = Change(
        id=first.id,
        policy="",
        tenant=first.tenant,
        pool=first.pool,
        source=first.source,
        destination=first.destination,
        amount=given,
        reason="Adopted from the marks on the objects, since the ledger does not know it.",
        finding="",
        forecast=Forecast((), now),
        created_at=now,
        expires_at=first.expires_at,
        stage=Stage.KEPT,
        taken=max(taken, given),
        given=given,
        taken_written=taken,
        given_written=given,
        applied_at=now,
        verdict=Verdict.CANNOT_TELL,
        verdict_reason="its forecast was lost with the ledger",
    )
    return change if given == taken else change.returning(now, "the ledger was lost before it was complete")
