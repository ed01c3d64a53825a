"""Kueue outside a cluster: its definitions and webhooks applied to the API server, its manager as a local process."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import urllib3
import yaml

from controller.demo.processes import Service, answers, wait_until
from tests.testbed import build
from tests.testbed.api import ApiRefused, KubeApi, Manifest, base64_of
from tests.testbed.certificates import Certificate, loopback_certificate
from tests.testbed.control_plane import Kubernetes
from tests.testbed.parts import GO_PARTS, PartMissing
from tests.testbed.place import Place

API_VERSION = "kueue.x-k8s.io/v1beta2"
_WEBHOOKED = ("clusterqueue", "cohort", "job", "resourceflavor", "workload")

# Fixed in Kueue's source when it does not manage certificates itself: its metrics server reads its certificate here.
_METRICS_CERTIFICATE = Path("/etc/kueue/metrics/certs")


class Kueue:
    """The Kueue manager; stopping it leaves its webhooks in place, so that jobs are refused as in a real outage."""

    name = "kueue"

    def __init__(self, place: Place, kubernetes: Kubernetes) -> None:
        self._place = place
        self._kubernetes = kubernetes
        self.service = place.service("kueue", self._argv, self._is_ready)

    @property
    def services(self) -> Sequence[Service]:
        """Its one program."""
        return (self.service,)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows."""
        return {"metrics": self.metrics_url}

    @property
    def metrics_url(self) -> str:
        """Its metrics: HTTPS under a certificate of its own, for holders of the administrator's token."""
        return f"https://{self._place.address('metrics')}/metrics"

    @property
    def metrics_authority(self) -> Path:
        """The certificate that vouches for `metrics_url`."""
        return _METRICS_CERTIFICATE / "tls.crt"

    def start(self) -> None:
        """Applies definitions and webhooks and starts the manager; returns when it would accept a ClusterQueue."""
        if not self.service.is_running():
            _provide_metrics_certificate()
            self._apply_definitions(self._kubernetes.api)
            self._apply_webhooks(self._kubernetes.api)
        self.service.start()

    def stop(self) -> None:
        """Stops the manager."""
        self.service.stop()

    @cached_property
    def _certificate(self) -> Certificate:
        return loopback_certificate(self._place.folder / "tls")

    @property
    def _files(self) -> Path:
        return build.get(GO_PARTS["kueue"]).files / "config" / "components"

    def _argv(self) -> list[str]:
        configuration = yaml.safe_dump(self._configuration(), sort_keys=False)
        return [
            str(build.get(GO_PARTS["kueue"]).binary("kueue")),
            f"--config={self._place.write('configuration.yaml', configuration)}",
            f"--kubeconfig={self._kubernetes.kubeconfig_of('kueue')}",
        ]

    def _configuration(self) -> Manifest:
        return {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": "kueue-system",
            "health": {"healthProbeBindAddress": self._place.address("health")},
            "metrics": {"bindAddress": self._place.address("metrics"), "enableClusterQueueResources": True},
            "webhook": {
                "host": "127.0.0.1",
                "port": self._place.port("webhook"),
                "certDir": str(self._certificate.folder),
            },
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "clientConnection": {"qps": 200, "burst": 400},
            "integrations": {"frameworks": ["batch/job"]},
            "featureGates": {"VisibilityOnDemand": False, "PriorityBoost": True},
        }

    def _apply_definitions(self, api: KubeApi) -> None:
        names = []
        for file in sorted((self._files / "crd" / "bases").glob("*.yaml")):
            definition = yaml.load(file.read_text(), Loader=_FASTEST_LOADER)
            api.apply(definition, "testbed", force=True)
            names.append(definition["metadata"]["name"])
        wait_until(lambda: all(_is_established(api, name) for name in names), "Kueue's definitions to be established")

    def _apply_webhooks(self, api: KubeApi) -> None:
        text = (self._files / "webhook" / "manifests.yaml").read_text()
        for configuration in yaml.load_all(text, Loader=_FASTEST_LOADER):
            first = configuration["kind"][0].lower()  # m of Mutating, v of Validating
            wanted = {f"{first}{kind}.kb.io" for kind in _WEBHOOKED}
            hooks = [self._local(hook) for hook in configuration["webhooks"] if hook["name"] in wanted]
            api.apply(
                {**configuration, "metadata": {"name": f"kueue-{first}"}, "webhooks": hooks}, "testbed", force=True
            )

    def _local(self, hook: Mapping[str, Any]) -> Manifest:
        """The webhook, called at the manager's own address instead of through a Service."""
        url = f"https://{self._place.address('webhook')}{hook['clientConfig']['service']['path']}"
        return {**hook, "clientConfig": {"url": url, "caBundle": base64_of(self._certificate.certificate)}}

    def _is_ready(self) -> bool:
        if not answers(f"http://{self._place.address('health')}/readyz"):
            return False
        probe = {"apiVersion": API_VERSION, "kind": "ClusterQueue", "metadata": {"name": "probe"}, "spec": {}}
        try:
            self._kubernetes.api.request(
                "POST", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues", probe, query={"dryRun": "All"}
            )
        except (ApiRefused, urllib3.exceptions.HTTPError):
            return False
        return True


_FASTEST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _is_established(api: KubeApi, name: str) -> bool:
    definition = api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
    conditions = definition.get("status", {}).get("conditions") or ()  # null until the server has looked at it
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def _provide_metrics_certificate() -> None:
    if not (_METRICS_CERTIFICATE / "tls.key").exists():
        if os.geteuid() != 0:
            raise PartMissing(
                f"kueue reads a certificate from {_METRICS_CERTIFICATE}; start it once as root to make it"
            )
        loopback_certificate(_METRICS_CERTIFICATE)
