"""Asks the kubelet of this node which container holds which device: one gRPC call over its Unix socket.

gRPC's own library would take a third of the memory that the node role may have, for one call without arguments; it is
made over `h2` (extra `nvml`), which is loaded when it is first needed. Bounded in time and size.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from collector.parse.pod_resources import DeviceHolder, NotPodResources, device_holders
from collector.sources.network_words import network_words

_HEADERS: Final = (
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/v1.PodResourcesLister/List"),
    (":authority", "localhost"),
    ("content-type", "application/grpc"),
    ("te", "trailers"),
)
_NO_ARGUMENTS: Final = b"\x00\x00\x00\x00\x00"
_PREFIX_BYTES: Final = 5
"""Of each message: whether it is compressed, and its length."""
_LONGEST_SECONDS: Final = 3.0
_MOST_BYTES: Final = 16 * 1024 * 1024
_READ_BYTES: Final = 65_536


class PodResourcesMissing(Exception):
    """The kubelet can not be asked, or its answer is none; the text says why, and what to do."""


def read_device_holders(path: Path) -> tuple[DeviceHolder, ...]:
    """Every device that a container of this node holds now. Raises PodResourcesMissing."""
    try:
        connection = _h2()
    except ModuleNotFoundError:
        raise PodResourcesMissing("the Python package h2 is missing: install trimtab[nvml]") from None
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
            stream.settimeout(_LONGEST_SECONDS)
            stream.connect(str(path))
            answer = _Call(connection, stream).answer()
    except OSError as error:
        raise PodResourcesMissing(f"the kubelet at {path} does not answer: {network_words(error)}") from None
    return _holders(path, answer)


def _holders(path: Path, answer: bytes) -> tuple[DeviceHolder, ...]:
    size = int.from_bytes(answer[1:_PREFIX_BYTES], "big")
    if len(answer) != _PREFIX_BYTES + size or answer[0] != 0:
        raise PodResourcesMissing(f"the kubelet at {path} answered {len(answer)} bytes that are no message of gRPC")
    try:
        return device_holders(answer[_PREFIX_BYTES:])
    except NotPodResources as error:
        raise PodResourcesMissing(f"the answer of the kubelet at {path} is not understood: {error}") from None


def _h2() -> Any:
    config = import_module("h2.config").H2Configuration(client_side=True, header_encoding="utf-8")
    return import_module("h2.connection").H2Connection(config=config)


class _Call:
    """One call on a fresh connection."""

    def __init__(self, connection: Any, stream: socket.socket) -> None:
        self._connection, self._stream = connection, stream
        self._body, self._status, self._ended = bytearray(), "", False
        self._deadline = time.monotonic() + _LONGEST_SECONDS

    def answer(self) -> bytes:
        """The whole body. Raises OSError, PodResourcesMissing."""
        events, failed = import_module("h2.events"), import_module("h2.exceptions").ProtocolError
        try:
            self._connection.initiate_connection()
            number = self._connection.get_next_available_stream_id()
            self._connection.send_headers(number, _HEADERS)
            self._connection.send_data(number, _NO_ARGUMENTS, end_stream=True)
            while not self._ended:
                with suppress(BrokenPipeError):  # what it said before it went can still be read
                    self._stream.sendall(self._connection.data_to_send())
                for event in self._connection.receive_data(self._received()):
                    self._take(event, events)
        except failed as error:
            raise PodResourcesMissing(f"the kubelet speaks no HTTP/2: {error}") from None
        if self._status not in ("", "0"):
            raise PodResourcesMissing(f"the kubelet refuses (gRPC status {self._status}): {self._message}")
        return bytes(self._body)

    _message = ""

    def _received(self) -> bytes:
        if time.monotonic() > self._deadline:
            raise TimeoutError
        chunk = self._stream.recv(_READ_BYTES)
        if not chunk:
            raise ConnectionResetError("the connection was closed")
        return chunk

    def _take(self, event: Any, events: Any) -> None:
        if isinstance(event, events.DataReceived):
            self._body += event.data
            if len(self._body) > _MOST_BYTES:
                raise PodResourcesMissing(f"the kubelet's answer has more than {_MOST_BYTES} bytes")
            self._connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, (events.ResponseReceived, events.TrailersReceived)):
            headers = dict(event.headers)
            self._status = headers.get("grpc-status", self._status)
            self._message = headers.get("grpc-message", self._message)
        elif isinstance(event, (events.StreamEnded, events.StreamReset, events.ConnectionTerminated)):
            self._ended = True
