"""Server-side apply with field manager `trimtab`, never forced, previewed by the server, retried within a budget."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from collector.sources.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    SourceError,
    Throttled,
    TimedOut,
    Unreachable,
)
from collector.sources.kubernetes_api import KubernetesApi
from controller.actuators.port import OUTDATED
from controller.api.errors import ApplyError

FIELD_MANAGER = "trimtab"
APPLY_CONTENT_TYPE = "application/apply-patch+yaml"
_ATTEMPTS = 3
_WEBHOOK = "denied the request"
_MODIFIED = "the object has been modified"

_CODES: tuple[tuple[type[SourceError], str], ...] = (
    (Conflict, "CONFLICT"),
    (Forbidden, "FORBIDDEN"),
    (Invalid, "REJECTED"),
    (NotFound, "NOT_SERVED"),
    (Throttled, "THROTTLED"),
    (TimedOut, "TIMED_OUT"),
    (Unreachable, "UNREACHABLE"),
)


class ServerSideApply:
    """An actuator on a real API server."""

    def __init__(self, api: KubernetesApi, wait: Callable[[float], object] = time.sleep) -> None:
        self._api, self._wait = api, wait

    def preview(self, path: str, manifest: Mapping[str, Any]) -> None:
        """A server-side dry run: admission webhooks and quota answer as they would. Raises ApplyError."""
        self._send(path, manifest, {"dryRun": "All"})

    def apply(self, path: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Apply the whole manifest; the object afterwards. Raises ApplyError, whose code says who refused."""
        return self._send(path, manifest, {})

    def shown(self, path: str) -> dict[str, Any]:
        """The object as it stands now. Raises ApplyError."""
        try:
            return self._api.get(path)
        except SourceError as error:
            raise _refusal(path, error) from error

    def _send(self, path: str, manifest: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
        asked = {"fieldManager": FIELD_MANAGER, "force": "false", **query}
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._api.request("PATCH", path, manifest, content_type=APPLY_CONTENT_TYPE, query=asked)
            except SourceError as error:
                if attempt == _ATTEMPTS or not isinstance(error, (Throttled, Unreachable)):
                    raise _refusal(path, error) from error
                pause = error.retry_after_seconds if isinstance(error, Throttled) else None
            # An apply is idempotent, so one that was lost on the way may be sent again.
            self._wait(min(5.0, pause) if pause is not None else 0.2 * 2**attempt * (0.5 + random.random()))
        raise AssertionError("the loop above returns or raises")


def _refusal(path: str, error: SourceError) -> ApplyError:
    return ApplyError(path.rsplit("/", 1)[-1], _code(error), error.message)


def _code(error: SourceError) -> str:
    if isinstance(error, Forbidden) and _WEBHOOK in error.message:
        return "REJECTED"  # an admission webhook says no with 403, as if it were a matter of rights
    if isinstance(error, Conflict) and _MODIFIED in error.message:
        return OUTDATED  # the version that was named, and not a field of somebody else
    return next((code for kind, code in _CODES if isinstance(error, kind)), "FAILED")
