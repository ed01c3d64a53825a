"""Builds the Go parts once and keeps only their binaries in the user's cache. Starts nothing.

Every part has a lock: a build in the background and a test that needs the same part wait for each other.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from controller.demo.processes import last_lines
from tests.testbed.parts import GoPart
from tests.testbed.toolchain import Toolchain, find_toolchain, get_toolchain


class BuildFailed(RuntimeError):
    """A Go build failed; the message carries the end of its log."""


@dataclass(frozen=True)
class Built:
    """A part that is ready to run: its binaries, and the files of its module where it needs any."""

    binaries: Mapping[str, Path]
    files: Path

    def binary(self, name: str) -> Path:
        """Where a binary of the part is."""
        return self.binaries[name]


def cache_root(environment: Mapping[str, str] | None = None) -> Path:
    """The folder that keeps what was built: $XDG_CACHE_HOME (else ~/.cache) /trimtab-testbed."""
    variables = os.environ if environment is None else environment
    base = variables.get("XDG_CACHE_HOME") or Path(variables.get("HOME", "~")).expanduser() / ".cache"
    return Path(base) / "trimtab-testbed"


def cache_key(part: GoPart, go_release: str) -> str:
    """Names one build of a part: the part, its module version and the Go release that compiled it."""
    return f"{part.name}-{part.version}-{go_release}"


def get(part: GoPart) -> Built:
    """The part, ready to run: from PATH, the cache, or built now (minutes). Raises PartMissing or BuildFailed."""
    return find(part) or build(part)


def find(part: GoPart) -> Built | None:
    """The part if it is on this machine already, in the pinned version; None when it has to be built."""
    return _on_path(part) or _in_cache(part)


def build(part: GoPart) -> Built:
    """Builds the part into the cache, unless another process has done so by the time its lock is free."""
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root / f"{part.name}.lock"):
        existing = find(part)
        if existing is not None:
            return existing
        toolchain = get_toolchain(part.go_version)
        for abandoned in root.glob(f".building-{part.name}-*"):  # gigabytes of a build that was killed
            shutil.rmtree(abandoned, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=root, prefix=f".building-{part.name}-") as scratch:
            staged = Path(scratch) / "staged"
            _compile(part, toolchain, Path(scratch), staged, root / f"{part.name}.log")
            target = root / cache_key(part, toolchain.release)
            shutil.rmtree(target, ignore_errors=True)
            staged.rename(target)
        return _built(part, target)


def _compile(part: GoPart, toolchain: Toolchain, scratch: Path, staged: Path, log: Path) -> None:
    environment = {
        **os.environ,
        "GOPATH": str(scratch / "path"),
        "GOMODCACHE": str(scratch / "modules"),
        "GOCACHE": str(scratch / "cache"),
        "GOFLAGS": "-buildvcs=false -modcacherw",  # the module cache is thrown away afterwards, so it must be writable
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
    }
    (staged / "bin").mkdir(parents=True)
    with log.open("w") as output:

        def go(*arguments: str) -> str:
            command = [str(toolchain.go), *arguments]
            done = subprocess.run(
                command, cwd=part.recipe, env=environment, stdout=subprocess.PIPE, stderr=output, text=True, check=False
            )
            if done.returncode != 0:
                output.flush()
                raise BuildFailed(f"{part.name}: {' '.join(command)}\n{last_lines(log, 15)}\nlog: {log}")
            return done.stdout.strip()

        for name, package in part.binaries.items():
            go("build", "-trimpath", "-ldflags", part.linker_flags, "-o", str(staged / "bin" / name), package)
        copy_files(part, Path(go("list", "-m", "-f", "{{.Dir}}", part.module)), staged)


def copy_files(part: GoPart, module_folder: Path, staged: Path) -> None:
    """Copies the files that the part needs at run time out of its module; raises BuildFailed when one is not there."""
    for pattern in part.files:
        found = sorted(module_folder.glob(pattern))
        if not found:
            raise BuildFailed(f"{part.name}: {pattern} matches nothing in {module_folder}")
        for source in found:
            target = staged / "files" / source.relative_to(module_folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _on_path(part: GoPart) -> Built | None:
    """Only the pinned version counts, and only for parts that need nothing but their binaries."""
    if part.files:
        return None
    found = {name: Path(where) for name in part.binaries if (where := shutil.which(name)) is not None}
    if len(found) < len(part.binaries):
        return None
    for binary in found.values():
        answer = subprocess.run([binary, *part.version_arguments], capture_output=True, text=True, check=False)
        if part.version.removeprefix("v") not in answer.stdout:
            return None
    return Built(found, Path())


def _in_cache(part: GoPart) -> Built | None:
    toolchain = find_toolchain(part.go_version)
    # Without a toolchain nothing can be built anew, so a build by any release will do.
    key = cache_key(part, toolchain.release if toolchain else "*")
    complete = (folder for folder in sorted(cache_root().glob(key)) if _is_complete(part, folder))
    folder = next(complete, None)
    return _built(part, folder) if folder else None


def _is_complete(part: GoPart, folder: Path) -> bool:
    binaries = all((folder / "bin" / name).is_file() for name in part.binaries)
    return binaries and all(any((folder / "files").glob(pattern)) for pattern in part.files)


def _built(part: GoPart, folder: Path) -> Built:
    return Built({name: folder / "bin" / name for name in part.binaries}, folder / "files")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
