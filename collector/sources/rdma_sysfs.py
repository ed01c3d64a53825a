"""Reads the files of RDMA ports below a folder laid out as /sys/class/infiniband. Judges none of them.

Whatever file or folder can not be read becomes one `RdmaFile` with its problem; all others are read none the less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from collector.parse.rdma_files import RdmaFile

_PORT_FILES: Final = ("link_layer", "state", "phys_state", "rate")
_COUNTER_FOLDERS: Final = ("counters", "hw_counters")
_LARGEST_BYTES: Final = 4096
_PLACES: Final = ("", "class/infiniband", "sys/class/infiniband", "infiniband")
_DEEPEST: Final = 4
_PCI: Final = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_FIRST_GIDS: Final = 16
"""A port has hundreds of places for GIDs; those in use come first, and each is a file."""


def read_rdma_files(folder: Path) -> tuple[RdmaFile, ...]:
    """Every counter and state of every port below; empty where no RDMA device is. Raises OSError for no folder."""
    if (folder / "ports").is_dir():
        return tuple(_device(folder))
    devices = _devices_below(folder)
    return tuple(one for device in devices for one in _device(device))


def pci_addresses(folder: Path) -> dict[str, str]:
    """PCI address → RDMA device, of those below a folder such as /sys/class/infiniband that stand on that bus."""
    found = {}
    for device in _children(folder):
        place = (device / "device").resolve().name
        if _PCI.fullmatch(place):
            found[place] = device.name
    return found


def _devices_below(folder: Path) -> list[Path]:
    next(folder.iterdir(), None)  # raises where there is nothing to look into
    for place in _PLACES:
        found = _devices_in(folder / place)
        if found:
            return found
    # A copy of such a tree lies under any name.
    level = [folder]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in _children(parent) if not child.is_symlink()]
        found = [device for parent in level for device in _devices_in(parent)]
        if found:
            return found
    return []


def _devices_in(folder: Path) -> list[Path]:
    return [child for child in _children(folder) if (child / "ports").is_dir()]


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if child.is_dir())
    except OSError:
        return []


def _device(device: Path) -> Iterator[RdmaFile]:
    for port in sorted((device / "ports").iterdir(), key=lambda path: (len(path.name), path.name)):
        if port.is_dir():
            yield from _port(device.name, port)
    yield from _counters(device.name, "", device / "hw_counters")


def _port(device: str, port: Path) -> Iterator[RdmaFile]:
    for name in _PORT_FILES:
        if (port / name).exists():
            yield _file(device, port.name, port / name, is_counter=False)
    yield from _settings(device, port)
    for name in _COUNTER_FOLDERS:
        yield from _counters(device, port.name, port / name)


def _settings(device: str, port: Path) -> Iterator[RdmaFile]:
    """Traffic class, the kinds of its GIDs as one text, and the MTU of its interface, where the driver shows them."""
    root = port.parent.parent
    traffic_class = root / "tc" / port.name / "traffic_class"
    if traffic_class.exists():
        yield _file(device, port.name, traffic_class, is_counter=False)
    if (port / "gids").is_dir():
        used = (n for n in range(_FIRST_GIDS) if _text(port / "gids" / str(n)).strip("0:\n "))
        kinds = (_text(port / "gid_attrs" / "types" / str(n)).strip() for n in used)
        yield RdmaFile(device, port.name, "gids", "\n".join(("kinds:", *kinds)))
    for interface in _children(root / "device" / "net"):
        # Ports are counted from 1, and from 0 where they belong to an interface.
        number = _text(interface / "dev_port").strip() or "0"
        if number.isdecimal() and str(int(number) + 1) == port.name and (interface / "mtu").exists():
            yield _file(device, port.name, interface / "mtu", is_counter=False)


def _text(path: Path) -> str:
    """What stands in a file of settings; nothing where it can not be read, as at a GID that is not used."""
    read = _file("", "", path, is_counter=False)
    return read.text


def _counters(device: str, port: str, folder: Path) -> Iterator[RdmaFile]:
    try:
        files = sorted(path for path in folder.iterdir() if not path.is_dir())
    except FileNotFoundError:
        return  # a link that is no InfiniBand has fewer
    except OSError as error:
        yield RdmaFile(device, port, folder.name, problem=_problem(error), is_counter=True)
        return
    for path in files:
        yield _file(device, port, path, is_counter=True)


def _file(device: str, port: str, path: Path, *, is_counter: bool) -> RdmaFile:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST_BYTES).decode(errors="replace")
    except OSError as error:
        return RdmaFile(device, port, path.name, problem=_problem(error), is_counter=is_counter)
    return RdmaFile(device, port, path.name, text, is_counter=is_counter)


def _problem(error: OSError) -> str:
    return "no right to read it" if isinstance(error, PermissionError) else "the driver does not show it"
