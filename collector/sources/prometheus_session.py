"""The HTTP session below prometheus-api-client: bounds each answer and tells failures apart before the library does.

The library turns every status but 200 into one error, and drops the warnings of an answer. May not interpret samples.

SourceError (see `collector.sources.errors`)
├── BadQuery      400: the query is no PromQL
├── NotExecuted   422: understood, and not carried out (too many samples, labels that do not match one to one)
├── Overloaded    503: the server takes no more queries now
└── Partial       an answer with warnings: a store behind it was not reached, or more series exist than the limit
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from collector.sources.bounded_body import BodyTooLargeError, BodyTooSlowError, read_body
from collector.sources.errors import (
    Forbidden,
    Invalid,
    Malformed,
    NotFound,
    SourceError,
    Throttled,
    TimedOut,
    Unreachable,
)
from collector.sources.network_words import network_words


class BadQuery(Invalid):
    """The server could not read the query."""


class NotExecuted(SourceError):
    """The server read the query and did not carry it out."""


class Overloaded(SourceError):
    """The server takes no more queries now."""


class Partial(SourceError):
    """The server says that its answer is not whole."""


@dataclass(frozen=True, slots=True)
class PrometheusLimits:
    """How long, and how much, one query may take."""

    connect_seconds: float = 2.0
    total_seconds: float = 10.0
    """Told to the server as well, so that it does not go on for nobody."""
    series: int = 20_000
    points_per_series: int = 11_000
    body_bytes: int = 32 * 1024 * 1024


_IS_THIS_ONE: Final = "is this the address of a Prometheus?"


class BoundedSession(requests.Session):
    """Gives back only whole, successful answers; everything else raises SourceError."""

    def __init__(self, limits: PrometheusLimits) -> None:
        super().__init__()
        self._limits = limits
        self.trust_env = False  # no proxy and no password file of whoever runs this: the address alone decides

    def request(self, method: str, url: str | bytes, *args: Any, **kwargs: Any) -> requests.Response:
        """As requests does it, within the limits."""
        path = _place(str(url))
        deadline = time.monotonic() + self._limits.total_seconds
        kwargs |= {"stream": True, "timeout": (self._limits.connect_seconds, self._limits.total_seconds)}
        try:
            with super().request(method, url, *args, **kwargs) as answer:
                body = read_body(answer.raw, self._limits.body_bytes, deadline)
                return _Whole(answer.status_code, _document(answer.status_code, body, path))
        except (BodyTooSlowError, ReadTimeoutError, requests.Timeout) as error:
            raise TimedOut("GET", path, f"no answer in {self._limits.total_seconds:g} s") from error
        except BodyTooLargeError as error:
            raise Malformed("GET", path, str(error)) from error
        except (HTTPError, requests.RequestException) as error:
            raise Unreachable("GET", path, network_words(error)) from error


def _place(url: str) -> str:
    """The address without a password or a query: it says which server is meant, and is no path of an API server."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class _Whole(requests.Response):
    """An answer that has been read and judged."""

    def __init__(self, status_code: int, document: dict[str, Any]) -> None:
        super().__init__()
        self.status_code = status_code
        self._document = document

    def json(self, **kwargs: Any) -> dict[str, Any]:
        """The decoded answer."""
        return self._document


def _document(status: int, body: bytes, path: str) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        document = {}
        if status == 200:
            raise Malformed("GET", path, f"the answer is not JSON; {_IS_THIS_ONE}")
    if status != 200 or document.get("status") != "success":
        raise _error(status, document, path)
    data = document.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("result"), list):
        raise Malformed("GET", path, "an answer without a list of results", status=status)
    warnings = document.get("warnings")
    if warnings or document.get("isPartial"):  # isPartial: what VictoriaMetrics says instead
        words = [str(warning) for warning in warnings or ("the server says that its answer is partial",)]
        raise Partial("GET", path, "; ".join(words), status=status)
    return document


def _error(status: int, document: dict[str, Any], path: str) -> SourceError:
    kind = str(document.get("errorType", ""))
    message = str(document.get("error") or f"no explanation; {_IS_THIS_ONE}")
    known: dict[int, type[SourceError]] = {
        400: BadQuery,
        401: Forbidden,
        403: Forbidden,
        404: NotFound,
        422: NotExecuted,
        429: Throttled,
        503: TimedOut if kind == "timeout" else Overloaded,
        504: TimedOut,
    }
    fallback = Unreachable if status >= 500 else Malformed
    return known.get(status, fallback)("GET", path, message, status=status, reason=kind)
