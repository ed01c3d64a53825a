"""A named fake: exporters that misbehave, one per path, on a loopback port. Not a test of its own."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD_TEXT = "# TYPE up gauge\nup 1\n"


class BadExporters(BaseHTTPRequestHandler):
    """Each path is one way in which a target goes wrong; /good is the one that does not."""

    protocol_version = "HTTP/1.1"
    released = threading.Event()
    """Set at the end: what hangs lets go."""

    def do_GET(self) -> None:
        """Answers as the path says."""
        try:
            BEHAVIOURS[self.path](self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""

    def send(self, body: bytes, status: int = 200, length: int | None = None, **headers: str) -> None:
        """One answer. A `length` that differs from the body's is a lie, and the connection closes after it."""
        self.send_response(status)
        for name, value in {"Content_Type": "text/plain; version=0.0.4", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = length is not None

    def without_length(self, body: bytes) -> None:
        """An answer that ends where the connection ends."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def chunked(self, *chunks: bytes, finished: bool = True) -> None:
        """An answer in chunks, with or without its last one."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if finished:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = not finished

    def no_http(self) -> None:
        """Speaks another protocol, and to the terminal."""
        self.wfile.write(b"\x16\x03\x01\x1b[2J\r\n\r\n")
        self.close_connection = True

    def hang(self) -> None:
        """Takes the request and never answers."""
        self.released.wait(60)
        self.close_connection = True

    def drip(self, prefix: bytes) -> None:
        """Sends a byte every now and then, for ever."""
        self.wfile.write(prefix)
        while not self.released.wait(0.05):
            self.wfile.write(b"x")
            self.wfile.flush()
        self.close_connection = True

    def endless(self) -> None:
        """Sends lines without end."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        block = b"up 1\n" * 20_000
        while not self.released.is_set():
            self.wfile.write(block)


_STATUS = b"HTTP/1.1 200 OK\r\n"
BEHAVIOURS: dict[str, Callable[[BadExporters], None]] = {
    "/good": lambda it: it.send(GOOD_TEXT.encode()),
    "/good-gzip": lambda it: it.send(gzip.compress(GOOD_TEXT.encode()), Content_Encoding="gzip"),
    "/good-chunked": lambda it: it.chunked(b"# TYPE up gauge\nu", b"p 1\n"),
    "/good-without-type": lambda it: it.without_length(GOOD_TEXT.encode()),
    "/cut-off-length": lambda it: it.send(b"up 1\n", length=500),
    "/cut-off-line": lambda it: it.without_length(b"# TYPE up gauge\nup{a="),
    "/cut-off-chunks": lambda it: it.chunked(b"up 1\n", finished=False),
    "/cut-off-gzip": lambda it: it.send(gzip.compress(GOOD_TEXT.encode())[:-12], length=500, Content_Encoding="gzip"),
    "/not-gzip": lambda it: it.send(GOOD_TEXT.encode(), Content_Encoding="gzip"),
    "/huge": BadExporters.endless,
    "/bomb": lambda it: it.send(gzip.compress(b"up 1\n" * 2_000_000, 1), Content_Encoding="gzip"),
    "/html": lambda it: it.send(b"<html>sign in</html>\n", Content_Type="text/html"),
    "/html-as-text": lambda it: it.send(b"\n<!DOCTYPE html><html></html>\n"),
    "/json": lambda it: it.send(b"{}\n", Content_Type="application/json"),
    "/binary": lambda it: it.send(b"\x89PNG\r\n\x1a\n\n"),
    "/nul": lambda it: it.send(b"up 1\n\0\0\0\n"),
    "/empty": lambda it: it.send(b""),
    "/500": lambda it: it.send(b"collector panicked\n", status=500),
    "/404": lambda it: it.send(b"not here\n", status=404),
    "/redirect": lambda it: it.send(b"\n", status=302, Location="/good"),
    "/hang": BadExporters.hang,
    "/drip-headers": lambda it: it.drip(_STATUS + b"X-Slow: "),
    "/drip-body": lambda it: it.drip(_STATUS + b"Content-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n"),
    "/hang-up": lambda it: setattr(it, "close_connection", True),
    "/no-http": BadExporters.no_http,
}


class _Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Silent: a caller that hangs up is what some tests are about, and the others read what is said on stderr."""


@contextmanager
def bad_exporters() -> Iterator[str]:
    """The address of a running server, such as http://127.0.0.1:18080."""
    server = _Server(("127.0.0.1", 0), BadExporters)
    BadExporters.released.clear()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        BadExporters.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
