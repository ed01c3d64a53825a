"""The history in a database: written by one collector, read by anybody. SQLite in a file, or PostgreSQL.

A batch is one transaction: after a crash at any moment the database is as after some look, and the next start goes on
from there. Writing a batch twice changes nothing. Raises StoreProblem and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Select,
    Table,
    and_,
    create_engine,
    delete,
    event,
    exists,
    func,
    insert,
    inspect,
    or_,
    select,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from collector.accounting import codec
from collector.accounting.address import shown
from collector.accounting.errors import StoreProblem
from collector.accounting.schema.rows import ENDS, Batch, Capacity, Look, Memory, PolicyStep, Transition
from collector.accounting.tables import (
    CAPACITIES,
    LOOKS,
    MIGRATIONS,
    POLICY,
    STANDINGS,
    TRANSITIONS,
    VERSION_TABLE,
    Migration,
)

BUSY_SECONDS: Final = 5
"""So long it waits for a lock of another program, and for a connection."""
_PER_STATEMENT: Final = 10_000
_MIGRATION_LOCK: Final = 7_421_934_071
_SESSION: Final = "-c statement_timeout=60000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=60000"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows: of one cluster (None: all), one tenant, and from `begin` until before `end` (epoch seconds)."""

    cluster: str | None = None
    tenant: str | None = None
    begin: float | None = None
    end: float | None = None
    uid: str | None = None
    key: str | None = None
    namespace: str | None = None
    name: str | None = None


