"""Runs a command whose output is read while it runs, and which ends with whoever started it. Judges nothing of it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final

_GRACE_SECONDS: Final = 1.0
_MOST_OUTPUT_BYTES: Final = 64 * 1024


class BoundedProcess:
    """A running command and what it has written so far."""

    def __init__(self, child: subprocess.Popen[bytes], written: IO[bytes]) -> None:
        self._child, self._written = child, written

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self._child.poll() is not None

    def output(self) -> str:
        """Both of its streams, up to a bound."""
        # Not by seek and read: the child writes where the shared position stands.
        return os.pread(self._written.fileno(), _MOST_OUTPUT_BYTES, 0).decode(errors="replace")

    def end(self) -> None:
        """Asks it and what it started to end, and kills it when it does not."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.ended:
                return
            os.killpg(self._child.pid, number)
            try:
                self._child.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                continue


@contextmanager
def running(command: Sequence[str]) -> Iterator[BoundedProcess]:
    """The command, in a group of its own, ended when the block is left. Raises OSError when it can not be started."""
    # To a file, not through a pipe: what nobody reads would hold it up.
    with tempfile.TemporaryFile() as written:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.STDOUT, start_new_session=True
        )
        process = BoundedProcess(child, written)
        try:
            yield process
        finally:
            process.end()
