"""A FAKE of the kubelet's pod-resources API on a Unix socket: no kubelet is behind it. Speaks gRPC as that does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import StreamEnded

Held = tuple[str, str, str, str, tuple[str, ...]]
"""(namespace, pod, container, resource, devices)"""


def field(number: int, value: bytes | str) -> bytes:
    """A field of protobuf that holds bytes."""
    raw = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(raw)) + raw


def answer(held: Iterable[Held]) -> bytes:
    """A ListPodResourcesResponse."""
    message = b""
    for namespace, pod, container, resource, devices in held:
        inner = field(1, resource) + b"".join(field(2, device) for device in devices)
        topology = field(3, _varint(1 << 3) + _varint(0))
        cpus = field(3, b"\x00\x01")
        message += field(
            1, field(1, pod) + field(2, namespace) + field(3, field(1, container) + field(2, inner + topology) + cpus)
        )
    return message


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


class FakeKubelet:
    """Answers every call on its socket with the same message; a context manager."""

    def __init__(self, path: Path, held: Iterable[Held] = (), status: str = "0", body: bytes | None = None) -> None:
        message = answer(held)
        self._status, self._body = (
            status,
            body if body is not None else b"\x00" + len(message).to_bytes(4, "big") + message,
        )
        self.path, self._server = path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FakeKubelet:
        self._server.bind(str(self.path))
        self._server.listen()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                stream, _ = self._server.accept()
            except OSError:
                return  # it was closed
            with stream, suppress(BrokenPipeError, ConnectionResetError):  # callers go when they have their answer
                self._talk(stream)

    def _talk(self, stream: socket.socket) -> None:
        connection = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        stream.sendall(connection.data_to_send())
        left, number, whole = self._body, 0, False
        while chunk := stream.recv(65_536):  # until the caller has gone, as the kubelet does
            for event in connection.receive_data(chunk):
                if isinstance(event, StreamEnded):
                    number = event.stream_id
                    connection.send_headers(number, [(":status", "200"), ("content-type", "application/grpc")])
            if number and not whole:
                left = self._send(connection, number, left)
                whole = not left
            stream.sendall(connection.data_to_send())

    def _send(self, connection: H2Connection, number: int, left: bytes) -> bytes:
        """As much as the window of the caller allows."""
        while left and (
            size := min(len(left), connection.local_flow_control_window(number), connection.max_outbound_frame_size)
        ):
            connection.send_data(number, left[:size])
            left = left[size:]
        if not left:
            connection.send_headers(number, [("grpc-status", self._status), ("grpc-message", "why")], end_stream=True)
        return left
