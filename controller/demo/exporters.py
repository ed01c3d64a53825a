"""Serves the exporters' texts of the live cluster on one loopback port: /gpu, /ceph and /rdma, each with its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

_CONTENT_TYPE = "text/plain; version=0.0.4"


def exporters_app(pages: Mapping[str, Callable[[], str]]) -> Starlette:
    """One route per page: name → its text at this moment."""
    return Starlette(routes=[Route(f"/{name}/metrics", _endpoint(text)) for name, text in pages.items()])


def _endpoint(text: Callable[[], str]) -> Callable[[Request], Response]:
    # A plain function: it runs in a thread pool and may wait for the cluster's lock.
    def page(_: Request) -> Response:
        return PlainTextResponse(text(), media_type=_CONTENT_TYPE)

    return page
