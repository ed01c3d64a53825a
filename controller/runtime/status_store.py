"""The controller's own status in the cluster, ConfigMap `trimtab-status`, so that `trimtab status` needs no port."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from collector.sources.errors import Malformed, NotFound
from collector.sources.kubernetes_api import KubernetesApi
from controller.actuators.server_side_apply import APPLY_CONTENT_TYPE, FIELD_MANAGER
from controller.runtime.ledger_store import LARGEST_BYTES

NAME = "trimtab-status"
KEY = "status.json"
_LEFT_OUT = "The status is too large for a ConfigMap: its tenants are left out here, and stand on the status page."


def read_status(api: KubernetesApi, namespace: str) -> dict[str, Any] | None:
    """The status that the controller wrote last, or None when there is none. Raises SourceError."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/{NAME}"
    try:
        found = api.get(path)
    except NotFound:
        return None
    try:
        document = json.loads((found.get("data") or {}).get(KEY, ""))
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise Malformed("GET", path, f"its {KEY} is no status: the controller writes it anew within a minute")
    return document


@dataclass(slots=True)
class StatusStore:
    """Writes the status when something other than the time has changed, or after a while, never more often."""

    api: KubernetesApi
    namespace: str
    monotonic: Callable[[], float]
    least_pause_seconds: float = 5.0
    repeat_seconds: float = 60.0
    _written: str = ""
    _written_at: float = float("-inf")

    def write(self, document: Mapping[str, Any]) -> None:
        """Apply the status. Raises SourceError."""
        essence = json.dumps({key: value for key, value in document.items() if key != "at"}, sort_keys=True)
        age = self.monotonic() - self._written_at
        if age < self.least_pause_seconds or (essence == self._written and age < self.repeat_seconds):
            return
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": self.namespace},
            "data": {KEY: _fitting(document)},
        }
        path = f"/api/v1/namespaces/{self.namespace}/configmaps/{NAME}"
        query = {"fieldManager": FIELD_MANAGER, "force": "false"}
        self.api.request("PATCH", path, body, content_type=APPLY_CONTENT_TYPE, query=query)
        self._written, self._written_at = essence, self.monotonic()


def _fitting(document: Mapping[str, Any]) -> str:
    """The document as text; that of thousands of tenants without their rows, since an old status would tell less."""
    text = json.dumps(document, sort_keys=True)
    if len(text) <= LARGEST_BYTES:  # it is plain ASCII
        return text
    problems = [*document.get("problems", ()), _LEFT_OUT]
    return json.dumps({**document, "tenants": [], "problems": problems}, sort_keys=True)
