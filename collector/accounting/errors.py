"""Errors of the history's database, in words for a person."""

from __future__ import annotations

from collector.sources.errors import SourceError


class StoreProblem(SourceError):
    """The database can not be used now, or is not one of ours. `place` is its address without a password."""

    def __init__(self, place: str, problem: str) -> None:
        self.place, self.problem = place, problem
        super().__init__("accounting", place, problem)
