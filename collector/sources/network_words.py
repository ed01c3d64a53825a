"""Whom we asked and why it broke, in plain words: no secrets, no numbers and objects of libraries. No I/O."""

from __future__ import annotations

import re
from http.client import BadStatusLine, IncompleteRead, RemoteDisconnected
from typing import Final

_NOISE: Final = re.compile(r"\[Errno -?\d+\] |\[SSL: \w+\] | \(_ssl\.c:\d+\)|^\w+\(.*\): |^<.*>: ")
_OPENING: Final = "Failed to establish a new connection: "


def shown_address(url: str) -> str:
    """The address for people and logs: without the user and password that it may hold."""
    scheme, colon, rest = url.partition("://")  # not by a parser: what is no address must be shown as well
    place, slash, path = rest.partition("/")
    return scheme + colon + place.rpartition("@")[2] + slash + path


def network_words(failure: BaseException) -> str:
    """One clause without a full stop, such as "Connection refused"."""
    inner = [part for part in failure.args if isinstance(part, BaseException)]
    if inner:  # a wrapper, whose own text would be the source text of what it holds
        return network_words(inner[-1])
    reason = getattr(failure, "reason", None)
    if isinstance(reason, BaseException):
        return network_words(reason)
    if isinstance(failure, BadStatusLine) and not isinstance(failure, RemoteDisconnected):
        return "an answer that is no HTTP"  # its own text is whatever was sent
    if isinstance(failure, IncompleteRead):
        return "the connection broke before the answer was complete"
    words = _NOISE.sub("", str(failure)).removeprefix(_OPENING).rstrip(".")
    return words or "the connection broke"
