"""A demonstration without Prometheus and without waiting: the loop's body over the live cluster on our own clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from collector.assemble.clocks import WaitClocks
from collector.model.snapshot import Evidence, OtherCause, OtherKind
from collector.model.tenancy import Site
from controller.actuators.sandbox import SandboxActuator
from controller.api.policy import Mode
from controller.demo.chronicle import Chronicle
from controller.demo.live_cluster import LiveCluster
from controller.demo.scenery import DEMO_SITE, Scenery
from controller.demo.standins import MemoryLedger, SoleLeader, TextBaseline, never_paused
from controller.demo.story import Story, arranged
from controller.runtime.configuration import Configuration
from controller.runtime.observe import Observer
from controller.runtime.status import status_document
from controller.runtime.tick import Controller, TickReport

CURTAIN = 1_750_000_000.0


@dataclass
class Rehearsal:
    """Plays a story tick by tick. Storage is told to the loop as Prometheus would, ten seconds late."""

    folder: Path
    seed: int = 1
    time_scale: float = 120.0
    ring_seconds: float = 3600.0
    """As if Alertmanager rang at least so often: the loop looks again then."""
    scenery: Scenery = DEMO_SITE
    story: Story | None = None
    now: float = CURTAIN
    reports: list[TickReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        story = arranged(self.seed) if self.story is None else self.story
        self.cluster = LiveCluster(self.scenery, story, self.time_scale, self.seed, lambda: self.now)
        self.chronicle = Chronicle(lambda: self.now, self.cluster.troubled)
        documents = self.folder / "documents.yaml"
        documents.write_text(self.scenery.documents_text())
        clocks = WaitClocks(resubmission_seconds=1800 / self.time_scale)
        self.controller = Controller(
            configuration=Configuration((documents,), self.scenery.name),
            observer=Observer(self.cluster, self._evidence, self.cluster, clocks),
            store=MemoryLedger(),
            actuator=SandboxActuator(self.cluster),
            fence=SoleLeader(),
            baseline_source=TextBaseline(self.scenery.baseline_text()),
            read_control=never_paused,
            clock=lambda: self.now,
            ceiling=Mode.ENFORCE,
            time_scale=self.time_scale,
        )

    def play(self, seconds: float) -> None:
        """Tick until so many seconds after the curtain rose."""
        while self.now < CURTAIN + seconds:
            report = self.controller.tick()
            self.reports.append(report)
            self.chronicle.write({**status_document(report), "alerts": []})
            wake_at = min(report.wake_at, self.now + self.ring_seconds)
            until = min(max(wake_at, self.now + 0.5), CURTAIN + seconds)
            while self.now < until:
                self.now = min(until, self.now + 0.5)
                self.cluster.tenants()

    def _evidence(self, site: Site, now: float) -> Evidence:
        slow = {*self.cluster.troubled(now - 10), *self.cluster.troubled(now - 5)}
        return Evidence(other_causes={name: (OtherCause(OtherKind.CEPH, "Ceph: osd.7 is slow"),) for name in slow})
