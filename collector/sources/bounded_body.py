"""Reads the body of an HTTP answer up to a size and a moment. Decides nothing about what the body says."""

from __future__ import annotations

import time
from typing import Final, Protocol

_CHUNK_BYTES: Final = 64 * 1024


class BodyTooLargeError(Exception):
    """More bytes came than were allowed."""


class BodyTooSlowError(Exception):
    """The body was not complete at the deadline."""


class Body(Protocol):
    """What is needed of an answer of urllib3."""

    def read1(self, amt: int | None = None, decode_content: bool | None = None) -> bytes:
        """The bytes that have arrived, at most `amt`; none at the end."""
        ...


def read_body(answer: Body, largest_bytes: int, deadline: float) -> bytes:
    """The whole body, decompressed. `deadline` is a moment of `time.monotonic()`.

    Raises BodyTooLargeError, BodyTooSlowError, and what urllib3 raises when the connection breaks.
    """
    parts: list[bytes] = []
    size = 0
    # read1 returns what has arrived; read waits for a full chunk, and a body that drips would outlive the deadline.
    while chunk := answer.read1(_CHUNK_BYTES, decode_content=True):
        size += len(chunk)
        if size > largest_bytes:
            raise BodyTooLargeError(f"more than {largest_bytes} bytes")
        if time.monotonic() > deadline:
            raise BodyTooSlowError("not complete in time")
        parts.append(chunk)
    return b"".join(parts)
