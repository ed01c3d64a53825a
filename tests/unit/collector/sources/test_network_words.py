"""Failures of the network in words that a person reads."""

from __future__ import annotations

import socket
import ssl

import pytest
import requests
from urllib3.connection import HTTPConnection
from urllib3.exceptions import MaxRetryError, NameResolutionError, NewConnectionError, ProtocolError, SSLError

from collector.sources.network_words import network_words

THERE = HTTPConnection("prometheus", 9090)
REFUSED = NewConnectionError(THERE, "Failed to establish a new connection: [Errno 111] Connection refused")
UNKNOWN = NameResolutionError("prometheus", THERE, socket.gaierror(-2, "Name or service not known"))
RESET = ProtocolError("Connection aborted.", ConnectionResetError(104, "Connection reset by peer"))
CERTIFICATE = SSLError(
    ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: expired (_ssl.c:992)")
)


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (REFUSED, "Connection refused"),
        (MaxRetryError(THERE, "/", REFUSED), "Connection refused"),  # type: ignore[arg-type]  # a pool in real life
        (requests.ConnectionError(MaxRetryError(THERE, "/", REFUSED)), "Connection refused"),  # type: ignore[arg-type]  # a pool in real life
        (UNKNOWN, "Failed to resolve 'prometheus' (Name or service not known)"),
        (RESET, "Connection reset by peer"),
        (CERTIFICATE, "certificate verify failed: expired"),
        (ProtocolError(), "the connection broke"),
    ],
)
def test_no_number_and_no_object_of_a_library_is_told(failure: Exception, words: str) -> None:
    assert network_words(failure) == words
