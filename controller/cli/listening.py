"""The --listen option of the long-lived programs. Apart from the other options, since it loads a web server."""

from __future__ import annotations

from collector.exporter.http import Address, ListenError, check_free
from controller.api.errors import InputError, Mistake
from controller.api.shown_values import told


def listen_address(text: str) -> Address:
    """host:port of --listen, free at this moment: a program finds that out before it starts. Raises InputError."""
    try:
        address = Address.parse(text)
    except ValueError:
        raise InputError((Mistake("--listen", told(text), "host:port, such as 127.0.0.1:9108 or :9108"),)) from None
    try:
        check_free(address)
    except ListenError as error:
        raise not_free(text, error) from error
    return address


def not_free(text: str, error: ListenError) -> InputError:
    """The error for an address of --listen that can not be listened on."""
    return InputError((Mistake("--listen", told(text), f"an address to listen on: {error}"),))
