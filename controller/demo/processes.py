"""Runs other programs for the demo and the testbed: start, wait until ready, stop by own process id.

A process is known by its id and its start time, so that an id which the kernel gave away again is never signalled.
May not search for processes by name and may not signal anything that it did not start itself.
"""

from __future__ import annotations

import http.client
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_POLL_SECONDS = 0.05
_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST_PORT = 15000
_ports_given: set[int] = set()

# Runs in the child before the real program: asks the kernel to kill the child when its parent dies (PR_SET_PDEATHSIG
# is 1), then becomes the program. An own interpreter, because code between fork and exec is not safe beside threads.
_TETHER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent died before the program started")
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as failure:
    sys.exit(f"{sys.argv[2]}: {failure.strerror}")
"""


class ServiceFailed(RuntimeError):
    """A program ended, or was not ready in time; the message carries the end of its log."""


class NotInTime(TimeoutError):
    """A condition did not come true within its bound."""


@dataclass(frozen=True)
class ProcessIdentity:
    """One process of this machine: its id, and when it started in clock ticks since boot."""

    pid: int
    started_ticks: int

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """The identity of a living process; None when there is none (a zombie counts as gone)."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        # The name stands in parentheses and may itself hold spaces and parentheses: count from the last one.
        fields = text.rpartition(")")[2].split()
        state, started_ticks = fields[0], int(fields[19])
        return None if state in "ZX" else cls(pid, started_ticks)

    @classmethod
    def read(cls, pid_file: Path) -> ProcessIdentity | None:
        """The process that a pid file names, if it is still alive."""
        try:
            pid, started_ticks = (int(word) for word in pid_file.read_text().split())
        except (FileNotFoundError, ValueError):
            return None
        identity = cls(pid, started_ticks)
        return identity if identity.is_alive() else None

    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        return ProcessIdentity.of(self.pid) == self

    def signal_group(self, number: signal.Signals) -> None:
        """Sends a signal to the process and to what it started (each runs in its own group)."""
        if self.is_alive():
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                return


@dataclass
class Service:
    """One long-running program.

    `argv` is asked for at each start; `ready` says whether it serves; a stop waits `grace_seconds` before it kills.
    With `tethered` the kernel kills the program when this process dies, however it dies; without, it outlives us and a
    later process takes it up again by its pid file.
    """

    name: str
    argv: Callable[[], Sequence[str]]
    folder: Path
    ready: Callable[[], bool]
    ready_timeout_seconds: float = 180.0
    grace_seconds: float = 10.0
    tethered: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    _child: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)

    @property
    def log(self) -> Path:
        """Where its standard output and error go; a restart appends."""
        return self.folder / f"{self.name}.log"

    @property
    def pid_file(self) -> Path:
        """Names the running process; absent when it was stopped."""
        return self.folder / f"{self.name}.pid"

    @property
    def identity(self) -> ProcessIdentity | None:
        """The running process, or None."""
        return ProcessIdentity.read(self.pid_file)

    def is_running(self) -> bool:
        """Whether the process is alive; says nothing about readiness."""
        return self.identity is not None

    def start(self) -> None:
        """Starts the program unless it runs already, and returns when it is ready.

        Raises ServiceFailed with the end of the log when it ends or is not ready in time; it is stopped then.
        """
        if self.identity is None:
            self._spawn()
        deadline = time.monotonic() + self.ready_timeout_seconds
        while not self.ready():
            if self.identity is None:
                self.stop()
                raise ServiceFailed(f"{self.name} ended before it was ready{self._log_end()}")
            if time.monotonic() > deadline:
                self.stop()
                raise ServiceFailed(f"{self.name} not ready in {self.ready_timeout_seconds:g} s{self._log_end()}")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """Asks the program to end (SIGTERM) and kills it when it does not within the grace time."""
        identity = self.identity
        if identity is not None:
            identity.signal_group(signal.SIGTERM)
            if not _gone_within(identity, self.grace_seconds):
                self.kill()
        self._reap()

    def kill(self) -> None:
        """Ends the program at once (SIGKILL), as a crash would."""
        identity = self.identity
        if identity is not None:
            identity.signal_group(signal.SIGKILL)
            _gone_within(identity, 10.0)
        self._reap()

    def log_tail(self, lines: int = 15) -> str:
        """The last lines of its log; empty when there is none."""
        return last_lines(self.log, lines)

    def _spawn(self) -> None:
        if self.tethered and threading.current_thread() is not threading.main_thread():
            # The kernel ties the child to the *thread* that started it.
            raise RuntimeError(f"{self.name}: start a tethered service from the main thread")
        self.folder.mkdir(parents=True, exist_ok=True)
        argv = [str(word) for word in self.argv()]
        if self.tethered:
            argv = [sys.executable, "-I", "-S", "-c", _TETHER, str(os.getpid()), *argv]
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **self.environment},
            )
        identity = ProcessIdentity.of(self._child.pid)
        if identity is not None:
            self.pid_file.write_text(f"{identity.pid} {identity.started_ticks}\n")

    def _reap(self) -> None:
        self.pid_file.unlink(missing_ok=True)
        if self._child is not None:
            self._child.wait()
            self._child = None

    def _log_end(self) -> str:
        return f"; the end of {self.log}:\n{self.log_tail()}"


def last_lines(path: Path, lines: int) -> str:
    """The last lines of a text file; empty when there is no file."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""


def wait_until(probe: Callable[[], bool], what: str, timeout_seconds: float = 180.0) -> None:
    """Returns as soon as the probe says yes; raises NotInTime, naming what was waited for."""
    deadline = time.monotonic() + timeout_seconds
    while not probe():
        if time.monotonic() > deadline:
            raise NotInTime(f"waited {timeout_seconds:g} s in vain for {what}")
        time.sleep(_POLL_SECONDS)


def free_port() -> int:
    """A TCP port of the loopback address that nobody listens on, and that was not given to anybody here before.

    Who was given one may not listen yet, or will listen again. Taken below the range from which the kernel serves
    outgoing connections: such a connection could otherwise hold the port at the moment a program is started, or started
    again, on it.
    """
    ceiling = int(_EPHEMERAL_RANGE.read_text().split()[0])
    candidates = range(_LOWEST_PORT, ceiling) if ceiling > _LOWEST_PORT + 1000 else range(_LOWEST_PORT, 65536)
    for _ in range(200):
        port = random.choice(candidates)
        if port in _ports_given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            _ports_given.add(port)
            return port
    raise ServiceFailed(f"no free port found between {candidates.start} and {candidates.stop}")


def answers(url: str, token: str | None = None, authority: Path | None = None) -> bool:
    """Whether a GET of the URL returns 200 within two seconds. `authority`: certificate to trust for https."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    # No proxy: what we start listens on this machine only, whatever the environment says about the world outside.
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if authority is not None:
        handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(authority))))
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=2.0) as response:
            return bool(response.status == 200)
    except (OSError, http.client.HTTPException):
        return False


def _gone_within(identity: ProcessIdentity, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while identity.is_alive():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS / 5)
    return True
