"""Puts a demonstration together and keeps it going: live cluster, exporters, collector, loop, Prometheus, Alertmanager.

Real are the collector, the rules, Prometheus, Alertmanager, the doorbell, the loop and its decisions; simulated are the
cluster and the values of its exporters. Everything listens on loopback and ends with the `with` block.
"""

from __future__ import annotations

import secrets
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from collector.exporter.http import Address, HttpServer
from collector.model.snapshot import Evidence
from collector.model.tenancy import Site
from collector.sources.evidence import EvidenceLimits, read_evidence
from collector.sources.prometheus import Prometheus
from controller.actuators.sandbox import SandboxActuator
from controller.api.policy import Mode
from controller.demo.chronicle import Chronicle
from controller.demo.exporters import exporters_app
from controller.demo.live_cluster import LiveCluster
from controller.demo.monitoring import Monitoring, Programs
from controller.demo.processes import answers, free_port, wait_until
from controller.demo.scenery import Scenery
from controller.demo.standins import MemoryLedger, SoleLeader, TextBaseline, never_paused
from controller.demo.story import Story
from controller.runtime.collecting import Collecting, CollectorSettings
from controller.runtime.configuration import Configuration
from controller.runtime.doorbell import Doorbell
from controller.runtime.logs import log_as_json
from controller.runtime.loop import Loop, least_gap_seconds
from controller.runtime.observe import EvidenceSource, Observer, wait_clocks
from controller.runtime.status import StatusBoard
from controller.runtime.tick import Controller
from controller.runtime.web import application

_LOOPBACK: Final = "127.0.0.1"


