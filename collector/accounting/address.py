"""Where a history is kept: a file (SQLite), or the URL of a PostgreSQL database. Opens nothing."""

from __future__ import annotations

from importlib.util import find_spec

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

FORMS = "a file such as history.db, sqlite:///history.db, or postgresql://user@host/database"


def read_address(text: str) -> URL:
    """The address as SQLAlchemy takes it. Raises ValueError that says what was expected."""
    if not text or text.isspace():
        raise ValueError(FORMS)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
        port_known = url.port is None or 0 < url.port < 65536
    except (ArgumentError, ValueError):
        raise ValueError(FORMS) from None
    backend = url.drivername.partition("+")[0]
    if backend == "sqlite" and url.database and not url.host:
        return url.set(drivername="sqlite")
    if backend in ("postgresql", "postgres") and url.database and port_known:
        if find_spec("psycopg") is None:
            raise ValueError("the extra for PostgreSQL: pipx install --force '.[postgresql]' in the checkout")
        return url.set(drivername="postgresql+psycopg")
    raise ValueError(FORMS)


def shown(url: URL) -> str:
    """The address for people: without a password."""
    if url.drivername == "sqlite":
        return str(url.database)
    return url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
