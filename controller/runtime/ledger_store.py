"""The ledger in the cluster: ConfigMap `trimtab-ledger`, one key per change. Intent is written before the object.

A write names the version it was read at, so that two controllers can not overwrite each other. The latch is a key
beside the changes: a new start must not forget that a person has to look first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.model.quantities import counted
from collector.sources.errors import Conflict, NotFound
from collector.sources.kubernetes_api import KubernetesApi
from controller.actuators.server_side_apply import APPLY_CONTENT_TYPE, FIELD_MANAGER
from controller.policy.change import Change
from controller.policy.ledger import Ledger
from controller.policy.ledger_text import change_text, read_change

NAME = "trimtab-ledger"
DEFAULT_NAMESPACE = "trimtab-system"
LARGEST_BYTES = 900 * 2**10
"""Keys and texts together; the API server takes no ConfigMap of more than a MiB."""
_LATCH_KEY = "_latched"
"""No change is kept under it: ids begin with a letter or digit."""
_UNFIT_FOR_A_KEY = re.compile(r"[^-._a-zA-Z0-9]")


class LedgerLost(Exception):
    """Somebody else wrote the ledger since we read it: read it again before anything is decided."""


class LedgerStore:
    """Reads and writes the ledger. Raises SourceError; a broken entry is set aside, never dropped."""

    def __init__(self, api: KubernetesApi, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._api, self._path = api, f"/api/v1/namespaces/{namespace}/configmaps"
        self._namespace = namespace
        self._version: str | None = None
        self._written: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}
        """Keys whose text is no change, and why; they stay in the ConfigMap as they are."""
        self.let_go = ""
        """Why the last save kept fewer changes than it was given; "" when it kept all."""

    def load(self) -> Ledger:
        """The ledger as the cluster holds it; an absent one is empty."""
        self.let_go = ""
        try:
            found = self._api.get(f"{self._path}/{NAME}")
        except NotFound:
            self._version, self._written, self.unreadable = None, {}, {}
            return Ledger()
        self._version = found["metadata"]["resourceVersion"]
        self._written = dict(found.get("data") or {})
        self.unreadable = {}
        changes: list[Change] = []
        for key, text in sorted(self._written.items()):
            if key == _LATCH_KEY:
                continue
            try:
                changes.append(read_change(text))
            except ValueError as error:
                self.unreadable[key] = str(error)
        ordered = sorted(changes, key=lambda change: (change.created_at, change.id))
        return Ledger(tuple(ordered), latched=self._written.get(_LATCH_KEY, ""))

    def save(self, ledger: Ledger) -> None:
        """Write the changes, if they differ from what is written. Raises LedgerLost when someone else wrote first.

        Where they are too many for one ConfigMap, the oldest of those that ended are let go of: see `let_go`.
        """
        data = {key: text for key, text in self._written.items() if key in self.unreadable}
        data |= {_LATCH_KEY: ledger.latched} if ledger.latched else {}
        data |= self._fitting(ledger, LARGEST_BYTES - _size(data))
        if data == self._written and (self._version is not None or not data):
            return
        if self._version is None:
            self._version = self._created()
        answer = self._applied({"resourceVersion": self._version}, {"data": data}, FIELD_MANAGER)
        self._version, self._written = answer["metadata"]["resourceVersion"], data

    def reload(self, before: Ledger) -> Ledger:
        """Read again, keeping what only lives in memory; so does a latch until it is written. Gone since: lifted."""
        was_written = self._written.get(_LATCH_KEY, "")
        found = self.load()
        is_lifted = self._version is not None and before.latched == was_written
        latched = found.latched or ("" if is_lifted else before.latched)
        return replace(before, changes=found.changes, latched=latched)

    def _fitting(self, ledger: Ledger, room_bytes: int) -> dict[str, str]:
        """Key → text of the changes, all that are active, and of the others the youngest that there is room for."""
        data = {_key(change): change_text(change) for change in ledger.changes}
        size, dropped = _size(data), 0
        for change in ledger.changes:
            if size <= room_bytes:
                break
            if not change.active:
                size -= _size({_key(change): data.pop(_key(change))})
                dropped += 1
        gone = f"the oldest {counted(dropped, 'ended change')} left the ledger, and no budget counts them any more"
        self.let_go = f"ConfigMap {NAME} is full: {gone}" if dropped else ""
        return data

    def _created(self) -> str:
        """Version of the ledger, made empty. As another manager: that takes nothing out of one that exists already."""
        answer = self._applied({}, {}, f"{FIELD_MANAGER}-create")
        if answer.get("data"):
            raise LedgerLost("somebody else made the ledger since we looked for it")
        return str(answer["metadata"]["resourceVersion"])

    def _applied(self, metadata: dict[str, str], content: dict[str, Any], manager: str) -> dict[str, Any]:
        """An apply, also to create: rights that are limited by name allow no plain create."""
        named = {"name": NAME, "namespace": self._namespace, **metadata}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, **content}
        query = {"fieldManager": manager, "force": "false"}
        try:
            return self._api.request("PATCH", f"{self._path}/{NAME}", body, APPLY_CONTENT_TYPE, query)
        except (Conflict, NotFound) as error:
            raise LedgerLost(str(error)) from error


def _size(data: Mapping[str, str]) -> int:
    """Bytes that the API server counts."""
    return sum(len(key.encode()) + len(text.encode()) for key, text in data.items())


def _key(change: Change) -> str:
    return _UNFIT_FOR_A_KEY.sub("-", change.id)
