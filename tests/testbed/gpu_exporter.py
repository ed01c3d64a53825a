"""Runs the fake GPU exporter as a process of its own, so that a story can kill it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from controller.demo.processes import Service, answers
from tests.testbed.control_plane import Kubernetes
from tests.testbed.place import Place

_CHECKOUT = Path(__file__).resolve().parents[2]


class GpuExporter:
    """One process that shows all GPUs of the cluster; see fake_gpu_exporter.py for how tests tell it what to show."""

    name = "gpu-exporter"

    def __init__(self, place: Place, kubernetes: Kubernetes) -> None:
        self._place = place
        self._kubernetes = kubernetes
        self.service = place.service(
            "gpu-exporter", self._argv, lambda: answers(self.url), {"PYTHONPATH": str(_CHECKOUT)}
        )

    @property
    def services(self) -> Sequence[Service]:
        """Its one program."""
        return (self.service,)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows."""
        return {"metrics": self.url}

    @property
    def url(self) -> str:
        """Address of its page."""
        return f"http://{self._place.address('metrics')}/metrics"

    def start(self) -> None:
        """Starts it; it has seen the pods once when this returns."""
        self.service.start()

    def stop(self) -> None:
        """Stops it."""
        self.service.stop()

    def _argv(self) -> list[str]:
        kubeconfig = self._kubernetes.kubeconfig_of("gpu-exporter")
        port = self._place.port("metrics")
        return [sys.executable, "-m", "tests.testbed.fake_gpu_exporter", f"--kubeconfig={kubeconfig}", f"--port={port}"]
