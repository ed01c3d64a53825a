"""Errors of asking a system over HTTP. They carry fields, not prose, and never a request's body or a token.

SourceError
├── Unreachable   no connection, connection lost, or the server cannot answer (5xx)
├── TimedOut      no answer in time
├── Forbidden     401 or 403: who we are may not do this
├── NotFound      404: no such object, or the server does not know the kind
├── Conflict      409: somebody else owns the field, or the object has changed
├── Gone          410: too old a version was asked for; list again
├── Invalid       other 4xx: the request is refused for what it says
├── Throttled     429: `retry_after_seconds` says when to come back
└── Malformed     the answer is not what it must be

CredentialsProblem: there is no usable address or identity to ask with (a mistake of configuration).
"""

from __future__ import annotations

_LONGEST_MESSAGE = 400


class SourceError(Exception):
    """A request that brought no usable answer. `attempts` counts how often it was tried."""

    def __init__(
        self, method: str, path: str, message: str, *, status: int | None = None, reason: str = "", attempts: int = 1
    ) -> None:
        self.method, self.path = method, path
        self.status, self.reason, self.attempts = status, reason, attempts
        # What a server sends may hold anything: nothing of it may steer the terminal that shows it.
        message = "".join(sign if sign.isprintable() else " " for sign in message)
        self.message = message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + "…"
        super().__init__(self.message)

    def __str__(self) -> str:
        answer = " ".join(part for part in (str(self.status or ""), self.reason) if part)
        tries = f" (tried {self.attempts} times)" if self.attempts > 1 else ""
        return f"{self.method} {self.path}: {answer + ': ' if answer else ''}{self.message}{tries}"


class Unreachable(SourceError):
    """No connection, a lost one, or a server that cannot answer now."""


class TimedOut(SourceError):
    """No answer in time."""


class Forbidden(SourceError):
    """The identity in use may not do this, or is not accepted at all (401)."""


class NotFound(SourceError):
    """No such object, or a kind that the server does not know."""


class Conflict(SourceError):
    """Another owner holds the field, or the object has changed since it was read."""


class Gone(SourceError):
    """The version that was asked for is no longer kept."""


class Invalid(SourceError):
    """The server refused the request for what it says."""


class Throttled(SourceError):
    """Too many requests. `retry_after_seconds` is the server's wish, None when it has none."""

    retry_after_seconds: float | None = None


class Malformed(SourceError):
    """An answer that is not what it must be: not JSON, too large, cut off, or of another shape."""


class CredentialsProblem(Exception):
    """No usable address or identity: `place` is the file or setting, `problem` what is wrong there."""

    def __init__(self, place: str, problem: str) -> None:
        self.place, self.problem = place, problem
        super().__init__(f"{place}: {problem}")
