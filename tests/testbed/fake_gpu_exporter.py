"""A FAKE of dcgm-exporter: no GPU is behind it. It follows the real pods of an API server and serves what they'd show.

One process speaks for all nodes. Each pod that runs on a node gets as many of its devices as it asks for, and keeps
them; how busy they are stands in the pod's annotation `testbed.trimtab.io/gpu-busy-ratio` (0-1, by default 0.95).
A pod's annotation `testbed.trimtab.io/hangs` ("true") makes them spin and compute nothing.
A node's annotation `testbed.trimtab.io/xid` ("3:79") gives device 3 the error 79, `testbed.trimtab.io/lost-gpus`
("5,6") hides the devices 5 and 6.
"""

from __future__ import annotations

import argparse
import http.server
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

from controller.demo.gpu_text import GpuDevice, Holder, exposition_text
from tests.testbed.api import ApiRefused, KubeApi, Manifest
from tests.testbed.cluster import GPU, PRODUCT_LABEL

BUSY_RATIO = "testbed.trimtab.io/gpu-busy-ratio"
XID = "testbed.trimtab.io/xid"
HANGS = "testbed.trimtab.io/hangs"
LOST = "testbed.trimtab.io/lost-gpus"
_DEFAULT_BUSY_RATIO = 0.95


@dataclass
class Assignment:
    """Which device is held by which pod. Kept from look to look: a device never changes hands while its pod runs."""

    _held: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)  # pod uid → node, device indices

    def devices(self, nodes: Iterable[Manifest], pods: Iterable[Manifest]) -> list[GpuDevice]:
        """The devices of all nodes with GPUs, as the running pods hold them now."""
        running = {pod["metadata"]["uid"]: pod for pod in pods}
        self._held = {uid: held for uid, held in self._held.items() if uid in running}
        machines = [node for node in nodes if gpus_of_node(node) > 0]
        sizes = {node["metadata"]["name"]: gpus_of_node(node) for node in machines}
        for uid, pod in running.items():
            if uid not in self._held:
                self._assign(uid, pod, sizes.get(pod["spec"].get("nodeName"), 0))
        holders = {(node, index): running[uid] for uid, (node, indices) in self._held.items() for index in indices}
        return [device for node in machines for device in _devices_of(node, holders)]

    def _assign(self, uid: str, pod: Manifest, size: int) -> None:
        node = pod["spec"].get("nodeName", "")
        taken = {index for where, indices in self._held.values() if where == node for index in indices}
        free = [index for index in range(size) if index not in taken]
        wanted = gpus_of_pod(pod)
        if wanted:
            self._held[uid] = (node, tuple(free[:wanted]))


def gpus_of_node(node: Manifest) -> int:
    """How many GPUs a node offers."""
    return int(node.get("status", {}).get("capacity", {}).get(GPU, 0))


def gpus_of_pod(pod: Manifest) -> int:
    """How many GPUs a pod holds."""
    return sum(int(one.get("resources", {}).get("limits", {}).get(GPU, 0)) for one in pod["spec"]["containers"])


def _devices_of(node: Manifest, holders: Mapping[tuple[str, int], Manifest]) -> list[GpuDevice]:
    metadata = node["metadata"]
    notes = metadata.get("annotations", {})
    lost = {int(index) for index in notes.get(LOST, "").split(",") if index}
    pairs = (pair.partition(":") for pair in notes.get(XID, "").split(",") if pair)
    errors = {int(index): int(code) for index, _, code in pairs}
    model = metadata["labels"].get(PRODUCT_LABEL, "unknown").replace("-", " ")
    return [
        _device(metadata["name"], index, model, holders.get((metadata["name"], index)), errors.get(index, 0))
        for index in range(gpus_of_node(node))
        if index not in lost
    ]


def _device(node: str, index: int, model: str, pod: Manifest | None, xid: int) -> GpuDevice:
    if pod is None:
        return GpuDevice(node, index, model, xid=xid)
    metadata = pod["metadata"]
    busy_ratio = float(metadata.get("annotations", {}).get(BUSY_RATIO, _DEFAULT_BUSY_RATIO))
    holder = Holder(metadata["namespace"], metadata["name"], pod["spec"]["containers"][0]["name"])
    hangs = metadata.get("annotations", {}).get(HANGS) == "true"
    return GpuDevice(node, index, model, busy_ratio, holder, xid, hangs)


class _Page:
    """The text to serve; renewed by one thread, read by others."""

    def __init__(self, api: KubeApi, interval_seconds: float) -> None:
        self._api = api
        self._interval_seconds = interval_seconds
        self._assignment = Assignment()
        self.text: str | None = None

    def follow(self) -> None:
        """Renews the text for ever; serves none while the API server cannot be asked, rather than an old one."""
        while True:
            try:
                nodes = self._api.list_objects("v1", "Node")
                pods = self._api.list_objects("v1", "Pod", fields="status.phase=Running")
            except (ApiRefused, urllib3.exceptions.HTTPError) as error:
                self.text = None
                print(f"cannot list pods: {error}", file=sys.stderr, flush=True)
            else:
                self.text = exposition_text(self._assignment.devices(nodes, pods))
            time.sleep(self._interval_seconds)


def _handler(page: _Page) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = page.text
            self.send_response(200 if text is not None else 503)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write((text or "").encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            """One line a scrape would hide what matters."""

    return Handler


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves on the loopback address until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--interval-seconds", type=float, default=1.0, help="how often the pods are listed")
    options = parser.parse_args(arguments)
    page = _Page(KubeApi.from_kubeconfig(options.kubeconfig), options.interval_seconds)
    threading.Thread(target=page.follow, daemon=True).start()
    http.server.ThreadingHTTPServer(("127.0.0.1", options.port), _handler(page)).serve_forever()


if __name__ == "__main__":
    main()
