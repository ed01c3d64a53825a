"""Lists in pages: the server makes the next page while this one is looked at. How to ask for one is a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import orjson

from collector.sources.errors import Malformed
from collector.sources.kubernetes_port import Decode, JsonObject, Page

_HEAD_BYTES: Final = 4096
_ITEMS: Final = b'"items":['


def pages(read: Callable[[str], bytes], path: str, decode: Decode | None = None) -> Iterator[Page]:
    """The pages of the list at `path`. `read` takes the continuation ("" for the first page) and returns the answer;
    what `decode` returns None for is decoded whole.

    One page is in memory, and the text of the next. Raises what `read` raises, and Malformed.
    """
    ahead = ThreadPoolExecutor(max_workers=1, thread_name_prefix="next-page")
    try:
        body, asked = read(""), ""
        while True:
            early = _continuation_ahead(body)
            next_body = ahead.submit(read, early) if early and early != asked else None
            page, following = _page_of(body, path, decode)
            yield page
            if not following:
                return
            if following == asked:
                raise Malformed("GET", path, "a list that does not go on")
            body = next_body.result() if next_body is not None and early == following else read(following)
            asked = following
    finally:
        ahead.shutdown(wait=False)  # who stops early need not wait for what he does not want


def object_of(body: bytes, method: str, path: str) -> JsonObject:
    """The JSON object in an answer. Raises Malformed."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        raise Malformed(method, path, f"an answer of {len(body)} bytes that is no JSON object")
    return answer


def _page_of(body: bytes, path: str, decode: Decode | None) -> tuple[Page, str]:
    answer = decode(body) if decode is not None else None
    if answer is None:
        answer = object_of(body, "GET", path)
    metadata, items = answer.get("metadata"), answer.get("items")
    # Go writes an empty list of a kind without objects as null.
    if not isinstance(metadata, dict) or not isinstance(items, list | None):
        raise Malformed("GET", path, "an answer that is no list of objects")
    return Page(items or [], str(metadata.get("resourceVersion") or "")), str(metadata.get("continue") or "")


def _continuation_ahead(body: bytes) -> str:
    """The continuation, read before the items are. "" where it does not stand before them, as with custom resources."""
    head, items, _ = body[:_HEAD_BYTES].partition(_ITEMS)
    if not items:
        return ""
    try:
        metadata: Any = orjson.loads(head + _ITEMS + b"]}").get("metadata")
    except orjson.JSONDecodeError:
        return ""
    return str(metadata.get("continue") or "") if isinstance(metadata, dict) else ""
