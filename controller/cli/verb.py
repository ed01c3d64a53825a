"""A verb of the command line before anything of it is loaded: its name, where it stands, and one line about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Verb:
    """A command: the words that call it, the function that carries it out, and one line for the list of commands."""

    words: str
    function: str
    line: str

    def load(self) -> Callable[..., Any]:
        """Import its module and give the function."""
        module, _, name = self.function.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found
