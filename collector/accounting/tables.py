"""The tables of the history, and how an older schema becomes this one. Names and types only: opens nothing.

Times are epoch milliseconds (`_ms`), so that SQLite and PostgreSQL keep them alike and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from sqlalchemy import BigInteger, Boolean, Column, Connection, Float, Index, Integer, MetaData, String, Table, Text

METADATA: Final = MetaData()

VERSION_TABLE: Final = Table("trimtab_schema", METADATA, Column("version", Integer, primary_key=True))

TRANSITIONS: Final = Table(
    "trimtab_transitions",
    METADATA,
    Column("cluster", String, primary_key=True),
    Column("uid", String, primary_key=True),
    Column("step", BigInteger, primary_key=True, autoincrement=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("state", String, nullable=False),
    Column("key", String, nullable=False),
    Column("namespace", String, nullable=False),
    Column("name", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("tenant", String, nullable=False),
    Column("tier", String, nullable=False),
    Column("pool", String, nullable=False),
    Column("queue", String, nullable=False),
    Column("gpus", BigInteger, nullable=False),
    Column("pods", BigInteger, nullable=False),
    Column("priority", BigInteger, nullable=False),
    Column("evictions", BigInteger, nullable=False),
    Column("evicted_by", String, nullable=False),
    Column("why", String, nullable=False),
    Column("waited_seconds", Float, nullable=False),
    Column("waited_is_lower_bound", Boolean, nullable=False),
    Column("seen_before_ms", BigInteger),
    Column("unseen", Integer, nullable=False),
    Index("trimtab_transitions_at", "cluster", "at_ms"),
    Index("trimtab_transitions_tenant", "cluster", "tenant", "at_ms"),
)

STANDINGS: Final = Table(
    "trimtab_standings",
    METADATA,
    Column("cluster", String, primary_key=True),
    Column("uid", String, primary_key=True),
    Column("step", BigInteger),
    Column("clock", Text),
)

LOOKS: Final = Table(
    "trimtab_looks",
    METADATA,
    Column("cluster", String, primary_key=True),
    Column("begin_ms", BigInteger, primary_key=True, autoincrement=False),
    Column("until_ms", BigInteger, nullable=False),
)

CAPACITIES: Final = Table(
    "trimtab_capacities",
    METADATA,
    Column("cluster", String, primary_key=True),
    Column("pool", String, primary_key=True),
    Column("at_ms", BigInteger, primary_key=True, autoincrement=False),
    Column("gpus", BigInteger, nullable=False),
)

POLICY: Final = Table(
    "trimtab_policy_steps",
    METADATA,
    Column("cluster", String, primary_key=True),
    Column("change", String, primary_key=True),
    Column("stage", String, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("policy", String, nullable=False),
    Column("tenant", String, nullable=False),
    Column("pool", String, nullable=False),
    Column("source", String, nullable=False),
    Column("destination", String, nullable=False),
    Column("gpus", BigInteger, nullable=False),
    Column("verdict", String, nullable=False),
    Column("reason", Text, nullable=False),
)

Migration: TypeAlias = Callable[[Connection], None]


def first(connection: Connection) -> None:
    """Version 1: all tables."""
    METADATA.create_all(connection)


MIGRATIONS: Final[Sequence[Migration]] = (first,)
"""The step to version n is the n-th. A step that was released is never edited: later ones alter what it made."""
