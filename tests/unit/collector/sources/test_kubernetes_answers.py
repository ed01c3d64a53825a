"""Refusals of an API server as errors."""

from __future__ import annotations

import orjson
import pytest
from urllib3 import HTTPConnectionPool
from urllib3.exceptions import NewConnectionError, ProtocolError, ReadTimeoutError

from collector.sources import errors
from collector.sources.kubernetes_answers import error_from_answer, error_from_failure, error_from_status


def answered(status: int, body: bytes = b"{}", secret: str | None = None, **headers: str) -> errors.SourceError:
    return error_from_answer("GET", "/api/v1/pods", status, headers, body, secret)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, errors.Malformed),
        (400, errors.Invalid),
        (401, errors.Forbidden),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (410, errors.Gone),
        (415, errors.Invalid),
        (422, errors.Invalid),
        (429, errors.Throttled),
        (500, errors.Unreachable),
        (503, errors.Unreachable),
        (504, errors.TimedOut),
    ],
)
def test_a_status_has_its_error(status: int, kind: type[errors.SourceError]) -> None:
    error = answered(status)
    assert type(error) is kind
    assert (error.method, error.path, error.status) == ("GET", "/api/v1/pods", status)


def test_an_error_reads_as_a_sentence() -> None:
    body = orjson.dumps({"kind": "Status", "reason": "Forbidden", "message": "pods is forbidden"})
    error = answered(403, body)
    error.attempts = 4
    assert str(error) == "GET /api/v1/pods: 403 Forbidden: pods is forbidden (tried 4 times)"


@pytest.mark.parametrize(("header", "seconds"), [("12", 12.0), ("", None), ("tomorrow", None)])
def test_a_busy_server_says_when_to_come_back(header: str, seconds: float | None) -> None:
    error = error_from_answer("GET", "/p", 429, {"Retry-After": header}, b"{}", None)
    assert isinstance(error, errors.Throttled)
    assert error.retry_after_seconds == seconds


def test_a_page_of_a_proxy_is_not_repeated() -> None:
    assert "secret" not in str(answered(502, b"<html>secret</html>"))


def test_a_token_never_reaches_a_message() -> None:
    body = orjson.dumps({"message": "bad header Bearer abc123"})
    assert str(answered(400, body, secret="Bearer abc123")).endswith("bad header [redacted]")


def test_a_long_message_is_cut() -> None:
    assert len(str(answered(422, orjson.dumps({"message": "x" * 10_000})))) < 500


def test_an_error_event_of_a_watch_has_its_error() -> None:
    assert isinstance(error_from_status("WATCH", "/p", {"code": 410, "message": "too old"}), errors.Gone)
    assert isinstance(error_from_status("WATCH", "/p", {}), errors.Malformed)


def test_failures_of_the_exchange_name_the_server() -> None:
    pool = HTTPConnectionPool("h")
    refused = error_from_failure("GET", "/p", NewConnectionError(pool, "connection refused"), "https://s")  # type: ignore[arg-type]  # only its text is used
    assert isinstance(refused, errors.Unreachable)
    assert str(refused) == "GET /p: https://s: connection refused"
    late = error_from_failure("GET", "/p", ReadTimeoutError(pool, "/p", "timed out"), "https://s")
    assert isinstance(late, errors.TimedOut)
    assert isinstance(error_from_failure("GET", "/p", ProtocolError("cut"), "https://s"), errors.Unreachable)


def test_what_a_server_says_steers_no_terminal() -> None:
    error = answered(500, rb'{"kind": "Status", "message": "\u001b[2Jgone\nGPUs: all free"}')
    assert str(error) == "GET /api/v1/pods: 500:  [2Jgone GPUs: all free"
