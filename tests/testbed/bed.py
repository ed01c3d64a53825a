"""The testbed: knows which part needs which, starts and stops them. How a part is run stands in its own module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from controller.demo.processes import Service
from tests.testbed.ceph import Ceph
from tests.testbed.control_plane import Kubernetes
from tests.testbed.gpu_exporter import GpuExporter
from tests.testbed.kueue import Kueue
from tests.testbed.kwok import Kwok
from tests.testbed.monitoring import Alertmanager, Prometheus
from tests.testbed.place import Place
from tests.testbed.postgres import Postgres
from tests.testbed.ucx import Ucx

NEEDS: Mapping[str, tuple[str, ...]] = {
    "kubernetes": (),
    "kwok": ("kubernetes",),
    "kueue": ("kubernetes",),
    "gpu-exporter": ("kubernetes",),
    "alertmanager": (),
    "prometheus": (),
    "ceph": (),
    "ucx": (),
    "postgres": (),
}


class UnknownPart(ValueError):
    """No part has that name."""


class Part(Protocol):
    """What the testbed asks of a part."""

    name: str

    @property
    def services(self) -> Sequence[Service]:
        """Its programs, in the order of their start."""

    @property
    def addresses(self) -> Mapping[str, str]:
        """Where it can be reached."""

    def start(self) -> None:
        """Starts what does not run yet and waits until it serves."""

    def stop(self) -> None:
        """Stops everything it started."""


class Testbed:
    """Real parts in one folder. As a context manager it stops on exit whatever it started.

    With `tethered` (the default) nothing outlives this process, even when it is killed; without, the parts stay up and
    another Testbed on the same folder takes them up again.
    """

    __test__ = False  # not a test class, whatever its name says to pytest

    def __init__(self, folder: Path, tethered: bool = True) -> None:
        self.folder = folder.resolve()
        self._tethered = tethered

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @cached_property
    def kubernetes(self) -> Kubernetes:
        """etcd, API server, scheduler, controller-manager."""
        return Kubernetes(self._place("kubernetes"))

    @cached_property
    def kwok(self) -> Kwok:
        """Simulated kubelets."""
        return Kwok(self._place("kwok"), self.kubernetes)

    @cached_property
    def kueue(self) -> Kueue:
        """The queueing system, with its webhooks."""
        return Kueue(self._place("kueue"), self.kubernetes)

    @cached_property
    def gpu_exporter(self) -> GpuExporter:
        """A fake dcgm-exporter that follows the real pods."""
        return GpuExporter(self._place("gpu-exporter"), self.kubernetes)

    @cached_property
    def prometheus(self) -> Prometheus:
        """Scrapes, evaluates rules, answers queries."""
        return Prometheus(self._place("prometheus"))

    @cached_property
    def alertmanager(self) -> Alertmanager:
        """Groups alerts and calls webhooks."""
        return Alertmanager(self._place("alertmanager"))

    @cached_property
    def ceph(self) -> Ceph:
        """A small Ceph cluster that can be made slow."""
        return Ceph(self._place("ceph"))

    @cached_property
    def ucx(self) -> Ucx:
        """Two hosts on one slow link, with a noisy neighbour."""
        return Ucx(self._place("ucx"))

    @cached_property
    def postgres(self) -> Postgres:
        """A database server."""
        return Postgres(self._place("postgres"))

    def part(self, name: str) -> Part:
        """The part of that name, running or not; raises UnknownPart."""
        parts: Mapping[str, Part] = {
            "kubernetes": self.kubernetes,
            "kwok": self.kwok,
            "kueue": self.kueue,
            "gpu-exporter": self.gpu_exporter,
            "prometheus": self.prometheus,
            "alertmanager": self.alertmanager,
            "ceph": self.ceph,
            "ucx": self.ucx,
            "postgres": self.postgres,
        }
        if name not in parts:
            raise UnknownPart(f"no part {name!r}; there are {', '.join(NEEDS)}")
        return parts[name]

    def start(self, *names: str) -> None:
        """Starts parts and what they need; those that run already are left alone.

        Raises UnknownPart, PartMissing (what to install), BuildFailed, or ServiceFailed with the end of a log.
        """
        for name in start_order(names):
            self.part(name).start()

    def stop(self, *names: str) -> None:
        """Stops the named parts, by default all, the last started first."""
        for name in reversed(list(NEEDS)):
            if name in names or not names:
                self.part(name).stop()

    @contextmanager
    def api_server_away(self) -> Iterator[None]:
        """The API server is stopped inside; after it, it serves again, and whoever follows it follows it again.

        Its followers are started anew. Left to themselves they would come back late: a watch of theirs that met nobody
        tries again after a pause which doubles up to 30 seconds, is drawn out by up to as much again, and is forgotten
        only after two quiet minutes. After the second outage within those, Kueue saw nothing for over a minute.
        """
        kubernetes = self.kubernetes
        kubernetes.api_server.stop()
        try:
            yield
        finally:
            kubernetes.api_server.start()
            followers = (kubernetes.scheduler, kubernetes.controller_manager, self.kwok.service, self.kueue.service)
            for service in followers:
                if service.is_running():
                    service.stop()
                    service.start()

    def _place(self, name: str) -> Place:
        return Place(self.folder / name, self._tethered)


def start_order(names: Sequence[str]) -> list[str]:
    """The named parts and what they need, each once, needs first; raises UnknownPart."""
    order: list[str] = []
    for name in names:
        if name not in NEEDS:
            raise UnknownPart(f"no part {name!r}; there are {', '.join(NEEDS)}")
        order += [part for part in (*start_order(NEEDS[name]), name) if part not in order]
    return order
