"""Runs the collector: documents, picture, GPU exporters and the metrics server together, until told to stop.

The ticks have a thread to themselves; what may be slow (GPU exporters, Prometheus) has its own. Writes to no cluster.
These threads are outermost frames: a mistake of ours in one round is said and counted, and the next round tries again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final, Protocol

import structlog
from prometheus_client import CollectorRegistry

from collector.assemble.ceph_memory import CephMemory
from collector.assemble.gang_signs import GangMemory
from collector.assemble.gpu_ledger import Devices
from collector.exporter.ceph import CephPages
from collector.exporter.ceph_admin import AdminRounds
from collector.exporter.cluster_role import ClusterRole, PictureSource
from collector.exporter.fabric_families import FabricCollector
from collector.exporter.families import Published, SnapshotCollector
from collector.exporter.gpu import GpuExporters
from collector.exporter.gpu_series import GpuSeries
from collector.exporter.health import Health
from collector.exporter.http import Address, HttpServer, metrics_app
from collector.exporter.probe_http import links_route
from collector.exporter.rdma import RdmaProbes
from collector.exporter.repeated import Repeated
from collector.exporter.storage_families import StorageCollector
from collector.model.fabric import ProbePlan
from collector.model.tenancy import Site
from collector.sources.ceph_admin import CephAdmin
from collector.sources.evidence import EvidenceLimits, read_evidence
from collector.sources.prometheus import Prometheus
from collector.sources.rdma_probe import RdmaProber
from collector.sources.scrape import ScrapeLimits, Scraper
from controller.api.errors import InputError
from controller.runtime.configuration import Configuration
from controller.runtime.keeping import Keeping
from controller.runtime.observe import wait_clocks
from controller.runtime.probe_file import ProbeFile
from controller.runtime.probe_gathering import probe_board

_LOG = structlog.get_logger("trimtab.collector")
_STALE_AFTER_SECONDS: Final = 90.0
_GPU_SECONDS: Final = 15.0
_IDLE_WINDOW_SECONDS: Final = 600.0
_CEPH_WINDOW_SECONDS: Final = 60.0
_GATHER_SECONDS: Final = 60.0
_CEPH_SECONDS: Final = 5.0
_CEPH_STALL_SECONDS: Final = 10.0
_CEPH_PAGES: Final = ScrapeLimits(read_seconds=15.0, total_seconds=30.0, body_bytes=128 * 1024 * 1024)
"""The page of a manager of a thousand OSDs is large and slow, and slowest just when OSDs fail."""
_KEEP_SECONDS: Final = 1.0
_HISTORY_SECONDS: Final = 10.0
_ROUNDS_PER_WINDOW: Final = 12
"""A window of fewer rounds would forget a device over one slow round."""


@dataclass(frozen=True, slots=True)
class CollectorSettings:
    """What the command line says. Durations are divided by `time_scale`, but never below what can be read."""

    cluster: str
    listen: Address
    gpu_exporters: tuple[str, ...] = ()
    ceph_urls: tuple[str, ...] = ()
    ceph_admin: Path | None = None
    """The ceph.conf of a client that may ask as an administrator; None: only pages are read."""
    ceph_user: str = "client.admin"
    rdma_probes: ProbePlan | None = None
    probe_file: ProbeFile | None = None
    """Where the NICs are named whose nodes probe each other; what they say is gathered."""
    prometheus_url: str | None = None
    time_scale: float = 1.0

    @property
    def tick_seconds(self) -> float:
        """How often a snapshot is made."""
        return 1.0 if self.time_scale > 1 else 5.0

    @property
    def gpu_seconds(self) -> float:
        """How often the GPU exporters are read."""
        return max(1.0, _GPU_SECONDS / self.time_scale)

    @property
    def ceph_seconds(self) -> float:
        """How often Ceph's pages are read: ceph-exporter has news every five seconds, and stalls may be short."""
        return max(1.0, _CEPH_SECONDS / self.time_scale)

    @property
    def idle_window_seconds(self) -> float:
        """How long a held GPU must do nothing to be called idle."""
        return max(_IDLE_WINDOW_SECONDS / self.time_scale, _ROUNDS_PER_WINDOW * self.gpu_seconds)

    @property
    def gang_memory(self) -> GangMemory:
        """How long a gang must spin to be hung."""
        usual, scale = GangMemory(), self.idle_window_seconds / _IDLE_WINDOW_SECONDS
        return GangMemory(
            longest_gap_seconds=usual.longest_gap_seconds * scale,
            suspected_after_seconds=usual.suspected_after_seconds * scale,
            hung_after_seconds=usual.hung_after_seconds * scale,
        )

    @property
    def ceph_memory(self) -> CephMemory:
        """Over how long latencies are means, and for how long nothing must end to be a stall.

        Not below what Ceph's own reports allow: OSDs tell the manager what they did every five seconds.
        """
        return CephMemory(
            window_seconds=max(_CEPH_WINDOW_SECONDS / self.time_scale, 20.0),
            stall_seconds=max(_CEPH_STALL_SECONDS / self.time_scale, 10.0),
        )

    @property
    def rdma_plan(self) -> ProbePlan:
        """The plan at the pace of the time scale; without one, a plan of no edges."""
        plan = self.rdma_probes or ProbePlan(targets=())
        return replace(plan, interval_seconds=max(1.0, plan.interval_seconds / self.time_scale))

    @property
    def gather_seconds(self) -> float:
        """How often the probes of all nodes are gathered."""
        return max(1.0, _GATHER_SECONDS / self.time_scale)

    @property
    def scrape_limits(self) -> ScrapeLimits:
        """A round over the exporters takes no longer than about two of its intervals."""
        usual = ScrapeLimits()
        return ScrapeLimits(
            connect_seconds=min(usual.connect_seconds, self.gpu_seconds),
            read_seconds=min(usual.read_seconds, self.gpu_seconds),
            total_seconds=min(usual.total_seconds, self.gpu_seconds),
        )


