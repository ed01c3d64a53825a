"""Two hosts and one slow link between them, as one process: both network namespaces and the link end with it.

Each host is a network namespace without a name, with a TAP device on 10.99.1.0/24. This process carries the frames
from one device to the other, as a link of a stated rate, delay and buffer would; all three may change while it runs.
Runs as a program of its own, as root; tests use it through `ucx.py`.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import select
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

DEVICE = "link0"
ADDRESSES = {"left": "10.99.1.1", "right": "10.99.1.2"}
_PREFIX_LENGTH = 24

_CLONE_NEWNET = 0x40000000
_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_LARGEST_FRAME = 65536
_FRAMES_PER_TURN = 64
_LOOK_AT_TERMS_SECONDS = 0.05


@dataclass(frozen=True)
class LinkTerms:
    """What the link is like, each way. A frame that would wait longer than the buffer holds is dropped."""

    delay_seconds: float = 0.0
    bits_per_second: float = 1e9
    buffer_seconds: float = 0.02

    @classmethod
    def read(cls, file: Path) -> LinkTerms:
        """The terms in a file; raises OSError or ValueError."""
        return cls(**json.loads(file.read_text()))

    def write(self, file: Path) -> None:
        """Replaces the file in one step: the reader never sees half of it."""
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self)))
        draft.replace(file)


@dataclass
class Way:
    """One direction: frames leave one after the other at the link's rate, and arrive in the order they left."""

    source: int
    destination: int
    _under_way: deque[tuple[float, bytes]] = field(default_factory=deque)
    _free_at: float = 0.0
    _last_arrival_at: float = 0.0

    def accept(self, frame: bytes, terms: LinkTerms, now: float) -> bool:
        """Puts a frame on its way; False when the buffer is full."""
        starts_at = max(now, self._free_at)
        if starts_at - now > terms.buffer_seconds:
            return False
        self._free_at = starts_at + 8 * len(frame) / terms.bits_per_second
        self._last_arrival_at = max(self._last_arrival_at, self._free_at + terms.delay_seconds)
        self._under_way.append((self._last_arrival_at, frame))
        return True

    def arrived(self, now: float) -> Iterator[bytes]:
        """The frames that are there, each once."""
        while self._under_way and self._under_way[0][0] <= now:
            yield self._under_way.popleft()[1]

    @property
    def next_arrival_at(self) -> float | None:
        """When the next frame is there; None when none is under way."""
        return self._under_way[0][0] if self._under_way else None


class Hosts:
    """Makes the two namespaces, and keeps them open by file descriptor."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._home = os.open("/proc/self/ns/net", os.O_RDONLY)

    def make(self, address: str) -> tuple[int, int]:
        """A new namespace with its end of the link. Returns the descriptors of the namespace and of the device."""
        with self._returning_home():
            self._check(self._libc.unshare(_CLONE_NEWNET), "a network namespace can not be made")
            namespace = os.open("/proc/self/ns/net", os.O_RDONLY)
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH", DEVICE.encode(), _IFF_TAP | _IFF_NO_PI))
            _ip("link", "set", "lo", "up")
            _ip("addr", "add", f"{address}/{_PREFIX_LENGTH}", "dev", DEVICE)
            _ip("link", "set", DEVICE, "up")
        return namespace, device

    @contextmanager
    def _returning_home(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._check(self._libc.setns(self._home, _CLONE_NEWNET), "the way back home failed")

    def _check(self, result: int, what: str) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), what)


def carry(ways: tuple[Way, Way], terms: Callable[[], LinkTerms]) -> None:
    """Carries frames until the process is ended."""
    by_source = {way.source: way for way in ways}
    while True:
        now = time.monotonic()
        for way in ways:
            for frame in way.arrived(now):
                write_frame(way.destination, frame)
        ready, _, _ = select.select(list(by_source), [], [], _patience(ways))
        in_force = terms()
        for source in ready:
            for frame in frames_of(source):
                by_source[source].accept(frame, in_force, time.monotonic())


def _patience(ways: tuple[Way, Way]) -> float:
    arrivals = [at for way in ways if (at := way.next_arrival_at) is not None]
    until_next = min(arrivals) - time.monotonic() if arrivals else _LOOK_AT_TERMS_SECONDS
    return max(0.0, min(until_next, _LOOK_AT_TERMS_SECONDS))


def frames_of(device: int) -> Iterator[bytes]:
    """What a host has sent, a few frames at most."""
    for _ in range(_FRAMES_PER_TURN):
        try:
            yield os.read(device, _LARGEST_FRAME)
        except BlockingIOError:
            return


def write_frame(device: int, frame: bytes) -> None:
    """Hands a frame to a host."""
    try:
        os.write(device, frame)
    except BlockingIOError:
        return  # the host does not keep up: it loses the frame, as on any network


class _Terms:
    """The terms in the file, looked at now and then; a file that can not be read leaves the last ones in force."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._terms = LinkTerms.read(file)
        self._looked_at = time.monotonic()

    def __call__(self) -> LinkTerms:
        now = time.monotonic()
        if now - self._looked_at > _LOOK_AT_TERMS_SECONDS:
            self._looked_at = now
            try:
                self._terms = LinkTerms.read(self._file)
            except (OSError, ValueError, TypeError) as problem:
                print(f"{self._file}: {problem}", file=sys.stderr)
        return self._terms


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def main() -> None:
    """Makes the hosts, says in a file how to enter them, and carries their frames."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--terms", type=Path, required=True, help="JSON file with the terms of the link")
    parser.add_argument("--hosts", type=Path, required=True, help="JSON file to write: name → path of the namespace")
    options = parser.parse_args()
    terms = _Terms(options.terms)
    hosts = Hosts()
    made = {name: hosts.make(address) for name, address in ADDRESSES.items()}
    paths = {name: f"/proc/{os.getpid()}/fd/{namespace}" for name, (namespace, _) in made.items()}
    draft = options.hosts.with_suffix(".new")
    draft.write_text(json.dumps(paths))
    draft.replace(options.hosts)
    left, right = (device for _, device in made.values())
    carry((Way(left, right), Way(right, left)), terms)


if __name__ == "__main__":
    main()
