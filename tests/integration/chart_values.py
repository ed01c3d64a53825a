"""Values of the Helm chart for tests: a site with a baseline, every toggle, and all of them at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from controller.knobs.roles import Owned
from tests.testbed.cluster import Site, SiteTenant

HOME = "trimtab-system"
SITE = Site("chartpool", 2, (SiteTenant("chart-a", floor=4, floating=4), SiteTenant("chart-b", floor=4)), shared=4)
CAP = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: trimtab-cap, namespace: chart-a}
spec:
  hard: {requests.nvidia.com/gpu: "4"}
  scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [borrow]}]}
"""
BASELINE = "# as agreed\n---\n" + yaml.safe_dump_all(SITE.baseline_manifests(), sort_keys=False) + "---" + CAP
OWNED = Owned(("trimtab-chart-a", "trimtab-chart-b", "trimtab-shared"), ("chart-a",))
DOCUMENTS = {
    "site.yaml": "apiVersion: trimtab.io/v1alpha1\nkind: Policy\nmetadata: {name: default}\nspec: {mode: Observe}\n"
}
FABRIC = (Path(__file__).resolve().parents[2] / "deploy" / "examples" / "rdma" / "fabric.yaml").read_text()
WHOLE: dict[str, Any] = {
    "cluster": {"name": "east"},
    "commonLabels": {"team": "gpu"},
    "image": {"repository": "registry.example/ai/trimtab", "digest": f"sha256:{'0' * 64}", "pullSecrets": ["pull"]},
    "prometheus": {"url": "http://prometheus.monitoring:9090"},
    "documents": DOCUMENTS,
    "baseline": BASELINE,
    "timeScale": 60,
    "controller": {"maxMode": "Enforce", "doorbell": {"existingSecret": "trimtab-doorbell"}, "extraArgs": ["--help"]},
    "collector": {
        "gpuExporters": ["http://node-1:9400/metrics"],
        "cephUrls": ["http://ceph-mgr:9283/metrics"],
        "accounting": {"enabled": True, "persistence": {"storageClass": "local-path"}},
    },
    "node": {"enabled": True, "nvml": True, "runtimeClassName": "nvidia", "nodeSelector": {"gpu": "yes"}},
    "pods": {
        "annotations": {"note": "yes"},
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "infra", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "system-cluster-critical",
    },
    "monitoring": {
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    },
    "networkPolicy": {"enabled": True, "from": [{"namespaceSelector": {"matchLabels": {"team": "monitoring"}}}]},
}
TOGGLES: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "everything": WHOLE,
    "own documents": {"existingDocuments": "our-documents"},
    "history in a pod's own file": {"collector": {"accounting": {"enabled": True, "persistence": {"enabled": False}}}},
    "history in PostgreSQL": {"collector": {"accounting": {"enabled": True, "existingSecret": "trimtab-history"}}},
    "no collector": {"collector": {"enabled": False}},
    "nodes": {"node": {"enabled": True}},
    "probes": {
        "node": {
            "enabled": True,
            "probe": {
                "enabled": True,
                "fabric": FABRIC,
                "existingSecret": "trimtab-probe",
                "image": "registry.example/ai/trimtab-probe:1",
                "rdmaResource": "rdma/hca_shared",
            },
        }
    },
    "no janitor": {"janitor": {"enabled": False}},
    "no revert at uninstall": {**WHOLE, "uninstall": {"revert": False}},
    "monitoring with own rules": {"monitoring": {"prometheusRule": {"enabled": True, "rules": "groups: []\n"}}},
    "another name": {"fullnameOverride": "gpu-trim", "nameOverride": "trim"},
}


def at(mode: str, **more: Any) -> dict[str, Any]:
    """Values of a site with a baseline, under that ceiling."""
    return {"baseline": BASELINE, "controller": {"maxMode": mode}, **more}
