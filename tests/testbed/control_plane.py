"""A real Kubernetes control plane: etcd, API server, scheduler, controller-manager. There are no kubelets: see kwok.py.

Every user has a token and, among the testbed's own, a name of its own: the audit log then proves who wrote what.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from controller.demo.processes import Service, answers
from tests.testbed import build
from tests.testbed.api import KubeApi, kubeconfig_text
from tests.testbed.certificates import Certificate, loopback_certificate
from tests.testbed.parts import GO_PARTS
from tests.testbed.place import Place

ADMIN = "testbed-admin"
_COMPONENTS = (ADMIN, "system:kube-scheduler", "system:kube-controller-manager", "kueue", "kwok", "gpu-exporter")
_USERS_NAMESPACE = "testbed-users"
_CONTROLLERS = (
    "resourcequota-controller",
    "namespace-controller",
    "job-controller",
    "deployment-controller",
    "replicaset-controller",
    "garbage-collector-controller",
    "disruption-controller",
    "ttl-after-finished-controller",
)  # without the node lifecycle controller: it would miss the kubelets' heartbeats and taint every node

_AUDIT_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: Metadata
"""


@dataclass(frozen=True)
class User:
    """A service account with exactly the rights it was given; `username` is its name in the audit log."""

    username: str
    token: str
    kubeconfig: Path


