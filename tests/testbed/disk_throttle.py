"""Makes the disk slow for one process: the block device below a folder, limited by cgroup v1 (blkio) or v2 (io.max).

Touches only cgroups of its own, named after the process; needs root and a file system that lies on a block device.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from controller.demo.processes import ProcessIdentity

_GROUP = "trimtab-testbed-"
_MOUNTS = Path("/proc/self/mounts")
_MOUNT_INFO = Path("/proc/self/mountinfo")
_DEVICES = Path("/sys/dev/block")


class NoThrottle(RuntimeError):
    """This machine can not slow a disk for one process; the message says what is in the way."""


@dataclass(frozen=True)
class Controller:
    """Where the limits of block devices stand, and how they are written."""

    root: Path
    limit_file: str
    limit: str
    """With {device} and {iops}."""
    no_limit: str


def throttle_writes(pid: int, folder: Path, iops: int) -> None:
    """Lets the process write to the disk below `folder` so many times a second, until `unthrottle`.

    Only writes that bypass the page cache are surely slowed. Raises NoThrottle.
    """
    controller, device = find_controller(), device_below(folder)
    _remove_groups_of_the_dead(controller)
    group = controller.root / f"{_GROUP}{pid}"
    try:
        group.mkdir(exist_ok=True)
        (group / "cgroup.procs").write_text(str(pid))
        (group / controller.limit_file).write_text(controller.limit.format(device=device, iops=iops))
    except OSError as error:
        raise NoThrottle(f"{group}, device {device}: {error.strerror}") from error


def unthrottle(pid: int, folder: Path) -> None:
    """Takes the limit away and puts the process, if it still lives, back among its peers."""
    controller = find_controller()
    group = controller.root / f"{_GROUP}{pid}"
    if not group.exists():
        return
    (group / controller.limit_file).write_text(controller.no_limit.format(device=device_below(folder)))
    with suppress(ProcessLookupError):
        (_home_of(controller) / "cgroup.procs").write_text(str(pid))
    group.rmdir()


def find_controller(table: Path = _MOUNTS) -> Controller:
    """The hierarchy that limits block devices on this machine: v1 where it is mounted, else v2. Raises NoThrottle."""
    mounts = [line.split() for line in table.read_text().splitlines()]
    for _, where, kind, options, *_ in mounts:
        if kind == "cgroup" and "blkio" in options.split(","):
            return Controller(Path(where), "blkio.throttle.write_iops_device", "{device} {iops}", "{device} 0")
    for _, where, kind, *_ in mounts:
        root = Path(where)
        if kind == "cgroup2" and "io" in (root / "cgroup.controllers").read_text().split():
            try:
                (root / "cgroup.subtree_control").write_text("+io")
            except OSError as error:
                raise NoThrottle(f"{root}: the io controller can not be used: {error.strerror}") from error
            return Controller(root, "io.max", "{device} wiops={iops}", "{device} wiops=max")
    raise NoThrottle("no cgroup hierarchy with blkio (v1) or io (v2) is mounted")


def device_below(folder: Path) -> str:
    """The whole disk, as major:minor, on which the folder lies. Raises NoThrottle for tmpfs, network and the like."""
    number = folder.stat().st_dev
    if os.major(number) == 0:  # a file system with numbers of its own, such as btrfs: ask where it was mounted from
        number = _mounted_device(folder)
    entry = _DEVICES / f"{os.major(number)}:{os.minor(number)}"
    if not entry.exists():
        raise NoThrottle(f"{folder} lies on no block device that is known here; set TMPDIR to a place on a disk")
    if (entry / "partition").exists():
        return (entry.resolve().parent / "dev").read_text().strip()
    return entry.name


def _mounted_device(folder: Path) -> int:
    """st_rdev of the source that the mount of the folder names; 0 when that is no device."""
    best, found = -1, 0
    for line in _MOUNT_INFO.read_text().splitlines():
        left, _, right = line.partition(" - ")
        where, source = Path(left.split()[4]), Path(right.split()[1])
        if folder.resolve().is_relative_to(where) and len(where.parts) > best:
            best, found = len(where.parts), source.stat().st_rdev if source.is_block_device() else 0
    return found


def _home_of(controller: Controller) -> Path:
    """Our own group in that hierarchy, which is where the processes that we start begin."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, names, path = line.split(":", 2)
        if ("blkio" in names.split(",")) if controller.limit_file.startswith("blkio") else number == "0":
            return controller.root / path.lstrip("/")
    return controller.root


def _remove_groups_of_the_dead(controller: Controller) -> None:
    for group in _groups(controller):
        if ProcessIdentity.of(int(group.name.removeprefix(_GROUP))) is None:
            with suppress(OSError):  # somebody else was quicker
                group.rmdir()


def _groups(controller: Controller) -> Iterator[Path]:
    return (group for group in controller.root.glob(f"{_GROUP}*") if group.name.removeprefix(_GROUP).isdecimal())
