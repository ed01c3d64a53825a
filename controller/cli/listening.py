"""The --listen option of the long-lived programs. Apart from the other options, since it loads a web server."""

from __future__ import annotations

from collector.exporter.http import Address, ListenError
from controller.api.errors import InputError, Mistake
from controller.api.yaml_text import printable


def listen_address(text: str) -> Address:
    """host:port of --listen. Raises InputError."""
    try:
        return Address.parse(text)
    except ValueError as error:
        expected = "host:port, such as 127.0.0.1:9108 or :9108"
        raise InputError((Mistake("--listen", printable(text), expected),)) from error


def not_free(text: str, error: ListenError) -> InputError:
    """The mistake of an address that nobody can listen on."""
    return InputError((Mistake("--listen", printable(text), f"an address that is free: {error}"),))
