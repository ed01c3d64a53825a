"""A fake of the Kubernetes API server over plain HTTP, for answers that a real one does not give on demand.

Each path has a script of answers; the last is repeated. What was asked is kept. A real one is in tests/testbed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml


@dataclass(frozen=True)
class Answer:
    """One answer. `body` is sent in its parts, each as one chunk; a callable part is run instead (to wait)."""

    status: int = 200
    body: tuple[bytes | Callable[[], object], ...] = (b"{}",)
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_off: bool = False
    """End the connection where the answer should go on."""
    token: str | None = None
    """Answer 401 to whoever brings another token."""


@dataclass(frozen=True)
class Asked:
    """One request that came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


class FakeApiServer:
    """The scripts, and what was asked so far."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.scripts: dict[str, list[Answer]] = {}
        self.asked: list[Asked] = []
        self.over = threading.Event()
        """Set when the test is over: who waits in an answer waits for it."""

    def next_answer(self, asked: Asked) -> Answer:
        """Takes note, and picks the answer."""
        self.asked.append(asked)
        script = self.scripts.get(asked.path, [status(404)])
        answer = script.pop(0) if len(script) > 1 else script[0]
        if answer.token is not None and asked.headers.get("Authorization") != f"Bearer {answer.token}":
            return status(401)
        return answer

    def kubeconfig(self, folder: Path, **user: object) -> Path:
        """A kubeconfig that leads here."""
        path = folder / "kubeconfig"
        path.write_text(
            yaml.safe_dump(
                {
                    "clusters": [{"name": "fake", "cluster": {"server": self.url}}],
                    "users": [{"name": "me", "user": user}],
                    "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "me"}}],
                    "current-context": "fake",
                }
            )
        )
        return path


def status(code: int, message: str = "no", **headers: str) -> Answer:
    """A refusal as the API server words it."""
    body = json.dumps({"kind": "Status", "code": code, "message": message, "reason": f"Reason{code}"}).encode()
    return Answer(code, (body,), {name.replace("_", "-"): value for name, value in headers.items()})


def document(value: Any) -> Answer:
    """A success with a JSON body."""
    return Answer(body=(json.dumps(value).encode(),))


@contextmanager
def fake_api_server() -> Iterator[FakeApiServer]:
    """A running fake on a free port."""
    server = _Server(("127.0.0.1", 0), _Handler)
    fake = FakeApiServer(server.server_address[1])
    _Handler.fakes[server] = fake
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        fake.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
        del _Handler.fakes[server]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: clients that go away in the middle are what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fakes: dict[Any, FakeApiServer] = {}  # noqa: RUF012  # one per running server

    def do_GET(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is the base class's
        """Stay silent."""

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = self.fakes[self.server].next_answer(Asked(self.command, parts.path, query, dict(self.headers), body))
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for part in answer.body:
                if isinstance(part, bytes):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                    self.wfile.flush()
                else:
                    part()
            if answer.cut_off:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
