"""Fetches the text of other exporters: bounded in time and size, each failure one of a few words.

Knows nothing of what stands in the text, and never raises into its caller: a target that is gone, slow, huge or not an
exporter becomes a `ScrapeFailed`, and the other targets do not notice.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from http.client import BadStatusLine, HTTPException, IncompleteRead, RemoteDisconnected
from typing import Final
from urllib.parse import urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    HTTPError,
    InvalidChunkLength,
    LocationValueError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
)

from collector.sources.bounded_body import BodyTooLargeError, BodyTooSlowError, read_body
from collector.sources.network_words import network_words, shown_address

_ACCEPT: Final = "text/plain;version=0.0.4,text/plain;q=0.5"
_TEXT_TYPES: Final = frozenset({"", "text/plain", "application/openmetrics-text", "application/octet-stream"})


class ScrapeFault(StrEnum):
    """What went wrong, as the label `reason` of trimtab_collector_errors_total: few words, so few series."""

    REFUSED = "refused"
    """Nobody listens there, or the connection broke before an answer."""
    UNRESOLVED = "unresolved"
    """The address names no host, or is no address."""
    TIMEOUT = "timeout"
    HTTP_STATUS = "http_status"
    TOO_LARGE = "too_large"
    CUT_OFF = "cut_off"
    """The answer ended early: less than announced, or in the middle of a line."""
    NOT_TEXT = "not_text"
    EMPTY = "empty"
    """Status 200 and not one byte: no reading, which is not the same as nothing to read."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """The whole text of one target, and how long it took to come."""

    text: str
    duration_seconds: float


@dataclass(frozen=True, slots=True)
class ScrapeFailed:
    """No text. `sentence` is for a person, `fault` for the error counter."""

    fault: ScrapeFault
    sentence: str


@dataclass(frozen=True, slots=True)
class ScrapeLimits:
    """How long and how much. `total_seconds` bounds a whole answer, however slowly it drips."""

    connect_seconds: float = 2.0
    read_seconds: float = 5.0
    total_seconds: float = 10.0
    body_bytes: int = 16 * 1024 * 1024
    whole_last_line: bool = True
    """An answer that ends inside a line fails; else its whole lines are still worth reading."""


def target_label(url: str) -> str:
    """Host and port of a target, for a label: without a password that the address may hold."""
    return urlsplit(url).netloc.rpartition("@")[2]


class Scraper:
    """Keeps connections to its targets open between scrapes. Safe to use from several threads."""

    def __init__(self, limits: ScrapeLimits | None = None) -> None:
        self._limits = limits or ScrapeLimits()
        self._manager = urllib3.PoolManager(
            num_pools=256,
            maxsize=8,
            retries=False,
            timeout=urllib3.Timeout(connect=self._limits.connect_seconds, read=self._limits.read_seconds),
            headers={"Accept": _ACCEPT, "Accept-Encoding": "gzip", "User-Agent": "trimtab"},
        )
        self._manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def scrape(self, url: str) -> Scrape | ScrapeFailed:
        """The text of one target, or what went wrong."""
        started, shown = time.monotonic(), shown_address(url)
        try:
            body = self._body(url, started + self._limits.total_seconds)
        except _Refused as refused:
            return ScrapeFailed(refused.fault, f"{shown}: {refused.sentence}")
        except BodyTooLargeError as error:
            return ScrapeFailed(ScrapeFault.TOO_LARGE, f"{shown}: {error}")
        except BodyTooSlowError as error:
            return ScrapeFailed(ScrapeFault.TIMEOUT, f"{shown}: {error} ({self._limits.total_seconds:g} s)")
        except (HTTPError, OSError) as error:
            return ScrapeFailed(_fault_of(error), f"{shown}: {network_words(error)}")
        problem = _problem_of(body, self._limits.whole_last_line)
        if isinstance(problem, ScrapeFailed):
            return ScrapeFailed(problem.fault, f"{shown}: {problem.sentence}")
        return Scrape(problem, time.monotonic() - started)

    def scrape_all(self, urls: Iterable[str]) -> Mapping[str, Scrape | ScrapeFailed]:
        """All targets at the same time, so that a slow one costs the others nothing."""
        targets = sorted(set(urls))
        if not targets:
            return {}
        with ThreadPoolExecutor(max_workers=min(len(targets), 64), thread_name_prefix="scrape") as pool:
            futures = {url: pool.submit(self.scrape, url) for url in targets}
            wait(futures.values())
        return {url: future.result() for url, future in futures.items()}

    def close(self) -> None:
        """Drops the open connections."""
        self._manager.clear()

    def _body(self, url: str, deadline: float) -> bytes:
        response = self._manager.request("GET", url, preload_content=False, redirect=False)
        try:
            _refuse_other_answers(response)
            body = read_body(response, self._limits.body_bytes, deadline)
        except BaseException:
            # What is left unread must not be taken for the beginning of the next answer.
            response.close()
            raise
        response.release_conn()
        return body


class _Refused(Exception):
    """An answer that we do not take."""

    def __init__(self, fault: ScrapeFault, sentence: str) -> None:
        super().__init__(sentence)
        self.fault, self.sentence = fault, sentence


def _refuse_other_answers(response: urllib3.BaseHTTPResponse) -> None:
    if response.status != 200:
        raise _Refused(ScrapeFault.HTTP_STATUS, f"HTTP status {response.status}")
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind not in _TEXT_TYPES:
        raise _Refused(ScrapeFault.NOT_TEXT, f"content type {kind}, expected text/plain")


def _problem_of(body: bytes, whole_last_line: bool) -> str | ScrapeFailed:
    """The text of a body, or why it is not the whole text of an exporter."""
    if not body.strip():
        return ScrapeFailed(ScrapeFault.EMPTY, "an empty answer")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        return ScrapeFailed(ScrapeFault.NOT_TEXT, f"not UTF-8 at byte {error.start}")
    if "\0" in text or text.lstrip().startswith("<"):
        return ScrapeFailed(ScrapeFault.NOT_TEXT, "markup or binary data, expected exposition text")
    if whole_last_line and not text.endswith("\n"):
        # Every line of the format ends with a line feed; without a length in the headers this is the only sign.
        return ScrapeFailed(ScrapeFault.CUT_OFF, "the answer ends in the middle of a line")
    return text


_FAULTS: Final[tuple[tuple[type[Exception], ScrapeFault], ...]] = (
    (NameResolutionError, ScrapeFault.UNRESOLVED),
    (LocationValueError, ScrapeFault.UNRESOLVED),
    (NewConnectionError, ScrapeFault.REFUSED),
    (ConnectTimeoutError, ScrapeFault.TIMEOUT),  # after NewConnectionError, which urllib3 derives from it
    (ReadTimeoutError, ScrapeFault.TIMEOUT),
    (TimeoutError, ScrapeFault.TIMEOUT),
    (IncompleteRead, ScrapeFault.CUT_OFF),
    (InvalidChunkLength, ScrapeFault.CUT_OFF),
    (RemoteDisconnected, ScrapeFault.REFUSED),
    (BadStatusLine, ScrapeFault.NOT_TEXT),  # after RemoteDisconnected, which the library derives from it
    (DecodeError, ScrapeFault.NOT_TEXT),
)


def _fault_of(error: Exception) -> ScrapeFault:
    """The word for an error of the HTTP library: the first in its chain of causes that has one."""
    seen: BaseException | None = error
    while seen is not None:
        for kind, fault in _FAULTS:
            if isinstance(seen, kind):
                return fault
        inner = seen.args[-1] if isinstance(seen, ProtocolError) and seen.args else None
        seen = inner if isinstance(inner, BaseException) else seen.__cause__
    return ScrapeFault.REFUSED


class _HeadersInTime(HTTPConnection):
    """The time-out of a socket bounds one read: headers that drip byte by byte would have no end."""

    def getresponse(self) -> urllib3.HTTPResponse:  # type: ignore[override]  # as urllib3 itself declares it
        expired = threading.Event()

        def give_up(connected: socket.socket) -> None:
            expired.set()
            with suppress(OSError):
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

        guard = threading.Timer(self.timeout or 0.0, give_up, [self.sock])
        guard.daemon = True
        guard.start()
        try:
            response = super().getresponse()
        except (HTTPException, OSError):
            if expired.is_set():
                raise TimeoutError("headers did not come in time") from None
            raise
        finally:
            guard.cancel()
        if expired.is_set():
            # What had come by then looks like complete headers.
            response.close()
            raise TimeoutError("headers did not come in time")
        return response


class _SecureHeadersInTime(_HeadersInTime, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _HeadersInTime


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureHeadersInTime
