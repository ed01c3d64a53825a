"""The door of a node's probes: for peers and people who have the token. Serves; decides nothing.

What is known of links is no secret, and is told to whoever may read the metrics.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from collector.exporter.node_probes import Answer, NodeProbes
from collector.sources.probe_peer import LINKS, RUN, SERVE

_MOST_BYTES: Final = 16 * 1024
_TOKEN: Final = Answer(401, {"message": "expected the shared token"})


def node_routes(
    probes: NodeProbes, run: Callable[[object], Answer], document: Callable[[], Mapping[str, Any]]
) -> Sequence[Route]:
    """Serve one run, run some now, tell all links."""

    async def serve(request: Request) -> Response:
        return await _guarded(request, probes, probes.serve)

    async def run_now(request: Request) -> Response:
        return await _guarded(request, probes, run)

    return (
        Route(SERVE, serve, methods=["POST"]),
        Route(RUN, run_now, methods=["POST"]),
        links_route(document),
    )


def links_route(document: Callable[[], Mapping[str, Any]]) -> Route:
    """Tells all links, made anew for each request."""

    def links(_: Request) -> Response:
        return JSONResponse(dict(document()))

    return Route(LINKS, links)


async def _guarded(request: Request, probes: NodeProbes, answer_to: Callable[[object], Answer]) -> Response:
    """Nothing of a body is read for whoever does not have the token."""
    answer = _TOKEN
    if probes.authorized(request.headers.get("authorization")):
        body = await _body(request)
        answer = Answer(400, {"message": "expected a small JSON object"})
        if isinstance(body, dict):
            answer = await run_in_threadpool(answer_to, body)
    return JSONResponse(dict(answer.document), status_code=answer.status)


async def _body(request: Request) -> object:
    """The decoded body; None for anything else, and for what is larger than it has a reason to be."""
    data = b""
    try:
        async for part in request.stream():
            data += part
            if len(data) > _MOST_BYTES:
                return None
        return json.loads(data)
    except (ClientDisconnect, ValueError, RecursionError):
        return None
