"""Rows of the history as records of the database, and back. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Delete, bindparam, delete

from collector.accounting.schema.clock_text import clock_text, read_clock
from collector.accounting.schema.rows import (
    Capacity,
    Look,
    Memory,
    PolicyStep,
    Standing,
    State,
    Transition,
)
from collector.accounting.tables import STANDINGS
from collector.assemble.clocks import Clock

Record = dict[str, Any]

DROP_STANDING: Final[Delete] = delete(STANDINGS).where(
    STANDINGS.c.cluster == bindparam("of"), STANDINGS.c.uid == bindparam("dropped")
)

_LARGEST: Final = 2**62

_PLAIN: Final = (
    "cluster",
    "uid",
    "step",
    "key",
    "namespace",
    "name",
    "kind",
    "tenant",
    "tier",
    "pool",
    "queue",
    "gpus",
    "pods",
    "priority",
    "evictions",
    "evicted_by",
    "why",
    "waited_seconds",
    "waited_is_lower_bound",
    "unseen",
)
_PLAIN_VALUES: Final = attrgetter(*_PLAIN)


def milliseconds(seconds: float) -> int:
    """Epoch seconds as whole milliseconds."""
    return round(seconds * 1000)


def storable(value: Any) -> Any:
    """The value as every database takes it: people may write a text or a number that none can hold."""
    if isinstance(value, str):
        if value.isascii() and "\0" not in value:
            return value
        return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return min(max(value, -_LARGEST), _LARGEST) if isinstance(value, int) and abs(value) > _LARGEST else value


def transition_records(rows: Iterable[Transition]) -> list[Record]:
    """Records of table trimtab_transitions."""
    records: list[Record] = []
    for row in rows:
        record = dict(zip(_PLAIN, map(storable, _PLAIN_VALUES(row)), strict=True))
        record["at_ms"], record["state"] = milliseconds(row.at), row.state.value
        record["seen_before_ms"] = None if row.seen_before is None else milliseconds(row.seen_before)
        records.append(record)
    return records


def transition_of(record: Mapping[str, Any]) -> Transition:
    """A row out of a record."""
    before = record["seen_before_ms"]
    return Transition(
        **{name: record[name] for name in _PLAIN},
        at=record["at_ms"] / 1000,
        state=State(record["state"]),
        seen_before=None if before is None else before / 1000,
    )


def standing_records(cluster: str, standings: Mapping[str, Standing]) -> list[Record]:
    """Records of table trimtab_standings."""
    return [
        {
            "cluster": cluster,
            "uid": uid,
            "step": None if standing.last is None else standing.last.step,
            "clock": None if standing.clock is None else clock_text(standing.clock),
        }
        for uid, standing in standings.items()
    ]


def look_records(looks: Iterable[Look]) -> list[Record]:
    """Records of table trimtab_looks."""
    return [
        {"cluster": one.cluster, "begin_ms": milliseconds(one.begin), "until_ms": milliseconds(one.until)}
        for one in looks
    ]


def look_of(record: Mapping[str, Any]) -> Look:
    """A span out of a record."""
    return Look(record["cluster"], record["begin_ms"] / 1000, record["until_ms"] / 1000)


def capacity_records(capacities: Iterable[Capacity]) -> list[Record]:
    """Records of table trimtab_capacities."""
    return [
        {"cluster": one.cluster, "pool": one.pool, "at_ms": milliseconds(one.at), "gpus": storable(one.gpus)}
        for one in capacities
    ]


def capacity_of(record: Mapping[str, Any]) -> Capacity:
    """A size out of a record."""
    return Capacity(record["cluster"], record["pool"], record["at_ms"] / 1000, record["gpus"])


def policy_records(steps: Iterable[PolicyStep]) -> list[Record]:
    """Records of table trimtab_policy_steps."""
    names = [field.name for field in fields(PolicyStep) if field.name != "at"]
    return [{name: storable(getattr(one, name)) for name in names} | {"at_ms": milliseconds(one.at)} for one in steps]


def policy_step_of(record: Mapping[str, Any]) -> PolicyStep:
    """A step out of a record."""
    values = {name: value for name, value in record.items() if name != "at_ms"}
    return PolicyStep(**values, at=record["at_ms"] / 1000)


def memory_of(
    standings: Iterable[Mapping[str, Any]], looks: Iterable[Mapping[str, Any]], capacities: Iterable[Mapping[str, Any]]
) -> Memory:
    """The memory that the records of one cluster tell. A clock that can not be read is as one that was lost."""
    found: dict[str, Standing] = {}
    for record in standings:
        last = None if record["step"] is None else transition_of(record)
        found[record["standing_uid"]] = Standing(last, _clock_of(record["clock"]))
    return Memory(
        MappingProxyType(found),
        next((look_of(record) for record in looks), None),
        MappingProxyType({record["pool"]: record["gpus"] for record in capacities}),
    )


def _clock_of(text: str | None) -> Clock | None:
    try:
        return None if text is None else read_clock(text)
    except ValueError:
        return None