class Store:
    """One database. `begin_writing` or `begin_reading` first; usable from several threads."""

    def __init__(self, url: URL, migrations: Sequence[Migration] = MIGRATIONS) -> None:
        self.place, self._url, self._migrations = shown(url), url, migrations
        self._settings = ["synchronous=NORMAL"]
        self._engine = self._made(url)

    def begin_writing(self) -> None:
        """Make the tables, or bring those of an older version to this one, in one transaction."""
        if "journal_mode=WAL" not in self._settings:  # readers do not hold up the writer
            self._settings.append("journal_mode=WAL")
        with self._transaction() as connection:
            if self._engine.dialect.name == "postgresql":  # of two that start at once, one makes the tables
                connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
            version = _version(connection)
            self._refuse_newer(version)
            for number, migration in enumerate(self._migrations[version:], version + 1):
                migration(connection)
                connection.execute(delete(VERSION_TABLE))
                connection.execute(insert(VERSION_TABLE), {"version": number})

    def begin_reading(self) -> None:
        """See that there is a history that this version can read; changes nothing."""
        if self._engine.dialect.name == "sqlite" and not Path(str(self._url.database)).is_file():
            raise StoreProblem.at(self.place, "there is no such file")
        with self._transaction() as connection:
            version = _version(connection)
        if version == 0:
            raise StoreProblem.at(self.place, "holds no history of Trimtab")
        self._refuse_newer(version)
        if version < len(self._migrations):
            told = f"has schema version {version}, this program needs {len(self._migrations)}"
            raise StoreProblem.at(self.place, f"{told}: start the collector of this version on it first")

    def write(self, batch: Batch) -> None:
        """All of it, or nothing."""
        with self._transaction() as connection:
            self._upsert(connection, TRANSITIONS, codec.transition_records(batch.rows))
            kept = {uid: standing for uid, standing in batch.standings.items() if standing is not None}
            cluster = batch.looks[-1].cluster if batch.looks else ""
            self._upsert(connection, STANDINGS, codec.standing_records(cluster, kept), ("step", "clock"))
            dropped = [{"of": cluster, "dropped": uid} for uid in batch.standings if uid not in kept]
            for part in _parts(dropped):
                connection.execute(codec.DROP_STANDING, part)
            self._upsert(connection, LOOKS, codec.look_records(batch.looks), ("until_ms",), longest=True)
            self._upsert(connection, CAPACITIES, codec.capacity_records(batch.capacities))
            self._upsert(connection, POLICY, codec.policy_records(batch.policy), ("verdict", "reason", "gpus"))

    def memory(self, cluster: str) -> Memory:
        """What to go on from: as the last batch that was written left it."""
        joined = and_(
            TRANSITIONS.c.cluster == STANDINGS.c.cluster,
            TRANSITIONS.c.uid == STANDINGS.c.uid,
            TRANSITIONS.c.step == STANDINGS.c.step,
        )
        standings = (
            select(STANDINGS.c.uid.label("standing_uid"), STANDINGS.c.clock, TRANSITIONS)
            .select_from(STANDINGS.outerjoin(TRANSITIONS, joined))
            .where(STANDINGS.c.cluster == cluster)
        )
        look = select(LOOKS).where(LOOKS.c.cluster == cluster).order_by(LOOKS.c.begin_ms.desc()).limit(1)
        own = CAPACITIES.c.cluster == cluster
        capacities = select(CAPACITIES).where(own).order_by(CAPACITIES.c.at_ms)
        return codec.memory_of(self._all(standings), self._all(look), self._all(capacities))

    def transitions(self, wanted: Wanted) -> Iterator[Transition]:
        """Rows in order of time."""
        query = select(TRANSITIONS).where(_matching(TRANSITIONS, wanted))
        order = (TRANSITIONS.c.at_ms, TRANSITIONS.c.cluster, TRANSITIONS.c.uid, TRANSITIONS.c.step)
        for record in self._stream(query.order_by(*order)):
            yield codec.transition_of(record)

    def standing_at(self, cluster: str, moment: float) -> tuple[Transition, ...]:
        """The last row before `moment` of each workload that had not ended by then."""
        later = TRANSITIONS.alias()
        same = and_(later.c.cluster == TRANSITIONS.c.cluster, later.c.uid == TRANSITIONS.c.uid)
        before = codec.milliseconds(moment)
        next_one = exists().where(same, later.c.step > TRANSITIONS.c.step, later.c.at_ms < before)
        query = select(TRANSITIONS).where(
            TRANSITIONS.c.cluster == cluster,
            TRANSITIONS.c.at_ms < before,
            TRANSITIONS.c.state.not_in([state.value for state in ENDS]),
            ~next_one,
        )
        return tuple(codec.transition_of(record) for record in self._all(query))

    def policy_steps(self, wanted: Wanted) -> tuple[PolicyStep, ...]:
        """Changes of the policy in order of time."""
        query = select(POLICY).where(_matching(POLICY, wanted)).order_by(POLICY.c.at_ms, POLICY.c.change)
        return tuple(codec.policy_step_of(record) for record in self._all(query))

    def looks(self, cluster: str, begin: float, end: float) -> tuple[Look, ...]:
        """The spans that touch the window."""
        touches = and_(
            LOOKS.c.cluster == cluster,
            LOOKS.c.until_ms >= codec.milliseconds(begin),
            LOOKS.c.begin_ms <= codec.milliseconds(end),
        )
        return tuple(codec.look_of(record) for record in self._all(select(LOOKS).where(touches)))

    def capacities(self, cluster: str, end: float) -> tuple[Capacity, ...]:
        """All sizes of all pools up to `end`, the oldest first."""
        own = and_(CAPACITIES.c.cluster == cluster, CAPACITIES.c.at_ms < codec.milliseconds(end))
        query = select(CAPACITIES).where(own).order_by(CAPACITIES.c.at_ms)
        return tuple(codec.capacity_of(record) for record in self._all(query))

    def clusters(self) -> tuple[str, ...]:
        """Those of which there is any look, by name."""
        return tuple(record["cluster"] for record in self._all(select(LOOKS.c.cluster).distinct().order_by("cluster")))

    def prune(self, before: float) -> int:
        """Forget what was over before that moment; how many rows. What was still so then stays, however old it is."""
        cutoff = codec.milliseconds(before)
        later = TRANSITIONS.alias()
        same = and_(later.c.cluster == TRANSITIONS.c.cluster, later.c.uid == TRANSITIONS.c.uid)
        superseded = exists().where(same, later.c.step > TRANSITIONS.c.step, later.c.at_ms < cutoff)
        kept = exists().where(STANDINGS.c.cluster == TRANSITIONS.c.cluster, STANDINGS.c.uid == TRANSITIONS.c.uid)
        over = and_(TRANSITIONS.c.state.in_([state.value for state in ENDS]), ~kept)
        younger = CAPACITIES.alias()
        same_pool = and_(younger.c.cluster == CAPACITIES.c.cluster, younger.c.pool == CAPACITIES.c.pool)
        replaced = exists().where(same_pool, younger.c.at_ms > CAPACITIES.c.at_ms, younger.c.at_ms < cutoff)
        with self._transaction() as connection:
            gone = connection.execute(
                delete(TRANSITIONS).where(TRANSITIONS.c.at_ms < cutoff, or_(superseded, over))
            ).rowcount
            connection.execute(delete(LOOKS).where(LOOKS.c.until_ms < cutoff))
            connection.execute(delete(CAPACITIES).where(CAPACITIES.c.at_ms < cutoff, replaced))
            gone += connection.execute(delete(POLICY).where(POLICY.c.at_ms < cutoff)).rowcount
        return gone

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _made(self, url: URL) -> Engine:
        if url.drivername == "sqlite":
            engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
            event.listen(engine, "connect", self._prepare_sqlite)
            event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
            return engine
        bounds = {"connect_timeout": BUSY_SECONDS, "tcp_user_timeout": 15_000, "options": _SESSION}
        return create_engine(url, pool_pre_ping=True, connect_args=bounds)

    def _prepare_sqlite(self, connection: Any, _: object) -> None:
        """What is lost with the power is derived again from the objects; what is lost with the process is nothing.

        The driver's own transactions would leave out tables that are made or altered; ours begin where they should.
        """
        connection.isolation_level = None
        cursor = connection.cursor()
        for setting in self._settings:
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    def _upsert(
        self,
        connection: Connection,
        table: Table,
        records: Sequence[Mapping[str, Any]],
        updated: Sequence[str] = (),
        longest: bool = False,
    ) -> None:
        """Insert; a row whose key is there already stays as it is, but for the columns in `updated`."""
        keys = [column.name for column in table.primary_key]
        on_postgresql = self._engine.dialect.name == "postgresql"
        statement = postgresql.insert(table) if on_postgresql else sqlite.insert(table)
        if not updated:
            done: Any = statement.on_conflict_do_nothing(index_elements=keys)
        else:
            values: dict[str, Any] = {name: statement.excluded[name] for name in updated}
            if longest:
                greater = func.greatest if on_postgresql else func.max
                values = {name: greater(table.c[name], statement.excluded[name]) for name in updated}
            done = statement.on_conflict_do_update(index_elements=keys, set_=values)
        for part in _parts(records):
            connection.execute(done, part)

    def _all(self, query: Select[Any]) -> list[Mapping[str, Any]]:
        with self._transaction() as connection:
            return [dict(record) for record in connection.execute(query).mappings()]

    def _stream(self, query: Select[Any]) -> Iterator[Mapping[str, Any]]:
        with self._transaction() as connection:
            for record in connection.execution_options(yield_per=_PER_STATEMENT).execute(query).mappings():
                yield dict(record)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise StoreProblem.at(self.place, _in_words(error)) from error

    def _refuse_newer(self, version: int) -> None:
        if version > len(self._migrations):
            told = f"has schema version {version}, this program knows {len(self._migrations)}"
            raise StoreProblem.at(self.place, f"{told}: a newer Trimtab wrote it")


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table(VERSION_TABLE.name):
        return 0
    return int(connection.execute(select(func.max(VERSION_TABLE.c.version))).scalar() or 0)


def _matching(table: Table, wanted: Wanted) -> ColumnElement[bool]:
    conditions: list[ColumnElement[bool]] = [true()]
    for name in ("cluster", "tenant", "uid", "key", "namespace", "name"):
        value = getattr(wanted, name)
        if value is not None:
            conditions.append(table.c[name] == value)
    if wanted.begin is not None:
        conditions.append(table.c.at_ms >= codec.milliseconds(wanted.begin))
    if wanted.end is not None:
        conditions.append(table.c.at_ms < codec.milliseconds(wanted.end))
    return and_(*conditions)


def _parts(records: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    for first in range(0, len(records), _PER_STATEMENT):
        yield records[first : first + _PER_STATEMENT]


def _in_words(error: SQLAlchemyError) -> str:
    """The first line of what the database says, without the statement."""
    cause = getattr(error, "orig", None) or error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return lines[0] if lines else type(cause).__name__