class Kubernetes:
    """The control plane; its four programs can be stopped and started singly, each on its old port."""

    name = "kubernetes"

    def __init__(self, place: Place) -> None:
        self._place = place
        self.etcd = place.service("etcd", self._etcd, lambda: answers(f"http://{place.address('etcd')}/readyz"))
        self.api_server = place.service("kube-apiserver", self._api_server, self._api_server_is_ready)
        self.api_server.grace_seconds = 2.0  # it would wait a minute for open watches; nothing is lost, etcd has it all
        self.scheduler = self._component("kube-scheduler", ())
        self.controller_manager = self._component(
            "kube-controller-manager",
            (
                f"--controllers={','.join(_CONTROLLERS)}",
                "--kube-api-qps=200",
                "--kube-api-burst=400",
                "--concurrent-job-syncs=10",
            ),
        )

    @property
    def services(self) -> Sequence[Service]:
        """In the order of their start."""
        return (self.etcd, self.api_server, self.scheduler, self.controller_manager)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows."""
        return {"url": self.url, "kubeconfig": str(self.kubeconfig)}

    @property
    def url(self) -> str:
        """Address of the API server."""
        return f"https://{self._place.address('api')}"

    @property
    def etcd_url(self) -> str:
        """Address of etcd, for what the API server would do one object at a time."""
        return f"http://{self._place.address('etcd')}"

    @property
    def authority(self) -> Path:
        """The certificate that vouches for every HTTPS server of the control plane."""
        return self._certificate.certificate

    @property
    def token(self) -> str:
        """The administrator's bearer token; also opens /metrics of every component."""
        return self.token_of(ADMIN)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.kubeconfig_of(ADMIN)

    @property
    def scheduler_metrics_url(self) -> str:
        """The scheduler's metrics; they ask for the token."""
        return f"https://{self._place.address('kube-scheduler')}/metrics"

    @cached_property
    def api(self) -> KubeApi:
        """The administrator's connection."""
        return KubeApi(self.url, self.token, self.authority)

    def start(self) -> None:
        """Starts what does not run yet and waits until it serves."""
        for service in self.services:
            service.start()

    def stop(self) -> None:
        """Stops everything; etcd keeps its data in the folder."""
        for service in reversed(self.services):
            service.stop()

    def token_of(self, component: str) -> str:
        """The bearer token of one of the testbed's own users."""
        return self._tokens[component]

    def kubeconfig_of(self, component: str) -> Path:
        """A kubeconfig of one of the testbed's own users."""
        text = kubeconfig_text(self.url, component, self.token_of(component), self.authority)
        return self._place.write(f"{component.replace(':', '-')}.kubeconfig", text)

    def user(self, name: str, rules: Sequence[Mapping[str, Any]] = ()) -> User:
        """A service account with the given cluster-wide RBAC rules, by default none; asking again sets new rules.

        A rule reads as in a ClusterRole: {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}.
        """
        api, role = self.api, f"testbed:{name}"
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _USERS_NAMESPACE}}, "testbed")
        account = {"name": name, "namespace": _USERS_NAMESPACE}
        api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account}, "testbed")
        rbac, meta = "rbac.authorization.k8s.io/v1", {"name": role}
        api.apply({"apiVersion": rbac, "kind": "ClusterRole", "metadata": meta, "rules": list(rules)}, "testbed", True)
        binding = {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", **account}],
        }
        api.apply({"apiVersion": rbac, "kind": "ClusterRoleBinding", "metadata": meta, **binding}, "testbed")
        return self.account(name, _USERS_NAMESPACE)

    def account(self, name: str, namespace: str) -> User:
        """A service account that is there already, with a token for a day."""
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 86400},
        }
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        token = str(self.api.request("POST", path, request)["status"]["token"])
        text = kubeconfig_text(self.url, name, token, self.authority)
        kubeconfig = self._place.write(f"{namespace}-{name}.kubeconfig", text)
        return User(f"system:serviceaccount:{namespace}:{name}", token, kubeconfig)

    def writes(self, username: str | None = None) -> Iterator[Mapping[str, Any]]:
        """The audit events (audit.k8s.io/v1) of all writes so far, oldest first, of one user or of all.

        What was refused is among them: see responseStatus.code.
        """
        with self._audit_log.open() as lines:
            for line in lines:
                event = json.loads(line)
                if username in (None, event["user"]["username"]):
                    yield event

    @cached_property
    def _certificate(self) -> Certificate:
        return loopback_certificate(self._place.folder / "tls")

    @cached_property
    def _tokens(self) -> Mapping[str, str]:
        book = self._place.folder / "tokens.json"
        if not book.exists():
            self._place.write(book.name, json.dumps({user: secrets.token_hex(16) for user in _COMPONENTS}))
        return dict(json.loads(book.read_text()))

    @property
    def _audit_log(self) -> Path:
        return self._place.folder / "audit.log"

    def _api_server_is_ready(self) -> bool:
        return answers(f"{self.url}/readyz", self.token, self.authority)

    def _etcd(self) -> list[str]:
        client, peer = f"http://{self._place.address('etcd')}", f"http://{self._place.address('etcd-peer')}"
        return [
            str(build.get(GO_PARTS["etcd"]).binary("etcd")),
            f"--data-dir={self._place.folder / 'etcd'}",
            "--unsafe-no-fsync",  # a crash of the machine may lose the data; nobody will miss it
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--log-level=warn",
        ]

    def _api_server(self) -> list[str]:
        place, tls = self._place, self._certificate
        rows = (f'{token},{user},{user},"system:masters"' for user, token in self._tokens.items())
        return [
            str(build.get(GO_PARTS["kubernetes"]).binary("kube-apiserver")),
            f"--etcd-servers=http://{place.address('etcd')}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={place.port('api')}",
            f"--tls-cert-file={tls.certificate}",
            f"--tls-private-key-file={tls.key}",
            f"--token-auth-file={place.write('tokens.csv', chr(10).join(rows))}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={tls.certificate}",
            f"--service-account-signing-key-file={tls.key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount",
            "--enable-admission-plugins=ResourceQuota,Priority",
            "--endpoint-reconciler-type=none",
            "--max-requests-inflight=1000",
            "--max-mutating-requests-inflight=500",
            f"--audit-policy-file={place.write('audit-policy.yaml', _AUDIT_POLICY)}",
            f"--audit-log-path={self._audit_log}",
        ]

    def _component(self, name: str, extra: Sequence[str]) -> Service:
        """The scheduler and the controller-manager share most of their command line."""

        def argv() -> list[str]:
            kubeconfig = self.kubeconfig_of(f"system:{name}")
            return [
                str(build.get(GO_PARTS["kubernetes"]).binary(name)),
                *(f"--{use}kubeconfig={kubeconfig}" for use in ("", "authentication-", "authorization-")),
                "--leader-elect=false",
                "--bind-address=127.0.0.1",
                f"--secure-port={self._place.port(name)}",
                f"--tls-cert-file={self._certificate.certificate}",
                f"--tls-private-key-file={self._certificate.key}",
                *extra,
            ]

        return self._place.service(
            name, argv, lambda: answers(f"https://{self._place.address(name)}/healthz", None, self.authority)
        )
