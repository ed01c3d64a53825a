"""Reads what `ethtool -S` reads, of the interfaces of RDMA devices, by the same three calls of the kernel. Judges none.

By ioctl and not by a library or the program: per-priority counters of drivers stand in no netlink message, ethtool
prints them as JSON in few versions and would be a process per interface, and pyroute2 takes 26 MB of memory where the
whole program may take 60. The calls need no rights, but the network namespace of the node.
"""

from __future__ import annotations

import array
import errno
import fcntl
import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from collector.parse.interface_counters import InterfaceCounters

_SIOCETHTOOL: Final = 0x8946
_GET_STRINGS: Final = 0x1B
_GET_STATISTICS: Final = 0x1D
_GET_STRING_COUNT: Final = 0x37
_SET_OF_STATISTICS: Final = 1
_STRING_BYTES: Final = 32
_NAME_BYTES: Final = 16
_MOST_COUNTERS: Final = 100_000


def read_interface_counters(rdma_folder: Path) -> tuple[InterfaceCounters, ...]:
    """The counters of each interface of each device below a folder such as /sys/class/infiniband; a bad one alone."""
    return tuple(
        _of_interface(device.name, interface.name)
        for device in sorted(_children(rdma_folder))
        for interface in sorted(_children(device / "device" / "net"))
    )


def interface_counters(interface: str) -> Mapping[str, int]:
    """Name → count, as the driver tells them. Raises OSError for no such interface, or a driver without counters."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        answer = _ask(asked, interface, struct.pack("=IIQI", _GET_STRING_COUNT, 0, 1 << _SET_OF_STATISTICS, 0))
        mask, count = struct.unpack_from("=QI", answer, 8)
        if not mask or not 0 < count <= _MOST_COUNTERS:
            raise OSError(errno.EOPNOTSUPP, "no counters")
        texts = struct.pack("=III", _GET_STRINGS, _SET_OF_STATISTICS, count) + bytes(_STRING_BYTES * count)
        # Names and values are two calls: a driver that was set up anew in between is read by the next round.
        names = _ask(asked, interface, texts)[12:]
        values = _ask(asked, interface, struct.pack("=II", _GET_STATISTICS, count) + bytes(8 * count))
    return {
        _text(names[place * _STRING_BYTES : (place + 1) * _STRING_BYTES]): value
        for place, (value,) in enumerate(struct.iter_unpack("=Q", values[8 : 8 + 8 * count]))
    }


def _of_interface(device: str, interface: str) -> InterfaceCounters:
    try:
        return InterfaceCounters(device, interface, interface_counters(interface))
    except OSError as error:
        return InterfaceCounters(device, interface, problem=_problem(error))


def _ask(asked: socket.socket, interface: str, request: bytes) -> bytes:
    buffer = array.array("B", request)
    name = interface.encode()[: _NAME_BYTES - 1]
    fcntl.ioctl(asked, _SIOCETHTOOL, struct.pack(f"{_NAME_BYTES}sP16x", name, buffer.buffer_info()[0]))
    return buffer.tobytes()


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode(errors="replace").strip()


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _problem(error: OSError) -> str:
    if error.errno == errno.ENODEV:
        return "it is not in this network namespace: the collector needs that of the node"
    if error.errno == errno.EOPNOTSUPP:
        return "its driver counts nothing"
    return "no right to ask" if isinstance(error, PermissionError) else "its driver does not answer"
