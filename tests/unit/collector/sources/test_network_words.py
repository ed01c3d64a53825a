"""Failures of the network in words that a person reads."""

from __future__ import annotations

import socket
import ssl
from http.client import BadStatusLine, IncompleteRead, RemoteDisconnected

import pytest
import requests
from urllib3.connection import HTTPConnection
from urllib3.exceptions import MaxRetryError, NameResolutionError, NewConnectionError, ProtocolError, SSLError

from collector.sources.evidence import EvidenceLimits, read_evidence
from collector.sources.network_words import network_words, shown_address
from collector.sources.prometheus import Prometheus
from collector.sources.scrape import ScrapeFailed, Scraper
from controller.demo.processes import free_port
from tests.builders import site_of

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
        (ProtocolError("Connection aborted.", BadStatusLine("\x1b[31m\xfe")), "an answer that is no HTTP"),
        (
            ProtocolError("Connection aborted.", RemoteDisconnected("Remote end closed connection without response")),
            "Remote end closed connection without response",
        ),
        (
            ProtocolError("Connection broken: IncompleteRead(5 bytes read)", IncompleteRead(b"a: 1\n", 95)),
            "the connection broke before the answer was complete",
        ),
    ],
)
def test_no_number_and_no_object_of_a_library_is_told(failure: Exception, words: str) -> None:
    assert network_words(failure) == words


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://ops:secret@prometheus:9090/prefix?x=1", "http://prometheus:9090/prefix?x=1"),
        ("https://ops:se@cret@[::1]:9090", "https://[::1]:9090"),
        ("http://prometheus/a@b", "http://prometheus/a@b"),
        ("http://[broken", "http://[broken"),
        ("", ""),
    ],
)
def test_a_password_in_an_address_is_never_shown(url: str, shown: str) -> None:
    assert shown_address(url) == shown


def test_a_source_that_fails_is_named_without_its_password() -> None:
    nobody = f"127.0.0.1:{free_port()}"
    failed = Scraper().scrape(f"http://ops:secret@{nobody}/metrics")
    assert isinstance(failed, ScrapeFailed)
    assert failed.sentence == f"http://{nobody}/metrics: Connection refused"
    blind = read_evidence(Prometheus(f"http://ops:secret@{nobody}/"), site_of(), 0.0, EvidenceLimits()).blind
    assert blind[0].startswith(f"Prometheus at http://{nobody} can not be asked: ")
    assert "secret" not in blind[0]
