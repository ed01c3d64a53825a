"""Reads the documents from files and folders, and keeps the last good ones in force when an edit breaks them.

Reads only; says nothing in logs: the caller gets the error and says it, in status and log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from controller.api.documents import Documents, combine, read_documents
from controller.api.errors import InputError, Mistake

_CONFIG_MAP_VERSION = "..data"


class Configuration:
    """The documents under `paths`: files, or folders whose *.yaml files are read in order of their names."""

    def __init__(self, paths: Sequence[Path], cluster: str = "default", clock: Callable[[], float] = time.time) -> None:
        self._paths, self._cluster, self._clock = tuple(paths), cluster, clock
        self._texts: tuple[tuple[str, str], ...] | None = None
        self._good: Documents | None = None
        self.in_force_since_seconds: float | None = None
        """When the documents in force were first read, in epoch seconds."""

    def load(self) -> Documents:
        """The documents as they stand now. Raises InputError with every mistake."""
        texts = tuple(self._read())
        if texts == self._texts and self._good is not None:
            return self._good
        good = combine([draft for origin, text in texts for draft in read_documents(text, origin)], self._cluster)
        if good != self._good:
            self._good, self.in_force_since_seconds = good, self._clock()
        self._texts = texts
        return good

    def reload(self) -> tuple[Documents, InputError | None]:
        """The documents in force, and what is wrong with an edit that was therefore not taken.

        Raises InputError only when no good documents were ever read.
        """
        try:
            return self.load(), None
        except InputError as error:
            if self._good is None:
                raise
            return self._good, error

    def _read(self) -> Iterator[tuple[str, str]]:
        """(origin, text) of each file. Raises InputError that names every path that can not be read."""
        mistakes: list[Mistake] = []
        for path in self._paths:
            for origin, file in self._files(path, mistakes):
                try:
                    yield origin, file.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    mistakes.append(Mistake(origin, "bytes that are no UTF-8", "YAML text in UTF-8"))
                except OSError as error:
                    mistakes.append(_unreadable(origin, error))
        if mistakes:
            raise InputError(tuple(mistakes))

    def _files(self, path: Path, mistakes: list[Mistake]) -> list[tuple[str, Path]]:
        # A mounted ConfigMap is replaced by turning one link: reading behind it never mixes two versions.
        link = path / _CONFIG_MAP_VERSION
        try:
            if not path.is_dir():
                return [(str(path), path)]
            folder = link.resolve(strict=True) if link.is_symlink() else path
            names = sorted(file.name for file in folder.glob("*.yaml") if file.is_file())
        except OSError as error:
            mistakes.append(_unreadable(str(path), error))
            return []
        visible = [name for name in names if not name.startswith(".")]
        if not visible:
            mistakes.append(
                Mistake(str(path), "a folder without *.yaml files", "files with Tenant and Policy documents")
            )
        return [(str(path / name), folder / name) for name in visible]


def _unreadable(origin: str, error: OSError) -> Mistake:
    return Mistake(origin, (error.strerror or str(error)).lower(), "a file or folder that can be read")
