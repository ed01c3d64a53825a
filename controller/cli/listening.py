"""The --listen option of the long-lived programs. Apart from the other options, since it loads a web server."""

from __future__ import annotations

from collector.exporter.http import Address
from controller.api.errors import InputError, Mistake


def listen_address(text: str) -> Address:
    """host:port of --listen. Raises InputError."""
    try:
        return Address.parse(text)
    except ValueError as error:
        raise InputError((Mistake("--listen", repr(text), "host:port, such as 127.0.0.1:9108 or :9108"),)) from error
