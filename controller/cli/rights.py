"""Which right was missing when a server refused who we are: one sentence, and how to get it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from collector.sources.errors import Forbidden

_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "WATCH": "watch"}
_UNAUTHORIZED: Final = 401


@dataclass(frozen=True, slots=True)
class Right:
    """What a role has to allow: a verb on a resource, by name where one object was meant, in a namespace or in all."""

    verb: str
    resource: str
    group: str
    namespace: str
    name: str

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        object_ = f" {self.name}" if self.name else ""
        place = f"in namespace {self.namespace}" if self.namespace else "in the whole cluster"
        return f"{self.verb} {resource}{object_} {place}"


def right_of(method: str, path: str) -> Right | None:
    """The right that a request to the API server needs; None for the whole address of another server."""
    if not path.startswith("/"):
        return None
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 2:
        group, rest = "", parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, rest = parts[1], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name = rest[0], rest[1] if len(rest) > 1 else ""
    verb = _VERBS.get(method, "get" if name else "list")
    return Right(verb, resource, group, namespace, name)


def missing_right(error: Forbidden) -> str:
    """What was refused, which right is missing, and how to get it."""
    if error.status == _UNAUTHORIZED and error.path.startswith("/"):
        return (
            f"The server does not accept who we are: {error}. The token or certificate of the kubeconfig may have "
            "expired; kubectl auth whoami tells who you are."
        )
    right = right_of(error.method, error.path)
    if right is None:
        return f"The server refuses: {error}."
    return (
        f"The right is missing to {right}: {error.message.rstrip('.')}. A role gives it: trimtab render rbac prints "
        "those that Trimtab needs."
    )
