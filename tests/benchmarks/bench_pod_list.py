"""The first list of 50 000 pods from a real API server, against the client library's `list_pod_for_all_namespaces`.

The worst case for us: every pod asks for GPUs, so every one is kept. One pod is created through the API and given the
status that a kubelet writes; the others are copies of it under their own names, put into etcd beside it, since creating
them one by one would take minutes and read back as the same.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import urllib3

from controller.demo.processes import wait_until
from tests.testbed import Testbed
from tests.testbed.api import KubeApi

MEASURES: Final = {"pod_list_time_ratio": "times", "pod_list_memory_ratio": "times"}
PODS: Final = 50_000
NAMESPACES: Final = 50
GANG: Final = 8
_TURNS: Final = ("ours", "library", "ours", "library", "ours")
_BATCH: Final = 100
_CHILD_SECONDS: Final = 900
_ROOT: Final = Path(__file__).resolve().parents[2]
_ORIGINAL: Final = {"name": "pod", "namespace": "default"}
_WHEN: Final = "2026-03-01T12:00:00Z"


def measure(pods: int = PODS) -> Mapping[str, float]:
    """How many times less time and memory (growth to the peak, fresh process) our list takes. Some minutes.

    In turns, the quickest of each: whatever else the machine does only makes a list slower.
    """
    costs: dict[str, list[dict[str, float]]] = {"ours": [], "library": []}
    with tempfile.TemporaryDirectory() as folder, Testbed(Path(folder)) as bed:
        bed.kubernetes.etcd.start()
        bed.kubernetes.api_server.start()
        fill(bed, pods)
        for way in _TURNS:
            costs[way].append(_list_once(way, bed.kubernetes.kubeconfig, pods))
    least = {(way, what): min(cost[what] for cost in costs[way]) for way in costs for what in ("seconds", "bytes")}
    return {
        "pod_list_time_ratio": least["library", "seconds"] / least["ours", "seconds"],
        "pod_list_memory_ratio": least["library", "bytes"] / least["ours", "bytes"],
    }


def fill(bed: Testbed, count: int) -> None:
    """Put `count` running pods into the cluster and wait until the API server shows them."""
    api = bed.kubernetes.api
    wait_until(lambda: bool(api.list_objects("v1", "Namespace")), "the first namespace")
    original = _running_pod(api)
    etcd = urllib3.PoolManager(retries=False, timeout=120.0)
    copies = _copies(original, count - 1)
    while batch := [_put(pod) for pod in islice(copies, _BATCH)]:
        answer = etcd.request("POST", f"{bed.kubernetes.etcd_url}/v3/kv/txn", json={"success": batch})
        if answer.status != 200:
            raise RuntimeError(f"etcd: {answer.status} {answer.data[:200]!r}")
    # The copies of one transaction share a revision, which the API server never does itself; it may show a part of the
    # last ones until something newer has come.
    api.patch({"apiVersion": "v1", "kind": "Pod", "metadata": {**_ORIGINAL, "labels": {"filled": "yes"}}})
    wait_until(lambda: _pods_shown(api) == count, f"{count} pods to be shown")


def _running_pod(api: KubeApi) -> dict[str, Any]:
    resources = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "8"}
    container = {
        "name": "main",
        "image": "registry.example/vision/train:v1.2.3",
        "command": ["torchrun", "--nnodes=8", "train.py"],
        "env": [{"name": f"NCCL_SETTING_{number}", "value": str(number)} for number in range(10)],
        "resources": {"requests": resources, "limits": resources},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": str(uuid.UUID(int=1)), "controller": True}
    metadata = {**_ORIGINAL, "labels": {"app": "train"}, "ownerReferences": [owner]}
    spec = {
        "nodeName": "node-1",
        "containers": [container],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    state = {"name": "main", "image": container["image"], "imageID": "sha256:" + "0" * 64, "ready": True}
    status = {
        "phase": "Running",
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": _WHEN} for kind in kinds],
        "containerStatuses": [{**state, "restartCount": 0, "state": {"running": {"startedAt": _WHEN}}}],
        "podIP": "10.0.0.1",
        "podIPs": [{"ip": "10.0.0.1"}],
        "hostIP": "10.1.0.1",
        "startTime": _WHEN,
    }
    changed = {"apiVersion": "v1", "kind": "Pod", "metadata": _ORIGINAL, "status": status}
    return api.patch(changed, subresource="status")


def _copies(original: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    text = json.dumps(original)
    for number in range(count):
        pod = json.loads(text)
        gang = uuid.UUID(int=number // GANG)
        pod["metadata"].pop("resourceVersion")
        pod["metadata"].update(name=f"pod-{number}", namespace=f"team-{number % NAMESPACES}", uid=str(uuid.uuid4()))
        pod["metadata"]["ownerReferences"][0].update(name=f"train-{gang}", uid=str(gang))
        pod["spec"]["nodeName"] = f"node-{number // GANG}"
        yield pod


def _put(pod: dict[str, Any]) -> dict[str, Any]:
    key = f"/registry/pods/{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    return {"requestPut": {"key": _base64(key), "value": _base64(json.dumps(pod))}}


def _pods_shown(api: KubeApi) -> int:
    page = api.request("GET", "/api/v1/pods", query={"limit": "1"})
    return len(page["items"]) + int(page["metadata"].get("remainingItemCount", 0))


def _list_once(way: str, kubeconfig: Path, pods: int) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.pod_list_once", way, str(kubeconfig)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=_CHILD_SECONDS, check=True)
    cost: dict[str, float] = json.loads(done.stdout)
    if cost["pods"] != pods:
        raise RuntimeError(f"{way}: saw {cost['pods']} pods, expected {pods}")
    return cost


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
