"""KWOK stands in for the kubelets: its nodes are Ready, its pods run, finish and go away as the stages say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from controller.demo.processes import Service, answers
from tests.testbed import build
from tests.testbed.control_plane import Kubernetes
from tests.testbed.parts import GO_PARTS
from tests.testbed.place import Place

RUN_SECONDS = "trimtab.io/run-seconds"  # annotation: a pod that has it completes after so many seconds
_OWN_STAGE = Path(__file__).with_name("stages") / "pod-complete-after-run-seconds.yaml"


class Kwok:
    """One process that plays every node of the cluster."""

    name = "kwok"

    def __init__(self, place: Place, kubernetes: Kubernetes) -> None:
        self._place = place
        self._kubernetes = kubernetes
        self.service = place.service("kwok", self._argv, lambda: answers(f"http://{place.address('kwok')}/healthz"))

    @property
    def services(self) -> Sequence[Service]:
        """Its one program."""
        return (self.service,)

    @property
    def addresses(self) -> Mapping[str, str]:
        """What `status` shows."""
        return {"url": f"http://{self._place.address('kwok')}"}

    def start(self) -> None:
        """Starts it; nodes that are made afterwards become Ready within a second."""
        self.service.start()

    def stop(self) -> None:
        """Stops it: nodes and pods stay as they are."""
        self.service.stop()

    def _argv(self) -> list[str]:
        part = GO_PARTS["kwok"]
        built = build.get(part)
        stages = [built.files / file for file in part.files]
        return [
            str(built.binary("kwok")),
            f"--kubeconfig={self._kubernetes.kubeconfig_of('kwok')}",
            "--manage-all-nodes=true",
            f"--server-address={self._place.address('kwok')}",
            *(f"--config={stage}" for stage in (*stages, _OWN_STAGE)),
        ]
