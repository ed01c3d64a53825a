"""What the API server says when it refuses, turned into the errors of `collector.sources.errors`. No I/O of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from urllib3.exceptions import MaxRetryError, NewConnectionError
from urllib3.exceptions import TimeoutError as HttpTimeout

from collector.sources.errors import (
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    Malformed,
    NotFound,
    SourceError,
    Throttled,
    TimedOut,
    Unreachable,
)
from collector.sources.network_words import network_words

_BY_STATUS: Final[Mapping[int, type[SourceError]]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    429: Throttled,
    504: TimedOut,
}


def error_from_answer(
    method: str, path: str, status: int, headers: Mapping[str, str], body: bytes, secret: str | None
) -> SourceError:
    """The error for an answer with a status that is not success. `secret` is blotted out of the message."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        # Not from the API server itself (a proxy's page): its text may hold anything, so only its size is told.
        answer = {"message": f"an answer of {len(body)} bytes that is no Kubernetes Status"}
    error = error_from_status(method, path, {**answer, "code": status}, secret)
    if isinstance(error, Throttled):
        wish = headers.get("Retry-After", "")
        error.retry_after_seconds = float(wish) if wish.isdecimal() else None  # else it is a date, or nonsense
    return error


def error_from_status(method: str, path: str, status: Mapping[str, Any], secret: str | None = None) -> SourceError:
    """The error for a Status object, also one that comes as a watch event of type ERROR."""
    code = status.get("code")
    code = code if isinstance(code, int) else None
    message = str(status.get("message") or "no message")
    if secret:
        message = message.replace(secret, "[redacted]")
    return _class_of(code)(method, path, message, status=code, reason=str(status.get("reason") or ""))


def error_from_failure(method: str, path: str, failure: Exception, server: str) -> SourceError:
    """The error for an exchange with `server` that broke: no connection, a lost one, or no answer in time."""
    cause: BaseException = failure
    if isinstance(failure, MaxRetryError) and failure.reason is not None:
        cause = failure.reason
    # In urllib3 a refused connection is a kind of time-out; here it is not.
    timed_out = isinstance(cause, HttpTimeout) and not isinstance(cause, NewConnectionError)
    return (TimedOut if timed_out else Unreachable)(method, path, f"{server}: {network_words(cause)}")


def _class_of(code: int | None) -> type[SourceError]:
    if code is None:
        return Malformed
    if code in _BY_STATUS:
        return _BY_STATUS[code]
    if 400 <= code < 500:
        return Invalid
    return Unreachable if code >= 500 else Malformed
