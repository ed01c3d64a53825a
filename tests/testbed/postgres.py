"""A PostgreSQL server as Debian packages it, with one database. It refuses to run as root, so root runs it as another.

Its data stand in a temporary folder of that user's own, since the folders of tests are closed to others; they survive a
restart of the server, and go when the part is stopped.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import psycopg

from controller.demo.processes import Service
from tests.testbed.parts import POSTGRESQL
from tests.testbed.place import Place

USER = "trimtab"
PASSWORD = "testbed: no secret"
_SETTINGS = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=20")
_INITDB_SECONDS = 60


class Postgres:
    """One server; `url(name)` makes a database of that name and says where it is."""

    name = "postgres"

    def __init__(self, place: Place) -> None:
        self._place = place
        self.service = place.service("postgres", self._argv, self._serves)

    @property
    def services(self) -> Sequence[Service]:
        """Its one program."""
        return (self.service,)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows."""
        return {"url": self._address("postgres")}

    def url(self, database: str) -> str:
        """The address of a database, made empty if it is not there; with the password."""
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,)).fetchone()
            if known is None:
                connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(database)))
        return self._address(database)

    def start(self) -> None:
        """Makes its data if there are none yet, and starts it."""
        for binary in POSTGRESQL.binaries:
            POSTGRESQL.binary(binary)
        if not (self._data / "PG_VERSION").exists() and not self.service.is_running():
            self._make_data()
        self.service.start()

    def stop(self) -> None:
        """Stops it, whoever is connected, and takes its data away."""
        running = self.service.identity
        if running is not None:
            running.signal_group(signal.SIGINT)
        self.service.stop()
        if self._written.exists():
            shutil.rmtree(self._data, ignore_errors=True)
            self._written.unlink()
            del self._data

    @property
    def _written(self) -> Path:
        """Names the folder of the data, for a later testbed on the same folder."""
        return self._place.folder / "data.path"

    @cached_property
    def _data(self) -> Path:
        if self._written.exists():
            return Path(self._written.read_text())
        folder = Path(tempfile.mkdtemp(prefix="trimtab-postgres-"))
        self._place.write("data.path", str(folder))
        return folder

    def _make_data(self) -> None:
        password = self._data / "password"
        password.write_text(PASSWORD)
        if os.geteuid() == 0:
            user = _unprivileged()
            for path in (self._data, password):
                os.chown(path, user.pw_uid, user.pw_gid)
        passed = Path(shutil.move(password, self._data.with_suffix(".password")))
        options = [f"--username={USER}", f"--pwfile={passed}", "--auth=scram-sha-256", "--no-sync"]
        options += ["--no-locale", "--encoding=UTF8", f"--pgdata={self._data}"]
        command = [*_as_unprivileged(), str(POSTGRESQL.binary("initdb")), *options]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_INITDB_SECONDS, cwd=self._data)
        finally:
            passed.unlink()

    def _argv(self) -> Sequence[str]:
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        port = str(self._place.port("postgres"))
        return [
            *_as_unprivileged(),
            str(POSTGRESQL.binary("postgres")),
            "-D",
            str(self._data),
            "-p",
            port,
            *settings,
        ]

    def _serves(self) -> bool:
        try:
            psycopg.connect(self._address("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _address(self, database: str) -> str:
        password = PASSWORD.replace(" ", "%20").replace(":", "%3A")
        return f"postgresql://{USER}:{password}@{self._place.address('postgres')}/{database}"


def _unprivileged() -> pwd.struct_passwd:
    """Debian's package makes a user for it; nobody else needs one."""
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _as_unprivileged() -> list[str]:
    """What a command line begins with so that root does not run it; the tie to its parent outlives the change."""
    if os.geteuid() != 0:
        return []
    user = _unprivileged()
    ids = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}")
    return ["setpriv", *ids, "--clear-groups", "--pdeathsig=keep", "--"]