class DemoBroken(RuntimeError):
    """A part of the demonstration ended by itself; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Play:
    """What is played."""

    scenery: Scenery
    story: Story
    time_scale: float
    seed: int
    listen: Address
    """Where the status page is."""


def page_url(host: str, port: int) -> str:
    """Where the status page is for whoever is on this machine. `host`: what it listens on, "" for all addresses."""
    return f"http://{Address(host or _LOOPBACK, port)}"


class Performance:
    """A running demonstration; a context manager. To be entered in the main thread."""

    def __init__(self, play: Play, programs: Programs, say: Callable[[str], None]) -> None:
        self.play, self._programs, self._say = play, programs, say
        self._stack = ExitStack()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._failure = ""
        notice = "A demo: the cluster and its exporters are simulated, and time runs faster."
        self.board = StatusBoard(play.scenery.name, notice=notice)
        self.page_url = self.prometheus_url = ""

    def __enter__(self) -> Self:
        """Start everything, in the order in which one part needs another. Raises ServiceFailed, ListenError."""
        try:
            self._begin()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop everything, the last first."""
        self._stack.close()

    @property
    def elapsed_seconds(self) -> float:
        """Since the curtain rose."""
        return time.time() - self.cluster.begins_at

    def check(self) -> None:
        """Raise DemoBroken when a part has ended by itself."""
        dead = [thread.name for thread in self._threads if not thread.is_alive()]
        reason = self._failure or (f"{dead[0]} ended" if dead else self._monitoring.died())
        if reason:
            raise DemoBroken(reason)

    def _begin(self) -> None:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="trimtab-demo-")))
        log = self._stack.enter_context((folder / "trimtab.log").open("w", encoding="utf-8"))
        log_as_json(log)
        token_file = folder / "token"
        token_file.write_text(secrets.token_urlsafe(24))
        doorbell = Doorbell(token_file.read_text())
        own_metrics = self._open_door(doorbell)
        self._say(f"status page {self.page_url}")
        self._say("starting Prometheus and Alertmanager")
        self._monitoring = Monitoring(self._programs, folder)
        self._stack.callback(self._monitoring.stop)
        self._monitoring.start()
        self.prometheus_url = self._monitoring.prometheus_url
        self._say("warming the cluster up")
        self.cluster = LiveCluster(self.play.scenery, self.play.story, self.play.time_scale, self.play.seed, time.time)
        self.chronicle = Chronicle(time.time, self.cluster.troubled)
        documents = folder / "documents.yaml"
        documents.write_text(self.play.scenery.documents_text())
        configuration = Configuration((documents,), self.play.scenery.name)
        site = configuration.load().site
        pages = self._serve_exporters()
        targets = {**pages, "trimtab-collector": self._collect(configuration, pages)}
        targets["trimtab-controller"] = own_metrics
        self._monitoring.watch(targets, site, self.play.time_scale, (f"{self.page_url}/alerts", token_file))
        evidence = self._evidence()
        # A loop that is blind at first would hold and say so: true, and no way to begin.
        scaled = site.scaled(self.play.time_scale)
        wait_until(lambda: not evidence(scaled, time.time()).blind, "the collector's series in Prometheus")
        self._run("loop", self._loop(configuration, doorbell, evidence).run)

    def _serve_exporters(self) -> dict[str, str]:
        cluster = self.cluster
        texts = {"gpu": cluster.gpu_text, "ceph": cluster.ceph_text, "rdma": cluster.rdma_text}
        server = self._serve(HttpServer(exporters_app(texts), Address(_LOOPBACK, 0)))
        return {name: f"http://{_LOOPBACK}:{server.port}/{name}/metrics" for name in texts}

    def _collect(self, configuration: Configuration, pages: dict[str, str]) -> str:
        """The real collector; where its metrics are."""
        settings = CollectorSettings(
            cluster=self.play.scenery.name,
            listen=Address(_LOOPBACK, free_port()),
            gpu_exporters=(pages["gpu"],),
            ceph_urls=(pages["ceph"],),
            time_scale=self.play.time_scale,
        )
        self._run("collector", Collecting(settings, configuration, self.cluster).run)
        url = f"http://{_LOOPBACK}:{settings.listen.port}"
        wait_until(lambda: bool(self._failure) or answers(f"{url}/readyz"), "the collector's first picture")
        if self._failure:
            raise DemoBroken(self._failure)
        return f"{url}/metrics"

    def _open_door(self, doorbell: Doorbell) -> str:
        """Status page, doorbell and metrics of the controller; where its metrics are."""
        door = HttpServer(application(self.board, doorbell, lambda: self.board.last is not None), self.play.listen)
        self._serve(door)
        self.page_url = page_url(self.play.listen.host, door.port)
        return f"{self.page_url}/metrics"

    def _evidence(self) -> EvidenceSource:
        prometheus, limits = Prometheus(self.prometheus_url), EvidenceLimits(time_scale=self.play.time_scale)

        def evidence(site: Site, now: float) -> Evidence:
            return read_evidence(prometheus, site, now, limits)

        return evidence

    def _loop(self, configuration: Configuration, doorbell: Doorbell, evidence: EvidenceSource) -> Loop:
        scale, leader = self.play.time_scale, SoleLeader()
        controller = Controller(
            configuration=configuration,
            observer=Observer(self.cluster, evidence, self.cluster, wait_clocks(scale)),
            store=MemoryLedger(),
            actuator=SandboxActuator(self.cluster),
            fence=leader,
            baseline_source=TextBaseline(self.play.scenery.baseline_text()),
            read_control=never_paused,
            clock=time.time,
            ceiling=Mode.ENFORCE,
            time_scale=scale,
        )
        gap_seconds = least_gap_seconds(scale)
        return Loop(controller, leader, self.board, doorbell, self.chronicle, time.monotonic, gap_seconds)

    def _serve(self, server: HttpServer) -> HttpServer:
        server.start()
        self._stack.callback(server.stop)
        return server

    def _run(self, name: str, body: Callable[[threading.Event], object]) -> None:
        """A thread that ends with the demonstration; when it ends by an error, that is kept for `check`."""

        def run() -> None:
            try:
                body(self._stop)
            except (RuntimeError, OSError, ValueError) as error:
                self._failure = f"{name}: {type(error).__name__}: {error}"
                raise

        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)
        self._stack.callback(thread.join, 10.0)
        self._stack.callback(self._stop.set)
