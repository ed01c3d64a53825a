"""Errors of the history's database, in words for a person."""

from __future__ import annotations

from collector.sources.errors import SourceError


class StoreProblem(SourceError):
    """The database can not be used now, or is not one of ours."""

    @classmethod
    def at(cls, place: str, problem: str) -> StoreProblem:
        """`place`: its address without a password."""
        return cls("accounting", place, problem)
