"""What people tell a running Trimtab: ConfigMap `trimtab-control`; and the baseline they keep, which is only read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from collector.sources.errors import NotFound
from collector.sources.kubernetes_api import KubernetesApi
from controller.actuators.server_side_apply import APPLY_CONTENT_TYPE
from controller.files.reading import read_text
from controller.knobs.own import Baseline, read_baseline

CONTROL_NAME = "trimtab-control"
BASELINE_NAME = "trimtab-baseline"
BASELINE_KEY = "baseline.yaml"


@dataclass(frozen=True, slots=True)
class Control:
    """People's word. `paused`: the reason, "" when not paused."""

    paused: str = ""


def read_control(api: KubernetesApi, namespace: str) -> Control:
    """What people said last. Raises SourceError."""
    try:
        found = api.get(f"/api/v1/namespaces/{namespace}/configmaps/{CONTROL_NAME}")
    except NotFound:
        return Control()
    return Control(paused=str((found.get("data") or {}).get("paused") or ""))


def write_control(api: KubernetesApi, namespace: str, control: Control) -> None:
    """Say it. Raises SourceError."""
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONTROL_NAME, "namespace": namespace},
        "data": {"paused": control.paused},
    }
    path = f"/api/v1/namespaces/{namespace}/configmaps/{CONTROL_NAME}"
    query = {"fieldManager": "trimtab-cli", "force": "true"}
    api.request("PATCH", path, body, content_type=APPLY_CONTENT_TYPE, query=query)


@dataclass(slots=True)
class BaselineSource:
    """The baseline from a file, else from ConfigMap `trimtab-baseline`, which Trimtab reads and never writes."""

    api: KubernetesApi
    namespace: str
    file: Path | None = None
    _parsed: tuple[str, Baseline] = ("", Baseline())
    """The text that was read last, and what it says: to read the YAML of many tenants takes longer than a tick."""

    def read(self) -> Baseline:
        """The baseline; empty where none is kept. Raises InputError, SourceError."""
        text, origin = self._text()
        if text != self._parsed[0]:
            self._parsed = (text, read_baseline(text, origin))
        return self._parsed[1]

    def _text(self) -> tuple[str, str]:
        if self.file is not None:
            return read_text(self.file, "a baseline manifest"), str(self.file)
        origin = f"ConfigMap {self.namespace}/{BASELINE_NAME}"
        try:
            found = self.api.get(f"/api/v1/namespaces/{self.namespace}/configmaps/{BASELINE_NAME}")
        except NotFound:
            return "", origin
        return str((found.get("data") or {}).get(BASELINE_KEY) or ""), origin
