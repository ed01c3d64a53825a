"""Runs the collector's node role: one loop that looks at this node, and the metrics server, until told to stop.

Needs neither documents nor the API server, and loads nothing of either: it runs on every node.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final, Protocol

import structlog
from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector
from starlette.routing import Route

from collector.exporter.health import Health
from collector.exporter.http import Address, HttpServer, metrics_app
from collector.exporter.node_families import NodeCollector
from collector.exporter.node_role import NodeRole, NodeSources
from collector.sources.interface_counters import read_interface_counters
from collector.sources.mapped_images import read_mapped_images
from collector.sources.nvml import Nvml, load_nvml
from collector.sources.pod_resources import read_device_holders
from collector.sources.rdma_sysfs import pci_addresses, read_rdma_files

_LOG = structlog.get_logger("trimtab.collector")
_LOOK_SECONDS: Final = 15.0
_LOOKS_UNTIL_STALE: Final = 6
_RDMA: Final = "class/infiniband"
_PROBE_END_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What the command line says."""

    cluster: str
    node: str
    listen: Address
    sysfs: Path = Path("/sys")
    nvml: bool = False
    """Whether GPUs are asked by NVML; only where no exporter tells them."""
    time_scale: float = 1.0
    pod_resources: Path | None = None
    """Socket of the kubelet that tells which pod holds which device."""

    @property
    def look_seconds(self) -> float:
        """How often the node is looked at."""
        return max(1.0, _LOOK_SECONDS / self.time_scale)

    @property
    def sources(self) -> NodeSources:
        """The files and calls of this node."""
        folder, kubelet = self.sysfs / _RDMA, self.pod_resources
        return NodeSources(
            rdma_files=lambda: read_rdma_files(folder),
            interfaces=lambda: read_interface_counters(folder),
            mapped_images=lambda: read_mapped_images(self.sysfs),
            open_gpus=(lambda: Nvml(load_nvml())) if self.nvml else None,
            rdma_addresses=lambda: pci_addresses(folder),
            holders=None if kubelet is None else (lambda: read_device_holders(kubelet)),
        )


class Probing(Protocol):
    """What is needed of a `controller.runtime.node_probing.NodeProbing`, which is loaded where probes are on alone."""

    @property
    def routes(self) -> Sequence[Route]:
        """What peers and people may ask."""
        ...

    def collector(self, cluster: str) -> Collector:
        """Its metrics."""
        ...

    def run(self, stop: threading.Event) -> None:
        """Period after period."""
        ...


class NodeCollecting:
    """The running node role. `run` returns when `stop` is set."""

    def __init__(self, settings: NodeSettings, probing: Probing | None = None) -> None:
        self._settings, self._probing = settings, probing
        health = Health()
        self._role = NodeRole(settings.node, settings.sources, health, time.time)
        self._told: dict[str, str] = {}
        registry = CollectorRegistry()
        registry.register(
            NodeCollector(
                (settings.cluster, settings.node, version("trimtab")),
                lambda: self._role.published,
                health.state,
                time.time,
                _LOOKS_UNTIL_STALE * settings.look_seconds,
            )
        )
        if probing is not None:
            registry.register(probing.collector(settings.cluster))
        more = probing.routes if probing is not None else ()
        app = metrics_app(registry, lambda: self._role.published.at is not None, "nothing was looked at yet", more)
        self.server = HttpServer(app, settings.listen)

    def run(self, stop: threading.Event) -> None:
        """Serve and look. Raises ListenError."""
        self.server.start()
        _LOG.info("collecting", role="node", node=self._settings.node, port=self.server.port)
        walk = self._probe_until(stop)
        try:
            while not stop.is_set():
                self._tell(self._role.look())
                stop.wait(self._settings.look_seconds)
        finally:
            self.server.stop()
            if walk is not None:
                walk.join(_PROBE_END_SECONDS)
            _LOG.info("stopped")

    def _probe_until(self, stop: threading.Event) -> threading.Thread | None:
        """What is slow has its own thread; None: nothing is probed."""
        if self._probing is None:
            return None
        walk = threading.Thread(target=self._probing.run, args=(stop,), name="probes", daemon=True)
        walk.start()
        return walk

    def _tell(self, failures: dict[str, str]) -> None:
        """Each failure once, and once when it is over."""
        for source, sentence in failures.items():
            if self._told.get(source) != sentence:
                _LOG.warning("can not be read", source=source, problem=sentence)
        for source in self._told.keys() - failures.keys():
            _LOG.info("can be read again", source=source)
        self._told = failures
