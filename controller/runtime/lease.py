"""Who may write: a Lease in the cluster, held by one controller at a time, checked before every write.

Times are the holder's own: a lease counts as lost when it could not be renewed within its duration by our own clocks,
and as free when it has not changed for its duration as seen by us. Clocks of two machines are never compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from collector.model.quantities import format_time
from collector.sources.errors import Conflict, CredentialsProblem, Malformed, NotFound, SourceError
from collector.sources.kubernetes_api import KubernetesApi
from controller.actuators.server_side_apply import APPLY_CONTENT_TYPE, FIELD_MANAGER

NAME = "trimtab-controller"


class FenceError(Exception):
    """We may not write any more: the lease is not ours."""


@dataclass(slots=True)
class Lease:
    """The lease as one holder sees it. `identity` must be of this process alone."""

    api: KubernetesApi
    namespace: str
    identity: str
    monotonic: Callable[[], float]
    wall: Callable[[], float]
    duration_seconds: int = 30
    obstacle: str = ""
    """Why it is not ours, after `acquire` said so."""
    _renewed_at: tuple[float, float] | None = None
    """When it was last renewed, by both clocks."""
    _seen: tuple[str, float] = ("", 0.0)
    """Version of the lease when we last looked, and since when we have seen that version."""

    def acquire(self) -> bool:
        """Take or renew it. False when somebody else holds it or the API server does not answer: see `obstacle`."""
        try:
            return self._written(may_take=True)
        except (SourceError, CredentialsProblem) as error:
            self.obstacle = str(error)
            return self.held()

    def held(self) -> bool:
        """Ours, with at least a third of its time left."""
        if self._renewed_at is None:
            return False
        # A machine that slept may not have counted the time, a clock that was set may count too much: longer is safe.
        since = max(self.monotonic() - self._renewed_at[0], self.wall() - self._renewed_at[1])
        return since < self.duration_seconds * 2 / 3

    def check(self) -> None:
        """Raise FenceError unless it is ours; it is renewed where it would soon run out.

        One that was let go of, or somebody else's, in between is lost: what was decided is old. Raises SourceError
        when that can not be found out.
        """
        if not self.held() and not self._written(may_take=False):
            raise FenceError(f"lease {self.namespace}/{NAME} is not held by {self.identity}: {self.obstacle}")

    def release(self) -> None:
        """Let go, so that the next controller need not wait. Asks once: a server that is away holds up nobody's end."""
        if self._renewed_at is None:
            return
        self._renewed_at = None
        try:
            lease = self.api.request("GET", self._path)
            if _spec(lease).get("holderIdentity") == self.identity:
                self.api.request("PUT", self._path, {**lease, "spec": {**_spec(lease), "holderIdentity": ""}})
        except (SourceError, CredentialsProblem):
            return  # it runs out by itself

    def _written(self, *, may_take: bool) -> bool:
        monotonic, wall = self.monotonic(), self.wall()
        lease = self._read()
        holder, version = _spec(lease).get("holderIdentity") or "", (lease.get("metadata") or {}).get("resourceVersion")
        if not version:
            raise Malformed("GET", self._path, "a lease without version")
        if self._seen[0] != version:
            self._seen = (version, monotonic)
        limit_seconds = _spec(lease).get("leaseDurationSeconds") or self.duration_seconds
        is_free = not holder or monotonic - self._seen[1] >= limit_seconds
        if holder != self.identity and not (may_take and is_free):
            return self._lost(f"held by {holder}" if holder else "let go of")
        transitions = int(_spec(lease).get("leaseTransitions") or 0) + (holder != self.identity)
        try:
            self.api.request(
                "PUT", self._path, {**lease, "spec": self._claim(transitions)}, query={"fieldManager": FIELD_MANAGER}
            )
        except Conflict:
            return self._lost("somebody else wrote it at the same moment")
        self._renewed_at, self.obstacle = (monotonic, wall), ""
        return True

    def _lost(self, obstacle: str) -> bool:
        self._renewed_at, self.obstacle = None, obstacle
        return False

    def _read(self) -> dict[str, Any]:
        try:
            return self.api.get(self._path)
        except NotFound:
            # By an apply, since rights that are limited by name allow no plain create; and without a holder, since an
            # apply does not tell two who create it at once apart. It is then taken like any other that is free.
            metadata = {"name": NAME, "namespace": self.namespace}
            body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
            return self.api.request("PATCH", self._path, body, APPLY_CONTENT_TYPE, {"fieldManager": FIELD_MANAGER})

    def _claim(self, transitions: int) -> dict[str, Any]:
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self.duration_seconds,
            "renewTime": format_time(self.wall()).replace("Z", ".000000Z"),
            "leaseTransitions": transitions,
        }

    @property
    def _path(self) -> str:
        return f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{NAME}"


def _spec(lease: dict[str, Any]) -> dict[str, Any]:
    return lease.get("spec") or {}
