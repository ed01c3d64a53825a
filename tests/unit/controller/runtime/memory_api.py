"""A Kubernetes API in memory: objects by path, versions, server-side apply by one manager; fails when told to.

Just what the stores of the runtime need. What a real one does with managers, rights and webhooks is tested on a real
one, in tests/integration/test_runtime.py.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from collector.sources.errors import Conflict, NotFound
from collector.sources.kubernetes_api import KubernetesApi
from collector.sources.kubernetes_port import Decode, JsonObject, Page, Query


class MemoryApi(KubernetesApi):
    """Behaves as an API server would, as far as it goes. `before`: called with each request, may raise."""

    def __init__(self) -> None:
        self.objects: dict[str, JsonObject] = {"/apis/kueue.x-k8s.io": {"versions": [{"version": "v1beta2"}]}}
        self.asked: list[tuple[str, str]] = []
        self.before: Callable[[str, str], None] = lambda method, path: None
        self._versions = 0

    @property
    def writes(self) -> list[str]:
        """Paths of all writes that were asked for, dry runs not among them, in order."""
        return [path for method, path in self.asked if method != "GET"]

    def get(self, path: str, query: Query | None = None) -> JsonObject:
        return self.request("GET", path, query=query)

    def list_pages(
        self, path: str, limit: int = 500, query: Query | None = None, decode: Decode | None = None
    ) -> Iterator[Page]:
        self._ask("GET", path)
        items = [copy.deepcopy(found) for key, found in self.objects.items() if key.startswith(f"{path}/")]
        yield Page(items, str(self._versions))

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        query: Query | None = None,
    ) -> JsonObject:
        is_trial = (query or {}).get("dryRun") == "All"
        if not is_trial:
            self._ask(method, path)
        current = self.objects.get(path)
        if method == "GET" or body is None:
            if current is None:
                raise NotFound(method, path, "not found", status=404)
            return copy.deepcopy(current)
        wanted = body["metadata"].get("resourceVersion")
        shown = current["metadata"]["resourceVersion"] if current is not None else None
        # An apply that names a version makes the object where there is none: so does a real API server.
        if wanted != shown and (method == "PUT" or (wanted is not None and current is not None)):
            raise Conflict(method, path, "the object has been modified", status=409)
        self._versions += 1
        metadata = {**body["metadata"], "resourceVersion": str(self._versions), "uid": path}
        made = copy.deepcopy({**(current or {}), **body, "metadata": metadata})
        if not is_trial:
            self.objects[path] = made
        return copy.deepcopy(made)

    def _ask(self, method: str, path: str) -> None:
        self.asked.append((method, path))
        self.before(method, path)
