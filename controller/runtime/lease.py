"""Who may write: a Lease in the cluster, held by one controller at a time, checked before every write.

Times are the holder's own: a lease counts as lost when it could not be renewed within its duration by our own clock,
and as free when it has not changed for its duration as seen by us. Clocks of two machines are never compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from collector.model.quantities import format_time
from collector.sources.errors import Conflict, NotFound, SourceError
from collector.sources.kubernetes_api import KubernetesApi
from controller.actuators.server_side_apply import APPLY_CONTENT_TYPE, FIELD_MANAGER

NAME = "trimtab-controller"


class FenceError(Exception):
    """We may not write any more: the lease is not ours."""


@dataclass(slots=True)
class Lease:
    """The lease as one holder sees it."""

    api: KubernetesApi
    namespace: str
    identity: str
    monotonic: Callable[[], float]
    wall: Callable[[], float]
    duration_seconds: int = 30
    _renewed_at: float | None = None
    _seen: tuple[str, float] = ("", 0.0)
    """Version of the lease when we last looked, and since when we have seen that version."""

    def acquire(self) -> bool:
        """Take or renew it. False when somebody else holds it or the API server does not answer."""
        now = self.monotonic()
        try:
            return self._acquire(now)
        except SourceError:
            return self.held()

    def held(self) -> bool:
        """Ours, with at least a third of its time left."""
        return self._renewed_at is not None and self.monotonic() - self._renewed_at < self.duration_seconds * 2 / 3

    def check(self) -> None:
        """Raise FenceError unless it is ours."""
        if not self.held():
            raise FenceError(f"lease {self.namespace}/{NAME} is not held by {self.identity}")

    def release(self) -> None:
        """Let go, so that the next controller need not wait."""
        if self._renewed_at is None:
            return
        self._renewed_at = None
        try:
            lease = self.api.get(self._path(NAME))
            if lease["spec"].get("holderIdentity") == self.identity:
                lease["spec"]["holderIdentity"] = ""
                self.api.request("PUT", self._path(NAME), lease)
        except SourceError:
            return  # it runs out by itself

    def _acquire(self, now: float) -> bool:
        try:
            lease = self.api.get(self._path(NAME))
        except NotFound:
            metadata = {"name": NAME, "namespace": self.namespace}
            body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
            return self._write("PATCH", {**body, "spec": self._spec(0)}, now)
        holder = lease["spec"].get("holderIdentity") or ""
        version = lease["metadata"]["resourceVersion"]
        if self._seen[0] != version:
            self._seen = (version, now)
        silent_seconds = now - self._seen[1]
        limit = lease["spec"].get("leaseDurationSeconds") or self.duration_seconds
        if holder not in ("", self.identity) and silent_seconds < limit:
            self._renewed_at = None
            return False
        transitions = int(lease["spec"].get("leaseTransitions") or 0) + (holder != self.identity)
        return self._write("PUT", {**lease, "spec": self._spec(transitions)}, now)

    def _write(self, method: str, body: dict[str, Any], now: float) -> bool:
        # Created by an apply: rights that are limited by name allow no plain create.
        content_type = APPLY_CONTENT_TYPE if method == "PATCH" else "application/json"
        try:
            self.api.request(method, self._path(NAME), body, content_type, {"fieldManager": FIELD_MANAGER})
        except Conflict:
            self._renewed_at = None
            return False
        self._renewed_at = now
        return True

    def _spec(self, transitions: int) -> dict[str, Any]:
        moment = format_time(self.wall()).replace("Z", ".000000Z")
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self.duration_seconds,
            "renewTime": moment,
            "leaseTransitions": transitions,
        }

    def _path(self, name: str) -> str:
        return f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{name}"
