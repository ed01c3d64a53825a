"""The controller's door: webhook, status page, status for scripts, metrics, health. Serves; decides nothing."""

from __future__ import annotations

from collections.abc import Callable

from jinja2 import Environment, PackageLoader
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from controller.runtime.bars import bars
from controller.runtime.doorbell import LARGEST_BODY_BYTES, Doorbell
from controller.runtime.metrics import ControllerCollector
from controller.runtime.status import StatusBoard


def application(board: StatusBoard, doorbell: Doorbell, ready: Callable[[], bool]) -> Starlette:
    """The web application over the living board and doorbell."""
    registry = CollectorRegistry()
    registry.register(ControllerCollector(board, doorbell))
    page = Environment(loader=PackageLoader("controller.runtime"), autoescape=True).get_template("status.html")

    async def alerts(request: Request) -> Response:
        authorization = request.headers.get("authorization")
        body = await _bounded_body(request) if doorbell.authorized(authorization) else b""
        answer = doorbell.post(authorization, body)
        return JSONResponse(dict(answer.body), status_code=answer.status)

    async def status(request: Request) -> Response:
        return JSONResponse(board.document())

    async def home(request: Request) -> Response:
        document = board.document()
        drawn = bars(document.get("tenants", ()))
        return HTMLResponse(await run_in_threadpool(page.render, status=document, bars=drawn))

    async def metrics(request: Request) -> Response:
        return Response(await run_in_threadpool(generate_latest, registry), media_type=CONTENT_TYPE_LATEST)

    async def healthy(request: Request) -> Response:
        return PlainTextResponse("ok")

    async def is_ready(request: Request) -> Response:
        return PlainTextResponse("ok") if ready() else PlainTextResponse("no tick yet", status_code=503)

    return Starlette(
        routes=[
            Route("/", home),
            Route("/alerts", alerts, methods=["POST"]),
            Route("/status", status),
            Route("/metrics", metrics),
            Route("/healthz", healthy),
            Route("/readyz", is_ready),
        ]
    )


async def _bounded_body(request: Request) -> bytes:
    """The body, or one byte more than is allowed of it: enough to be refused. Nothing when it did not come whole."""
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            parts.append(part)
            size += len(part)
            if size > LARGEST_BODY_BYTES:
                break
    except ClientDisconnect:
        return b""
    return b"".join(parts)[: LARGEST_BODY_BYTES + 1]