class Watch(PictureSource, Protocol):
    """What is needed of a `collector.sources.kubernetes_watch.ClusterWatch`."""

    def start(self) -> None:
        """Begin to list and watch."""
        ...

    def wait_ready(self, timeout_seconds: float) -> bool:
        """Whether each kind was read, or it is known why not."""
        ...

    def stop(self, within_seconds: float = 2.0) -> bool:
        """End its threads."""
        ...


class Collecting:
    """The running collector. `run` returns when `stop` is set."""

    def __init__(
        self, settings: CollectorSettings, configuration: Configuration, watch: Watch, keeping: Keeping | None = None
    ) -> None:
        self._settings, self._configuration, self._watch, self._keeping = settings, configuration, watch, keeping
        self._health = Health()
        self._told = _Told()
        self._scraper = Scraper(settings.scrape_limits)
        self._gpus = GpuExporters(
            settings.gpu_exporters, self._scraper, self._health, time.time, settings.idle_window_seconds
        )
        self._series = None
        if settings.prometheus_url is not None:
            asked = Prometheus(settings.prometheus_url)
            self._series = GpuSeries(asked, settings.cluster, self._health, time.time, settings.idle_window_seconds)
        self._ceph_scraper = Scraper(_CEPH_PAGES)
        self._ceph = CephPages(settings.ceph_urls, self._ceph_scraper, self._health, time.time, settings.ceph_memory)
        admin_file, user = settings.ceph_admin, settings.ceph_user
        self._ceph_admin = (
            None
            if admin_file is None
            else AdminRounds(lambda: CephAdmin(admin_file, user), self._ceph.state, self._health, time.time)
        )
        self._role = ClusterRole(
            pictures=watch,
            devices=self._devices,
            health=self._health,
            clock=time.time,
            clocks=wait_clocks(settings.time_scale),
            published=Published(settings.cluster),
            history=None if keeping is None else keeping.recorder,
            gangs=settings.gang_memory,
        )
        registry = CollectorRegistry()
        registry.register(
            SnapshotCollector(
                lambda: self._role.published, self._health.state, time.time, _STALE_AFTER_SECONDS, version("trimtab")
            )
        )
        if settings.ceph_urls:
            state = self._ceph.state if self._ceph_admin is None else self._ceph_admin.state
            registry.register(StorageCollector(lambda: self._role.published, state, time.time, _STALE_AFTER_SECONDS))
        self._prober = RdmaProber(settings.rdma_plan)
        self._fabric = RdmaProbes(settings.rdma_plan, self._prober, self._health, time.time)
        if settings.rdma_probes is not None:
            registry.register(
                FabricCollector(
                    lambda: self._role.published, lambda: self._fabric.memory, time.time, _STALE_AFTER_SECONDS
                )
            )
        self._board = probe_board(
            settings.probe_file, self._health, registry, lambda: self._role.published, _STALE_AFTER_SECONDS
        )
        more = () if self._board is None else (links_route(self._board.document),)
        self.server = HttpServer(metrics_app(registry, self._is_ready, more=more), settings.listen)

    def run(self, stop: threading.Event) -> None:
        """Serve and tick. Raises ListenError, and InputError when the documents were never good."""
        site = self._site()
        self.server.start()
        self._watch.start()
        helpers = self._helpers()
        for helper in helpers:
            helper.start()
        _LOG.info("collecting", port=self.server.port, tenants=len(site.tenants), pools=len(site.pools))
        try:
            # A kind that was not read yet looks like one without objects: no tick before all are settled.
            while not stop.is_set() and not self._watch.wait_ready(0.2):
                continue
            if self._keeping is not None:  # waits of before are known from the first tick on, if they can be
                self._keeping.recorder.settled.wait(_HISTORY_SECONDS)
            tick = self._lasting("tick", self._tick)
            while not stop.is_set():
                tick()
                stop.wait(self._settings.tick_seconds)
        finally:
            self._prober.close()
            for helper in helpers:
                helper.stop()
            if self._keeping is not None:
                self._tell_keeping(self._keeping.close())
            self._watch.stop()
            self.server.stop()
            self._scraper.close()
            self._ceph_scraper.close()
            _LOG.info("stopped")

    def _devices(self, now: float) -> Devices:
        if self._series is None:
            return self._gpus.devices(now)
        if self._settings.gpu_exporters:
            return replace(self._gpus.devices(now), traffic=self._series.traffic(now))
        return self._series.devices(now)

    def _is_ready(self) -> bool:
        return self._role.published.snapshot is not None

    def _helpers(self) -> list[Repeated]:
        helpers: list[Repeated] = []
        if self._settings.gpu_exporters:
            helpers.append(self._repeated("gpu-exporters", self._settings.gpu_seconds, self._read_gpus))
        if self._settings.ceph_urls:
            helpers.append(self._repeated("ceph", self._settings.ceph_seconds, self._read_ceph))
        if self._settings.ceph_urls and self._ceph_admin is not None:
            ask = partial(self._read_ceph_admin, self._ceph_admin)
            helpers.append(self._repeated("ceph-admin", self._settings.ceph_seconds, ask))
        if self._settings.rdma_probes is not None:
            helpers.append(self._repeated("rdma-probes", self._settings.rdma_plan.interval_seconds, self._probe_rdma))
        if self._board is not None:
            helpers.append(self._repeated("probes", self._settings.gather_seconds, self._gather_probes))
        if self._settings.prometheus_url is not None:
            asked = Prometheus(self._settings.prometheus_url)
            every_seconds = self._settings.gpu_seconds * 2
            helpers.append(self._repeated("own-series", every_seconds, lambda: self._check_arrival(asked)))
            helpers.append(self._repeated("gpu-series", every_seconds, self._read_series))
        if self._keeping is not None:
            helpers.append(self._repeated("accounting", _KEEP_SECONDS, self._keep))
        return helpers

    def _repeated(self, name: str, interval_seconds: float, action: Callable[[], None]) -> Repeated:
        return Repeated(name, interval_seconds, self._lasting(name, action))

    def _lasting(self, what: str, action: Callable[[], None]) -> Callable[[], None]:
        """The action, which no longer raises anything."""

        def done() -> None:
            try:
                action()
            except Exception:
                self._health.error(what, "", "unexpected")
                _LOG.exception("failed unexpectedly", what=what)

        return done

    def _tick(self) -> None:
        published = self._role.tick(self._site())
        snapshot = published.snapshot
        blind = {sentence.partition(":")[0]: sentence for sentence in (snapshot.blind if snapshot else ())}
        self._told.say("picture", blind)

    def _site(self) -> Site:
        """The documents in force, durations scaled; an edit that broke them is told and not taken."""
        documents, error = self._configuration.reload()
        self._told.say("documents", _mistakes(error))
        if error is not None:
            self._health.error("documents", "", "invalid")
        return documents.site.scaled(self._settings.time_scale)

    def _read_gpus(self) -> None:
        self._told.say("gpu exporter", self._gpus.read())

    def _read_series(self) -> None:
        if self._series is not None:
            self._told.say("gpu series", self._series.read(gpus=not self._settings.gpu_exporters))

    def _read_ceph(self) -> None:
        self._told.say("ceph", self._ceph.read())

    def _read_ceph_admin(self, rounds: AdminRounds) -> None:
        self._told.say("ceph as an administrator", rounds.read())

    def _probe_rdma(self) -> None:
        self._told.say("rdma probe", self._fabric.read())

    def _gather_probes(self) -> None:
        if self._board is not None:
            try:
                self._told.say("probes of nodes", self._board.read())
            except InputError as error:  # the file was broken while it was used
                self._told.say("probes of nodes", _mistakes(error))

    def _keep(self) -> None:
        if self._keeping is not None:
            self._tell_keeping(self._keeping.write())

    def _tell_keeping(self, problems: Mapping[str, str]) -> None:
        for place in problems:
            self._health.error("accounting", "", place)
        self._told.say("accounting", problems, "not kept", "kept again")

    def _check_arrival(self, prometheus: Prometheus) -> None:
        snapshot = self._role.published.snapshot
        if snapshot is None:
            return
        limits = EvidenceLimits(time_scale=self._settings.time_scale)
        blind = read_evidence(prometheus, snapshot.site, time.time(), limits).blind
        if blind:
            self._health.error("prometheus", "", "own_series_missing")
        self._told.say("own series in Prometheus", {"": blind[0]} if blind else {})


def _mistakes(error: InputError | None) -> Mapping[str, str]:
    return {} if error is None else {mistake.place: str(mistake) for mistake in error.mistakes}


class _Told:
    """Says a problem when it begins and when it ends, not once per tick."""

    def __init__(self) -> None:
        self._open: dict[str, Mapping[str, str]] = {}

    def say(
        self,
        what: str,
        problems: Mapping[str, str],
        begun: str = "can not be read",
        over: str = "can be read again",
    ) -> None:
        """`problems`: what it is about → sentence. Each `what` is said by one thread only."""
        before = self._open.get(what, {})
        for place, sentence in problems.items():
            if place not in before:
                _LOG.warning(begun, what=what, reason=sentence)
        for place, sentence in before.items():
            if place not in problems:
                _LOG.info(over, what=what, was=sentence)
        self._open[what] = dict(problems)
