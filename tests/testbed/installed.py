"""Plays the kubelet for an installed chart: the pods' own command lines, service accounts and mounted files.

KWOK makes pods look as if they ran; whoever starts what is said here really runs it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.api import Manifest
from tests.testbed.control_plane import Kubernetes, User


@dataclass(frozen=True)
class Installed:
    """A release in its namespace. `folder`: where the volumes of its pods are put."""

    kubernetes: Kubernetes
    namespace: str
    folder: Path
    release: str = "trimtab"

    def user(self, program: str) -> User:
        """The service account of a program: collector, controller or janitor."""
        return self.kubernetes.account(f"{self.release}-{program}", self.namespace)

    def pod_of(self, api_version: str, kind: str, program: str) -> Manifest:
        """The pod's spec in a Deployment, CronJob or Job of the release, as the API server holds it."""
        found = self.kubernetes.api.get(api_version, kind, f"{self.release}-{program}", self.namespace)
        spec = found["spec"]["jobTemplate"]["spec"] if kind == "CronJob" else found["spec"]
        return dict(spec["template"]["spec"])

    def arguments(self, pod: Manifest, listen: str = "") -> list[str]:
        """The arguments of its one container; mounted paths lead here, and it listens on `listen` instead of all."""
        (container,) = pod["containers"]
        mounted = {mount["mountPath"]: self.folder / mount["name"] for mount in container["volumeMounts"]}
        for volume in pod["volumes"]:
            self._put(volume)
        found = [_rooted(word, mounted) for word in container["args"]]
        user = self.kubernetes.account(pod["serviceAccountName"], self.namespace)
        listening = [f"--listen={listen}" if word.startswith("--listen=") else word for word in found]
        return [*listening, f"--kubeconfig={user.kubeconfig}"]

    def _put(self, volume: Manifest) -> None:
        folder = self.folder / str(volume["name"])
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self._files(volume).items():
            (folder / name).write_bytes(content)

    def _files(self, volume: Manifest) -> Mapping[str, bytes]:
        api = self.kubernetes.api
        if "configMap" in volume:
            data = api.get("v1", "ConfigMap", volume["configMap"]["name"], self.namespace)["data"]
            return {name: text.encode() for name, text in data.items()}
        if "secret" in volume:
            data = api.get("v1", "Secret", volume["secret"]["secretName"], self.namespace)["data"]
            return {item["path"]: base64.b64decode(data[item["key"]]) for item in volume["secret"]["items"]}
        return {}


def _rooted(word: str, mounted: Mapping[str, Path]) -> str:
    """An argument such as --config=/etc/trimtab, with the mounted path replaced by where its files are here."""
    option, _, path = word.partition("=")
    for place, here in mounted.items():
        if path == place or path.startswith(f"{place}/"):
            return f"{option}={here}{path.removeprefix(place)}"
    return word
