"""Reads the documents from files and folders, and keeps the last good ones in force when an edit breaks them.

Reads only; says nothing in logs: the caller gets the error and says it, in status and log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from controller.api.documents import Documents, combine, read_documents
from controller.api.errors import InputError, Mistake
from controller.api.yaml_text import printable
from controller.files.reading import read_text, trouble_in_words

_CONFIG_MAP_VERSION = "..data"
_ENDINGS = (".yaml", ".yml")
_EXPECTED = "a file with YAML text"


class Configuration:
    """The documents under `paths`: files, or folders whose *.yaml and *.yml files are read in order of their names."""

    def __init__(
        self,
        paths: Sequence[Path],
        cluster: str = "default",
        clock: Callable[[], float] = time.time,
        capacity: Mapping[str, int] | None = None,
    ) -> None:
        """`capacity`: pool → GPUs that promises may not exceed, where somebody knows."""
        self._paths, self._cluster, self._clock, self._capacity = tuple(paths), cluster, clock, capacity
        self._texts: tuple[tuple[str, str], ...] | None = None
        self._good: Documents | None = None
        self.in_force_since_seconds: float | None = None
        """When the documents in force were first read, in epoch seconds."""

    def load(self) -> Documents:
        """The documents as they stand now. Raises InputError with every mistake."""
        texts = tuple(self._read())
        if texts == self._texts and self._good is not None:
            return self._good
        drafts = [draft for origin, text in texts for draft in read_documents(text, origin)]
        good = combine(drafts, self._cluster, self._capacity)
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
                    yield origin, read_text(file, _EXPECTED)
                except InputError as error:
                    mistakes += (replace(one, place=printable(origin)) for one in error.mistakes)
        if mistakes:
            raise InputError(tuple(mistakes))

    def _files(self, path: Path, mistakes: list[Mistake]) -> list[tuple[str, Path]]:
        """(origin, file) of each; in a folder by name alone, so that a broken link is said and not skipped."""
        # A mounted ConfigMap is replaced by turning one link: reading behind it never mixes two versions.
        link = path / _CONFIG_MAP_VERSION
        try:
            if not path.is_dir():
                return [(str(path), path)]
            folder = link.resolve(strict=True) if link.is_symlink() else path
            names = sorted(entry.name for entry in folder.iterdir() if entry.suffix in _ENDINGS)
        except OSError as error:
            mistakes.append(Mistake(printable(str(path)), trouble_in_words(error), "a file or folder with YAML text"))
            return []
        visible = [name for name in names if not name.startswith(".")]
        if not visible:
            found = "a folder without *.yaml or *.yml files"
            mistakes.append(Mistake(printable(str(path)), found, "files with Tenant and Policy documents"))
        return [(str(path / name), folder / name) for name in visible]
