"""The stage of the stories: a site on the real control plane, and Trimtab's own programs as real processes beside it.

Collector and controller run as their users start them, with their own limited rights; Prometheus scrapes them with the
generated rules; Alertmanager rings the controller's doorbell.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from alerts.render.alertmanager import alertmanager_document
from alerts.render.rules import prometheus_rules
from alerts.rules.groups import rule_groups
from controller.api.documents import Documents, parse_documents
from controller.api.policy import Mode
from controller.demo.processes import Service, answers, free_port, wait_until
from controller.knobs.rights import Rule, cap_rules, home_rules, reading_rules, steering_rules
from tests.testbed.api import ApiRefused, Manifest
from tests.testbed.bed import Testbed
from tests.testbed.cluster import BORROW, GPU, Site, namespace, remove_site
from tests.testbed.monitoring import ScrapeTarget

TOKEN = "doorbell-token-of-the-stories"
HOME = "trimtab-system"
_CHECKOUT = Path(__file__).resolve().parents[2]
_OWN_CONFIG_MAPS = ("trimtab-baseline", "trimtab-ledger", "trimtab-status", "trimtab-control")
_KUEUE = "kueue.x-k8s.io/v1beta2"


@dataclass(frozen=True)
class Terms:
    """What the documents of a story say beside the site itself. Durations as people write them, before scaling."""

    time_scale: float
    mode: str = "Enforce"
    tick: str = "120s"
    dwell: str = "30m"
    ttl: str = "4h"
    start_within: Mapping[str, str] = field(default_factory=lambda: {"single-node": "10m", "small-gang": "20m"})
    burst: Mapping[str, int] = field(default_factory=dict)
    """Tenant → burst; default guarantee and floating."""
    storage_within: Mapping[str, str] = field(default_factory=dict)
    """Tenant → latency that its volumes were promised."""
    network_within: Mapping[str, str] = field(default_factory=dict)
    """Tenant → median latency between nodes that it was promised."""


@dataclass
class Scene:
    """One site, its documents, and the programs that were started for it."""

    bed: Testbed
    site: Site
    terms: Terms
    folder: Path
    kubeconfig: Path | None = None
    """What the controller connects with; default: its own user with limited rights."""
    _services: dict[str, Service] = field(default_factory=dict)

    def prepare(self) -> None:
        """Write documents and baseline, and make Trimtab's namespace."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "documents.yaml").write_text(self.documents_text())
        (self.folder / "token").write_text(TOKEN)
        api = self.bed.kubernetes.api
        api.apply(namespace(HOME), "git")
        for name in _OWN_CONFIG_MAPS:
            _gone(self, name)
        text = yaml.safe_dump_all(self.site.baseline_manifests(), sort_keys=False)
        baseline = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "trimtab-baseline", "namespace": HOME},
            "data": {"baseline.yaml": text},
        }
        api.apply(baseline, "git")

    def documents(self) -> Documents:
        """The documents, read as the programs read them."""
        return parse_documents(self.documents_text(), "documents.yaml", self.site.name)

    def documents_text(self) -> str:
        """Policy and tenants of the site."""
        terms = self.terms
        policy = {
            "mode": terms.mode,
            "pools": [
                {
                    "name": "h100",
                    "resource": GPU,
                    "nodeSelector": dict(self.site.node_labels),
                    "engine": self.site.engine,
                    **({"flavor": self.site.name} if self.site.engine == "kueue" else {"borrowClass": BORROW}),
                }
            ],
            "tiers": [{"name": "standard", "rank": 50, "startWithin": dict(terms.start_within)}],
            "cadence": {"tick": terms.tick, "confirmTicks": 2, "dwell": terms.dwell},
            "revert": {"style": "soft", "ttl": terms.ttl},
        }
        tenants = [
            {
                "tier": "standard",
                "members": {"namespaces": [tenant.name]},
                "pools": [
                    {
                        "pool": "h100",
                        "guarantee": tenant.floor,
                        "floating": tenant.floating,
                        **({"burst": terms.burst[tenant.name]} if tenant.name in terms.burst else {}),
                    }
                ],
                "objectives": self._objectives(tenant.name),
            }
            for tenant in self.site.tenants
        ]
        head = {"apiVersion": "trimtab.io/v1alpha1"}
        documents = [{**head, "kind": "Policy", "metadata": {"name": "default"}, "spec": policy}]
        for tenant, spec in zip(self.site.tenants, tenants, strict=True):
            documents.append({**head, "kind": "Tenant", "metadata": {"name": tenant.name}, "spec": spec})
        return yaml.safe_dump_all(documents, sort_keys=False)

    def _objectives(self, tenant: str) -> list[dict[str, Any]]:
        start = {"name": "start", "kind": "queue-wait", "target": 0.9, "window": "28d"}
        data = {"name": "data", "kind": "storage-latency", "storage": "rbd", "quantile": 0.99, "target": 0.99}
        fabric = {"name": "fabric", "kind": "rdma-latency", "quantile": 0.5, "target": 0.99}
        promised = ((data, self.terms.storage_within), (fabric, self.terms.network_within))
        return [start, *({**one, "within": within[tenant]} for one, within in promised if tenant in within)]

    # Programs

    def start_collector(self, *more: str, more_rights: Sequence[Rule] = ()) -> None:
        """`trimtab run collector`, with rights to read; `more` options that the story needs."""
        self.bed.start("gpu-exporter")
        user = self.bed.kubernetes.user("trimtab-collector", [*reading_rules(), *more_rights])
        arguments = ["--gpu-exporter", self.bed.gpu_exporter.url, *more]
        self._start("collector", user.kubeconfig, arguments, "/readyz")

    def start_controller(self, max_mode: str = "Enforce", kubeconfig: Path | None = None) -> None:
        """`trimtab run controller`, with the rights of its mode and not one more."""
        arguments = ["--prometheus-url", self.bed.prometheus.url, "--max-mode", max_mode]
        arguments += ["--webhook-token-file", str(self.folder / "token"), "--namespace", HOME, "--lease-seconds", "5"]
        self._start("controller", kubeconfig or self.controller_kubeconfig(max_mode), arguments, "/healthz")

    def controller_kubeconfig(self, max_mode: str = "Enforce") -> Path:
        """The controller's own user, with the rights that the chart would give it for that ceiling."""
        native = self.site.engine == "native"
        own = [] if native else [manifest["metadata"]["name"] for manifest in self.site.baseline_manifests()]
        ceiling = {mode.word: mode for mode in Mode}[max_mode]
        rules = [*reading_rules(), *steering_rules(own, ceiling), *home_rules(ceiling)]
        rules += cap_rules(ceiling) if native else []
        return self.bed.kubernetes.user("trimtab-controller", rules).kubeconfig

    def service(self, name: str) -> Service:
        """A program that was started: collector or controller."""
        return self._services[name]

    def address(self, name: str) -> str:
        """Where a program listens: http://host:port."""
        return f"http://127.0.0.1:{(self.folder / f'{name}.port').read_text()}"

    def run(self, *arguments: str) -> list[str]:
        """The command line that starts a verb of `trimtab`."""
        return [sys.executable, "-c", "from controller.cli.main import main; main()", *arguments]

    def stop(self) -> None:
        """Stop what was started, the last first."""
        for service in reversed(self._services.values()):
            service.stop()
        self._services.clear()

    def leave(self) -> None:
        """Stop everything and leave the cluster as it was found: no site, and nothing of Trimtab in its namespace."""
        self.stop()
        self.bed.prometheus.configure([], [])
        remove_site(self.bed.kubernetes.api, self.site)
        for name in _OWN_CONFIG_MAPS:
            _gone(self, name)

    def listen(self, name: str) -> str:
        """host:port of a program, chosen once and kept over restarts."""
        port_file = self.folder / f"{name}.port"
        if not port_file.exists():
            port_file.write_text(str(free_port()))
        return f"127.0.0.1:{port_file.read_text()}"

    def start_program(self, name: str, arguments: Sequence[str], ready: str) -> None:
        """Start `trimtab` with these arguments, which make it listen on `listen(name)`; wait until `ready` answers."""
        argv, address = self.run(*arguments), f"http://{self.listen(name)}{ready}"
        environment = {"PYTHONPATH": str(_CHECKOUT)}
        service = Service(name, lambda: argv, self.folder, lambda: answers(address), environment=environment)
        self._services[name] = service
        service.start()

    def _start(self, name: str, kubeconfig: Path, arguments: Sequence[str], ready: str) -> None:
        common = ["--config", str(self.folder / "documents.yaml"), "--kubeconfig", str(kubeconfig)]
        common += ["--cluster", self.site.name, "--time-scale", str(self.terms.time_scale)]
        self.start_program(name, ["run", name, *common, "--listen", self.listen(name), *arguments], ready)

    # Monitoring

    def watch_with_prometheus(self) -> None:
        """Scrape the programs by the generated rules; Alertmanager rings the doorbell. Call after they have a port."""
        scale = self.terms.time_scale
        rules = self.folder / "trimtab-rules.yaml"
        rules.write_text(prometheus_rules(rule_groups(self.documents().site, scale)))
        labels = {"cluster": self.site.name}
        targets = [
            ScrapeTarget("trimtab-collector", f"{self.address('collector')}/metrics", labels),
            ScrapeTarget("trimtab-controller", f"{self.address('controller')}/metrics", labels),
        ]
        self.bed.prometheus.configure(targets, [rules], self.bed.alertmanager)
        document = alertmanager_document(f"{self.address('controller')}/alerts", str(self.folder / "token"), scale)
        self.bed.alertmanager.load(document)

    def alerts_firing(self, name: str) -> list[dict[str, Any]]:
        """Alerts of that name about this site which Alertmanager holds; those of earlier stories linger there."""
        wanted = {"alertname": name, "cluster": self.site.name}
        return [one for one in self.bed.alertmanager.alerts() if wanted.items() <= one["labels"].items()]

    # What happened

    def floats(self) -> dict[str, int]:
        """Own object → GPUs it holds now, by the API server; a cap goes by the name of its namespace."""
        api, found = self.bed.kubernetes.api, {}
        for tenant in self.site.tenants if self.site.engine == "native" else ():
            quota = api.get("v1", "ResourceQuota", "trimtab-cap", tenant.name)
            found[tenant.name] = int(quota["spec"]["hard"][f"requests.{GPU}"])
        for manifest in self.site.baseline_manifests() if self.site.engine == "kueue" else ():
            name = manifest["metadata"]["name"]
            cohort = api.get(_KUEUE, "Cohort", name)
            found[name] = int(cohort["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"])
        return found

    def baseline(self) -> dict[str, int]:
        """Own object → GPUs of the baseline."""
        if self.site.engine == "native":
            return {tenant.name: tenant.floating for tenant in self.site.tenants}
        return {
            **{f"trimtab-{one.name}": one.floating for one in self.site.tenants},
            "trimtab-shared": self.site.shared,
        }

    def changes(self) -> list[dict[str, Any]]:
        """The ledger in the cluster, oldest change first."""
        try:
            found = self.bed.kubernetes.api.get("v1", "ConfigMap", "trimtab-ledger", HOME)
        except ApiRefused as refusal:
            if refusal.code == 404:
                return []
            raise
        changes = [json.loads(text) for text in (found.get("data") or {}).values()]
        return sorted(changes, key=lambda change: change["created_at"])

    def status(self) -> dict[str, Any]:
        """What the controller says of itself at its own door."""
        import urllib.request

        with urllib.request.urlopen(f"{self.address('controller')}/status", timeout=60) as answer:
            document: dict[str, Any] = json.loads(answer.read())
        return document

    def workloads(self, tenant: str) -> list[Manifest]:
        """The Kueue Workloads of a tenant's namespace."""
        return self.bed.kubernetes.api.list_objects(_KUEUE, "Workload", tenant)

    def wait_for_change(self) -> dict[str, Any]:
        """The first change of the ledger."""
        wait_until(lambda: bool(self.changes()), "a change in the ledger")
        return self.changes()[0]


def _gone(scene: Scene, name: str) -> None:
    try:
        scene.bed.kubernetes.api.delete("v1", "ConfigMap", name, HOME)
    except ApiRefused as refusal:
        if refusal.code != 404:
            raise


def condition(workload: Manifest, kind: str) -> Mapping[str, Any] | None:
    """A true condition of a Workload, or None."""
    found = workload.get("status", {}).get("conditions") or []
    return next((one for one in found if one["type"] == kind and one["status"] == "True"), None)
