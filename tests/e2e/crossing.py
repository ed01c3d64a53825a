"""A crossing between a program and the real API server that can end the program at an exact request. A named fake.

It forwards every request unchanged and answers with what the server answers. Given a moment ("before" or "after" the
n-th write to a path), it kills the program there with SIGKILL: a crash between two writes, exact to the request.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import yaml


class Crossing:
    """Listens on a free loopback port; `kubeconfig` makes a program go through it."""

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self._server = urlsplit(cluster["server"])
        self._context = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._lock = threading.Lock()
        self._kill: Callable[[], None] = lambda: None
        self._when, self._path, self._left = "", "", 0
        self.killed = threading.Event()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.http.daemon_threads = True
        config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{self.http.server_port}"}
        self.kubeconfig = folder / "crossing.kubeconfig"
        self.kubeconfig.write_text(yaml.safe_dump(config))
        threading.Thread(target=self.http.serve_forever, name="crossing", daemon=True).start()

    def kill_at(self, when: str, path_end: str, kill: Callable[[], None], nth: int = 1) -> None:
        """Call `kill` "before" the n-th real write to a path with that end is sent, or "after" it was answered."""
        with self._lock:
            self._when, self._path, self._left, self._kill = when, path_end, nth, kill
            self.killed.clear()

    def close(self) -> None:
        """Stop listening."""
        self.http.shutdown()
        self.http.server_close()

    def reached(self, when: str, method: str, target: str) -> bool:
        """Kill when this is the moment; True then."""
        with self._lock:
            path = urlsplit(target).path
            if method not in ("PATCH", "PUT", "POST") or not path.endswith(self._path) or not self._path:
                return False
            if when != self._when or "dryRun" in target:
                return False
            self._left -= 1
            if self._left:
                return False
            self._path = ""
            self._kill()
            self.killed.set()
            return True

    def connection(self) -> HTTPConnection:
        """A new connection to the real server."""
        return HTTPSConnection(self._server.hostname or "", self._server.port, context=self._context, timeout=120)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        crossing = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _forward(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length) if length else None
                self.close_connection = True
                if crossing.reached("before", self.command, self.path):
                    return
                connection = crossing.connection()
                try:
                    headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                    connection.request(self.command, self.path, body, headers)
                    answer = connection.getresponse()
                    if crossing.reached("after", self.command, self.path):
                        return
                    self._answer(answer)
                except OSError:
                    return  # the program hung up, or the server went away: both see a broken connection
                finally:
                    connection.close()

            def _answer(self, answer: HTTPResponse) -> None:
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                while chunk := answer.read1(65536):
                    self.wfile.write(chunk)
                    self.wfile.flush()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _forward  # noqa: N815 - the names that http.server calls

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server uses
                """Say nothing: the programs have their own logs."""

        return Handler
