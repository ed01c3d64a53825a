"""The file that names the NICs to probe, read when it changed: here, or in a process of its own, gone afterwards.

What judges a file of ten thousand NICs would take as much memory as the whole node role may have; so there it is read
apart. As a program (`python -m controller.runtime.probe_file FILE`) it is that process: what it found goes to stdout.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from collector.model.probing import ProbeSettings
from controller.api.errors import InputError, Mistake

_SHORTEST_PERIOD_SECONDS: Final = 2.0
_READ_SECONDS: Final = 120.0
_A_FILE: Final = "a file that names the NICs to probe"

Found = ProbeSettings | tuple[Mistake, ...]


def read_here(file: Path) -> Found:
    """The settings, or every mistake in the file."""
    from controller.api.probe_settings import parse_probe_settings
    from controller.files.reading import read_text

    try:
        return parse_probe_settings(read_text(file, _A_FILE, "--probes"), str(file))
    except InputError as error:
        return error.mistakes


def read_apart(file: Path) -> Found:
    """The same, by a process of its own."""
    words = [sys.executable, "-m", "controller.runtime.probe_file", str(file)]
    try:
        done = subprocess.run(words, capture_output=True, check=True, timeout=_READ_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return (Mistake(f"--probes {file}", "no answer of the program that reads it", _A_FILE),)
    found: Found = pickle.loads(done.stdout)  # what our own process has just written
    return found


class ProbeFile:
    """Looks at the file only when it changed. For one thread."""

    def __init__(self, file: Path, time_scale: float = 1.0, read: Callable[[Path], Found] = read_here) -> None:
        self._file, self._time_scale, self._read = file, time_scale, read
        self._stamp: tuple[int, int, int] | None = None
        self._found: Found = ()

    def settings(self) -> ProbeSettings:
        """What the file says, its period divided by the time scale. Raises InputError."""
        stamp = self._looked()
        if stamp is None or stamp != self._stamp:
            self._found, self._stamp = self._read(self._file), stamp
        if not isinstance(self._found, ProbeSettings):
            raise InputError(self._found)
        period = max(_SHORTEST_PERIOD_SECONDS, self._found.period_seconds / self._time_scale)
        return replace(self._found, period_seconds=period)

    def _looked(self) -> tuple[int, int, int] | None:
        try:
            told = self._file.stat()
        except OSError:
            return None
        return told.st_mtime_ns, told.st_size, told.st_ino


def main() -> None:
    """Reads the file that is named, and writes what was found."""
    sys.stdout.buffer.write(pickle.dumps(read_here(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
