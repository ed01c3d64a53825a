"""Errors that carry fields, not prose. Pure.

TrimtabError
├── InputError      a document or option is wrong: place, value, what was expected (exit code 2)
├── ApplyError      a write was not taken: who refused and why (becomes a refusal or a retry)
└── InvariantError  we are wrong: stop writing, keep watching

Errors of reading stand in `collector.sources` (exit code 3).
"""

from __future__ import annotations

from dataclasses import dataclass


class TrimtabError(Exception):
    """Root of the errors of the controller."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One wrong place in a document."""

    place: str
    value: str
    expected: str

    def __str__(self) -> str:
        return f"{self.place}: got {self.value}, expected {self.expected}"


class InputError(TrimtabError):
    """One or more mistakes in what a person wrote."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        super().__init__("\n".join(str(mistake) for mistake in mistakes))
        self.mistakes = mistakes


class ApplyError(TrimtabError):
    """A write that the API server did not take."""

    def __init__(self, target: str, code: str, message: str) -> None:
        super().__init__(f"{target}: {code}: {message}")
        self.target, self.code, self.message = target, code, message


class InvariantError(TrimtabError):
    """Something that can not be true is true."""
