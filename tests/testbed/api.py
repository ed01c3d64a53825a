"""A small client of the Kubernetes API for the testbed: plain dicts in, plain dicts out, nothing cached.

The dynamic client of the kubernetes package keeps its discovery in a file named after host and port: API servers that
come and go on changing ports would read each other's.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml

Manifest = dict[str, Any]

_MERGE_PATCH = "application/merge-patch+json"
_APPLY_PATCH = "application/apply-patch+yaml"


class ApiRefused(RuntimeError):
    """The API server answered with an error; `code` is the HTTP status, `reason` its machine-readable reason."""

    def __init__(self, method: str, path: str, code: int, answer: Mapping[str, Any]) -> None:
        self.code = code
        self.reason = str(answer.get("reason", ""))
        super().__init__(f"{method} {path}: {code} {self.reason}: {answer.get('message', answer)}")


class KubeApi:
    """One user's connection to one API server."""

    def __init__(self, url: str, token: str, authority: Path) -> None:
        """`authority`: the certificate that vouches for the server."""
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._pool = urllib3.PoolManager(
            ca_certs=str(authority), timeout=urllib3.Timeout(connect=30.0, read=120.0), retries=False, maxsize=8
        )

    @classmethod
    def from_kubeconfig(cls, path: Path) -> KubeApi:
        """Connects as the current user of a kubeconfig that the testbed wrote (a token and certificate-authority)."""
        config = yaml.safe_load(path.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        return cls(cluster["server"], user["token"], Path(cluster["certificate-authority"]))

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        query: Mapping[str, str] | None = None,
    ) -> Manifest:
        """Sends one request and returns the decoded answer; raises ApiRefused on any status from 400 up."""
        target = f"{self._url}{path}" + (f"?{urlencode(query)}" if query else "")
        response = self._pool.request(
            method,
            target,
            body=None if body is None else json.dumps(body),
            headers={**self._headers, "Content-Type": content_type},
        )
        text = response.data.decode()
        answer = json.loads(text) if text.startswith("{") else {"message": text.strip()}
        if response.status >= 400:
            raise ApiRefused(method, path, response.status, answer)
        return dict(answer)

    def apply(self, manifest: Manifest, manager: str, force: bool = False) -> Manifest:
        """Server-side apply as the given field manager; creates what is not there."""
        query = {"fieldManager": manager, "force": str(force).lower()}
        return self.request("PATCH", path_of(manifest), manifest, _APPLY_PATCH, query)

    def create(self, manifest: Manifest, manager: str = "testbed") -> Manifest:
        """Creates the object (`generateName` allowed)."""
        path = collection_path(manifest["apiVersion"], manifest["kind"], manifest["metadata"].get("namespace"))
        return self.request("POST", path, manifest, query={"fieldManager": manager})

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Manifest:
        """Reads one object; ApiRefused with code 404 when it is not there."""
        return self.request("GET", f"{collection_path(api_version, kind, namespace)}/{name}")

    def list_objects(
        self, api_version: str, kind: str, namespace: str | None = None, labels: str = "", fields: str = ""
    ) -> list[Manifest]:
        """All objects of a kind in a namespace, or everywhere; `labels` and `fields` are selectors."""
        query = {"labelSelector": labels, "fieldSelector": fields}
        items = self.request("GET", collection_path(api_version, kind, namespace), query=query)["items"]
        return list(items)

    @contextmanager
    def watch(self, api_version: str, kind: str, namespace: str) -> Iterator[Iterator[Manifest]]:
        """Events of all objects of a kind, beginning with those that are there, until the `with` ends."""
        query = urlencode({"watch": "true"})
        response = self._pool.request(
            "GET",
            f"{self._url}{collection_path(api_version, kind, namespace)}?{query}",
            headers=self._headers,
            preload_content=False,
            timeout=urllib3.Timeout(connect=30.0, read=None),
        )
        try:
            yield _documents(response)
        finally:
            response.shutdown()
            response.close()

    def patch(self, manifest: Manifest, subresource: str | None = None, manager: str = "testbed") -> Manifest:
        """Merge patch of the named object, or of its status; lists are replaced as a whole."""
        path = path_of(manifest) + (f"/{subresource}" if subresource else "")
        return self.request("PATCH", path, manifest, _MERGE_PATCH, {"fieldManager": manager})

    def delete(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> None:
        """Deletes one object and, in the background, what it owns; silent when it is not there."""
        path = f"{collection_path(api_version, kind, namespace)}/{name}"
        try:
            self.request("DELETE", path, query={"propagationPolicy": "Background"})
        except ApiRefused as refusal:
            if refusal.code != 404:
                raise


def _documents(response: urllib3.BaseHTTPResponse) -> Iterator[Manifest]:
    """One JSON document per line, until whoever reads or whoever writes closes."""
    rest = b""
    try:
        for chunk in response.stream(1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (json.loads(line) for line in lines)
    except (urllib3.exceptions.HTTPError, OSError):
        return


def collection_path(api_version: str, kind: str, namespace: str | None = None) -> str:
    """Where a kind lives in the API, such as /apis/batch/v1/namespaces/a/jobs."""
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    lower = kind.lower()
    if lower.endswith("s"):
        plural = lower + "es"
    elif lower.endswith("y"):
        plural = lower[:-1] + "ies"
    else:
        plural = lower + "s"
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


def path_of(manifest: Manifest) -> str:
    """Where the object of a manifest lives in the API."""
    metadata = manifest["metadata"]
    return f"{collection_path(manifest['apiVersion'], manifest['kind'], metadata.get('namespace'))}/{metadata['name']}"


def kubeconfig_text(url: str, user: str, token: str, authority: Path) -> str:
    """A kubeconfig with one cluster, one user and one context."""
    cluster = {"server": url, "certificate-authority": str(authority)}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "testbed", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": user, "context": {"cluster": "testbed", "user": user}}],
            "current-context": user,
        },
        sort_keys=False,
    )


def base64_of(path: Path) -> str:
    """The content of a file as the API wants binary fields."""
    return base64.b64encode(path.read_bytes()).decode()
