"""What daemons of Ceph answer to an administrator → which OSDs operations of others wait for. Pure.

An operation names all replicas that it waits for, and of those that answered only how many; so one that answers nobody
is found among all operations together: it stands in each that hangs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_WAITING: Final = re.compile(r"waiting for subops from ([0-9,]+)")
_ANSWERED: Final = "sub_op_commit_rec"
AWAITED_FOR_SECONDS: Final = 2.0
"""An operation that waits for less is on its way."""


@dataclass(frozen=True, slots=True)
class HangingOperation:
    """An operation in flight at its primary."""

    age_seconds: float
    candidates: frozenset[str]
    """OSDs it waits for, of which some may have answered."""
    unanswered: int


def hanging_operations(answer: object) -> tuple[HangingOperation, ...]:
    """Those that wait for replicas in the answer to `dump_ops_in_flight`; what is not understood is left out."""
    found = (_operation(one) for one in _list(_dict(answer).get("ops")))
    return tuple(one for one in found if one is not None and one.age_seconds >= AWAITED_FOR_SECONDS)


def awaited(operations: Sequence[HangingOperation]) -> Mapping[str, float]:
    """OSD → operations that wait for it. Of an operation that may wait for either of two nobody is accused.

    The OSD that stands in most operations takes them, the next takes those that are left, and so on.
    """
    left, found = list(operations), dict[str, float]()
    while left:
        counts = Counter(name for one in left for name in one.candidates)
        (first, most), *rest = [*counts.most_common(2), ("", 0)]
        surely = any(one.unanswered >= len(one.candidates) and first in one.candidates for one in left)
        if rest[0][1] == most and not surely:
            break
        found[first] = float(most)
        left = [one for one in left if first not in one.candidates]
    return found


def raised_flags(answer: object) -> frozenset[str]:
    """Flags in the answer to `osd dump`."""
    return frozenset(str(flag) for flag in _list(_dict(answer).get("flags_set")))


def stops_clients(flags: Iterable[str]) -> bool:
    """Whether a flag keeps clients from reading or writing."""
    return not {"pauserd", "pausewr", "full"}.isdisjoint(flags)


def write_limit(options: Iterable[Mapping[str, Any]]) -> float | None:
    """Operations a second that librbd lets through to an image, by its options; None: as many as come."""
    limits = [
        float(option["value"])
        for option in options
        if option.get("name") in ("rbd_qos_iops_limit", "rbd_qos_write_iops_limit")
    ]
    return min((limit for limit in limits if limit > 0), default=None)


def _operation(raw: object) -> HangingOperation | None:
    operation = _dict(raw)
    events = [str(_dict(event).get("event", "")) for event in _list(_dict(operation.get("type_data")).get("events"))]
    waits = [match for event in events if (match := _WAITING.fullmatch(event))]
    age = operation.get("age")
    if not waits or not isinstance(age, int | float):
        return None
    candidates = frozenset(f"osd.{number}" for number in waits[-1][1].split(",") if number)
    unanswered = len(candidates) - sum(event.startswith(_ANSWERED) for event in events)
    return HangingOperation(float(age), candidates, unanswered) if unanswered > 0 else None


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
