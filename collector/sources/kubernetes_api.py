"""One connection to a Kubernetes API server: raw JSON in and out. Knows nothing of what the objects mean.

Address, TLS and identity come from the `kubernetes` library; its generated models are not used, since they cost more
time and memory than a picture of a cluster may. Reads are tried again within a small budget; writes never, since
whoever writes must look again first.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import orjson
import urllib3
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from collector.sources.bounded_body import BodyTooLargeError, BodyTooSlowError, read_body
from collector.sources.errors import Invalid, Malformed, SourceError, Throttled, TimedOut, Unreachable
from collector.sources.kubernetes_answers import error_from_answer, error_from_failure, error_from_status
from collector.sources.kubernetes_identity import KubernetesIdentity
from collector.sources.kubernetes_pages import object_of, pages
from collector.sources.kubernetes_port import Decode, JsonObject, Page, Query, WatchEvent

T = TypeVar("T")

_CHUNK_BYTES: Final = 2**18
_READ_ATTEMPTS: Final = 4
_SEGMENT_SIGNS: Final = "-._~:@!$&'()*+,;="
"""What RFC 3986 allows in a segment of a path beside letters and digits."""


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """What one request may cost."""

    connect_seconds: float = 5.0
    read_seconds: float = 30.0
    """Longest silence while an answer comes."""
    answer_seconds: float = 60.0
    """Looked at every 64 KiB."""
    answer_bytes: int = 256 * 2**20
    event_bytes: int = 16 * 2**20
    silence_seconds: float = 10.0
    """How long past its own end a watch may say nothing before it counts as hanging."""
    retry_within_seconds: float = 10.0
    """A read is not tried again later than this after its first try."""


class WatchStream:
    """The events of one open watch, once. Iterating raises SourceError; a clean end is the server's time limit."""

    def __init__(self, response: BaseHTTPResponse, path: str, server: str, event_bytes: int) -> None:
        self._response, self._path, self._server, self._event_bytes = response, path, server, event_bytes

    def __iter__(self) -> Iterator[WatchEvent]:
        try:
            for line in self._lines():
                yield self._event(line)
        except (HTTPError, OSError) as failure:
            raise error_from_failure("WATCH", self._path, failure, self._server) from failure
        finally:
            self._response.close()

    def interrupt(self) -> None:
        """End the watch from another thread: the one that reads gets a SourceError at once."""
        with suppress(ValueError, RuntimeError, OSError):
            self._response.shutdown()

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for chunk in self._response.stream(_CHUNK_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line for line in lines if line)
            if len(rest) > self._event_bytes:
                raise Malformed("WATCH", self._path, f"an event of more than {self._event_bytes} bytes")

    def _event(self, line: bytes) -> WatchEvent:
        try:
            raw = orjson.loads(line)
            event = WatchEvent(raw["type"], raw["object"])
        except (orjson.JSONDecodeError, TypeError, KeyError):
            raise Malformed("WATCH", self._path, f"a line of {len(line)} bytes that is no watch event") from None
        if not isinstance(event.object, dict):
            raise Malformed("WATCH", self._path, "an event without object")
        if event.kind == "ERROR":
            raise error_from_status("WATCH", self._path, event.object)
        return event


