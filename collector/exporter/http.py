"""Serves /metrics, /healthz and /readyz in a thread of its own. Knows nothing of what the families mean.

The address is bound before the server starts, so that a port in use is an error at once and not a line in a log.
"""

from __future__ import annotations

import errno
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import uvicorn
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from collector.exporter.prompt_protocol import PromptProtocol

_TROUBLES = {
    errno.EADDRINUSE: "something listens there already",
    errno.EADDRNOTAVAIL: "this machine has no such address",
    errno.EACCES: "this user may not listen there",
}
_START_SECONDS = 10.0
_DRAIN_SECONDS = 3


class ListenError(Exception):
    """The address can not be listened on."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Port 0: any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """ "127.0.0.1:9108", "[::1]:9108" or ":9108" for all addresses. Raises ValueError that names the text."""
        host, colon, port = text.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535 or (":" in host and not bracketed):
            raise ValueError(f"{text!r} is not an address such as 127.0.0.1:9108, [::1]:9108 or :9108")
        return cls(host.strip("[]"), int(port))


def metrics_app(
    registry: CollectorRegistry,
    is_ready: Callable[[], bool],
    waits_for: str = "no picture of the cluster yet",
    more: Sequence[Route] = (),
) -> Starlette:
    """The application: /healthz says that the process answers, /readyz that there is something to scrape."""

    # Plain functions run in a thread pool: a large rendering does not hold up the health checks.
    def metrics(_: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    def readyz(_: Request) -> Response:
        ready = is_ready()
        return PlainTextResponse("ok\n" if ready else f"{waits_for}\n", 200 if ready else 503)

    routes = [Route("/metrics", metrics), Route("/healthz", healthz), Route("/readyz", readyz), *more]
    return Starlette(routes=routes, middleware=[Middleware(GZipMiddleware, minimum_size=1024, compresslevel=1)])


def check_free(address: Address) -> None:
    """Take the address and leave it again, before anything is started that would need it. Raises ListenError."""
    _bound(address).close()


def _bound(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=128)
    except (OSError, UnicodeError) as error:
        # Names that can not be looked up come with numbers of their own kind, or as a failure to spell them.
        unknown = f"no machine is known as {address.host}"
        raise ListenError(_TROUBLES.get(getattr(error, "errno", None) or 0, unknown)) from error


class HttpServer:
    """One application on one address: `start`, then `stop`."""

    def __init__(self, app: Starlette, address: Address) -> None:
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                http=PromptProtocol,
                limit_concurrency=64,
                timeout_keep_alive=75,  # longer than any usual scrape interval: the connection stays
                timeout_graceful_shutdown=_DRAIN_SECONDS,
                server_header=False,
            )
        )
        self._address = address
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._socket.getsockname()[1]) if self._socket is not None else self._address.port

    def start(self) -> None:
        """Bind and serve; returns once it answers. Raises ListenError."""
        self._socket = bound = _bound(self._address)
        self._thread = threading.Thread(target=self._server.run, args=([bound],), name="metrics", daemon=True)
        self._thread.start()
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise ListenError(f"the server on {self._address} did not start")
            time.sleep(0.01)

    def stop(self) -> None:
        """Answer what is under way, then end; at most a few seconds."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(_DRAIN_SECONDS + 2)
        if self._socket is not None:
            self._socket.close()
