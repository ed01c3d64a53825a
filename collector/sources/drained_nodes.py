"""Asks the API server, as the service account of this pod, which nodes are drained: names alone, nothing else of them.

Not by the client of the API server: the node role asks nothing more of it, and runs on every node.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PATH: Final = "/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue"
_NAMES_ONLY: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_MOST_BYTES: Final = 16 * 2**20
_SECONDS: Final = 10.0
_NO_ACCOUNT: Final = "which nodes are drained is not known: this program has no service account"


class DrainedUnknown(Exception):
    """It can not be told which nodes are drained; the sentence says why."""


def drained_nodes(
    account: Path = _ACCOUNT, environment: Mapping[str, str] = os.environ, path: str = _PATH
) -> frozenset[str]:
    """The names of nodes that take no new pods. Raises DrainedUnknown."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT", "443")
    try:
        token = (account / "token").read_text(encoding="utf-8").strip()
        trusted = ssl.create_default_context(cafile=str(account / "ca.crt"))
    except OSError:
        raise DrainedUnknown(_NO_ACCOUNT) from None
    if not host:
        raise DrainedUnknown(_NO_ACCOUNT)
    connection = http.client.HTTPSConnection(host, int(port), timeout=_SECONDS, context=trusted)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}", "Accept": _NAMES_ONLY})
        answer = connection.getresponse()
        text = answer.read(_MOST_BYTES)
    except (OSError, http.client.HTTPException):
        raise DrainedUnknown("which nodes are drained is not known: the API server does not answer") from None
    finally:
        connection.close()
    if answer.status != 200:
        raise DrainedUnknown(f"which nodes are drained is not known: the API server answered {answer.status}")
    return _names(text)


def _names(text: bytes) -> frozenset[str]:
    try:
        items = json.loads(text)["items"]
        return frozenset(str(item["metadata"]["name"]) for item in items)
    except (ValueError, KeyError, TypeError):
        raise DrainedUnknown("which nodes are drained is not known: the API server's list can not be read") from None