class KubernetesApi:
    """A connection that many threads may use. Methods raise SourceError, and CredentialsProblem for the identity."""

    def __init__(
        self,
        identity: KubernetesIdentity,
        limits: ApiLimits | None = None,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        self._identity, self._limits, self._wait = identity, limits or ApiLimits(), wait

    @property
    def server(self) -> str:
        """Address of the API server."""
        return self._identity.server

    def get(self, path: str, query: Query | None = None) -> JsonObject:
        """One object or list. Tried up to 4 times when the server is away or busy, within 10 seconds."""
        return object_of(self._retried(lambda: self._body("GET", path, query)), "GET", path)

    def list_pages(
        self, path: str, limit: int = 500, query: Query | None = None, decode: Decode | None = None
    ) -> Iterator[Page]:
        """A list in pages of `limit`, one in memory at a time, decoded by `decode`, or whole where that cannot.

        Gone when the server forgets the list midway.
        """

        def read(continuation: str) -> bytes:
            asked = {**(query or {}), "limit": limit, **({"continue": continuation} if continuation else {})}
            return self._retried(lambda: self._body("GET", path, asked))

        return pages(read, path, decode)

    def watch(self, path: str, resource_version: str, timeout_seconds: int, query: Query | None = None) -> WatchStream:
        """Open a watch with bookmarks from `resource_version`; the server ends it after `timeout_seconds`.

        Not tried again: who watches knows best whether to go on or to list anew.
        """
        asked: Query = {
            **(query or {}),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": timeout_seconds,
        }
        response = self._open("GET", path, asked, read_seconds=timeout_seconds + self._limits.silence_seconds)
        return WatchStream(response, path, self.server, self._limits.event_bytes)

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        query: Query | None = None,
    ) -> JsonObject:
        """One write, never tried again: the caller looks first. `body` is sent as JSON (valid YAML as well)."""
        sent = None if body is None else orjson.dumps(body)
        return object_of(self._body(method, path, query, body=sent, content_type=content_type), method, path)

    def close(self) -> None:
        """Close the idle connections."""
        self._identity.pool.clear()

    def _body(self, method: str, path: str, query: Query | None, **sent: Any) -> bytes:
        return self._whole_body(self._open(method, path, query, **sent), method, path)

    def _open(self, method: str, path: str, query: Query | None, **sent: Any) -> BaseHTTPResponse:
        """Send a request; the response is a success and its body still to be read."""
        response = self._send(method, path, query, **sent)
        if response.status == 401:
            response.close()
            self._identity.renew()
            response = self._send(method, path, query, **sent)
        if 200 <= response.status < 300:
            return response
        body = self._whole_body(response, method, path)
        raise error_from_answer(method, path, response.status, response.headers, body, self._identity.token())

    def _send(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: bytes | None = None,
        content_type: str = "application/json",
        read_seconds: float | None = None,
    ) -> BaseHTTPResponse:
        headers = {"Accept": "application/json", "User-Agent": "trimtab"}
        if body is not None:
            headers["Content-Type"] = content_type
        token = self._identity.token()
        if token:
            headers["Authorization"] = token
        read_seconds = self._limits.read_seconds if read_seconds is None else read_seconds
        try:
            return self._identity.pool.request(
                method,
                f"{self.server}{_quoted(method, path)}" + (f"?{urlencode(query)}" if query else ""),
                body=body,
                headers=headers,
                timeout=urllib3.Timeout(connect=self._limits.connect_seconds, read=read_seconds),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except (HTTPError, OSError) as failure:
            raise error_from_failure(method, path, failure, self.server) from failure

    def _whole_body(self, response: BaseHTTPResponse, method: str, path: str) -> bytes:
        """The body, if it is of bearable size and comes in bearable time."""
        try:
            return read_body(
                _LargeReads(response), self._limits.answer_bytes, time.monotonic() + self._limits.answer_seconds
            )
        except BodyTooLargeError as problem:
            raise Malformed(method, path, f"an answer of {problem}") from problem
        except BodyTooSlowError as problem:
            raise TimedOut(method, path, f"an answer {problem}") from problem
        except (HTTPError, OSError) as failure:
            raise error_from_failure(method, path, failure, self.server) from failure
        finally:
            # What was read to its end went back to the pool by itself; anything else must not be used again.
            response.close()

    def _retried(self, read: Callable[[], T]) -> T:
        started = time.monotonic()
        attempt = 1
        while True:
            try:
                return read()
            except (Unreachable, TimedOut, Throttled) as problem:
                problem.attempts = attempt
                pause = _pause_seconds(problem, attempt)
                late = time.monotonic() + pause > started + self._limits.retry_within_seconds
                if late or attempt == _READ_ATTEMPTS:
                    raise
            self._wait(pause)
            attempt += 1


def connect(
    kubeconfig: Path | None = None, context: str | None = None, limits: ApiLimits | None = None
) -> KubernetesApi:
    """A connection as `kubectl` would make it; inside a pod, with its service account. Sends nothing yet.

    Without `kubeconfig` the service account is taken if there is one, else $KUBECONFIG or ~/.kube/config.
    Raises CredentialsProblem that names the file.
    """
    return KubernetesApi(KubernetesIdentity(kubeconfig, context), limits)


class _LargeReads:
    """A response that is read in large parts. The API server sends a list in tens of thousands of tiny ones, and to
    handle each as it comes takes as long as to decode them all. The price: a server that drips is found out late.
    """

    def __init__(self, response: BaseHTTPResponse) -> None:
        self._response = response

    def read1(self, amt: int | None = None, decode_content: bool | None = None) -> bytes:
        return self._response.read(amt, decode_content)


def _quoted(method: str, path: str) -> str:
    """`path` with its segments quoted. Raises Invalid for one that would lead elsewhere: a name may stand in it."""
    segments = path.removeprefix("/").split("/")
    if not path.startswith("/") or any(segment in ("", ".", "..") for segment in segments):
        raise Invalid(method, path, "no path of an API server: a part of it is empty or leads upwards")
    return "".join(f"/{quote(segment, safe=_SEGMENT_SIGNS)}" for segment in segments)


def _pause_seconds(problem: SourceError, attempt: int) -> float:
    if isinstance(problem, Throttled) and problem.retry_after_seconds is not None:
        return problem.retry_after_seconds
    # Jitter keeps many clients from coming back together; chance is no secret here.
    return float(0.2 * 2**attempt * (0.5 + random.random()))
