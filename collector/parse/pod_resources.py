"""What the kubelet's pod-resources API answers: which container holds which device. Pure: bytes in, values out.

The message is protobuf (`v1.ListPodResourcesResponse`); three nested messages of strings need no library for it. Fields
that are not asked about (CPUs, memory, topology, claims) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

_VARINT: Final = 0
_FIXED64: Final = 1
_BYTES: Final = 2
_FIXED32: Final = 5
_FIXED_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}
_LONGEST_VARINT: Final = 10

_Fields: TypeAlias = Iterator[tuple[int, bytes]]


class NotPodResources(ValueError):
    """The bytes are no such message; the text says where and why."""


@dataclass(frozen=True, slots=True)
class DeviceHolder:
    """One device in the hands of one container."""

    device: str
    """As the device plugin calls it: GPU-…, MIG-…, with ::N for a share of its time."""
    resource: str
    namespace: str
    pod: str
    container: str


def device_holders(message: bytes) -> tuple[DeviceHolder, ...]:
    """All devices of all containers. Raises NotPodResources."""
    return tuple(holder for number, pod in _fields(message) if number == 1 for holder in _of_pod(pod))


def _of_pod(message: bytes) -> Iterator[DeviceHolder]:
    fields = list(_fields(message))
    pod, namespace = _text(fields, 1), _text(fields, 2)
    for container in (value for number, value in fields if number == 3):
        inner = list(_fields(container))
        for devices in (list(_fields(value)) for number, value in inner if number == 2):
            for device in (value for number, value in devices if number == 2):
                yield DeviceHolder(_decoded(device), _text(devices, 1), namespace, pod, _text(inner, 1))


def _text(fields: list[tuple[int, bytes]], wanted: int) -> str:
    return next((_decoded(value) for number, value in fields if number == wanted), "")


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise NotPodResources(f"a name is not in UTF-8: {error.reason}") from None


def _fields(message: bytes) -> _Fields:
    """(number, value) of each field that holds bytes; the others are passed over."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            _, place = _varint(message, place)
        elif kind in _FIXED_SIZES:
            place += _FIXED_SIZES[kind]
        elif kind == _BYTES:
            size, place = _varint(message, place)
            if place + size > len(message):
                raise NotPodResources(f"field {number} at byte {place} is cut off")
            yield number, message[place : place + size]
            place += size
        else:
            raise NotPodResources(f"field {number} at byte {place} is of kind {kind}, which does not exist")
    if place > len(message):
        raise NotPodResources("the last field is cut off")


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for number, byte in enumerate(message[place : place + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            return value, place + number + 1
    raise NotPodResources(f"a number at byte {place} has no end")
