"""The whole controller of controller.runtime over a world in memory: its stores, its tick, its loop; no network."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from collector.assemble.clocks import WaitClocks
from collector.model.objects import Picture
from collector.model.snapshot import Evidence
from collector.model.tenancy import Site
from controller.actuators.server_side_apply import ServerSideApply
from controller.api.policy import Mode
from controller.knobs import own
from controller.runtime.acting import Fence
from controller.runtime.assembly import ListedOwnObjects
from controller.runtime.configuration import Configuration
from controller.runtime.control import BaselineSource, read_control
from controller.runtime.doorbell import Doorbell
from controller.runtime.lease import Lease
from controller.runtime.ledger_store import LedgerStore
from controller.runtime.loop import Loop
from controller.runtime.observe import Observer
from controller.runtime.status import StatusBoard
from controller.runtime.status_store import StatusStore
from controller.runtime.tick import Controller
from tests.unit.controller.runtime.memory_api import MemoryApi
from tests.world import World, starving_world

HOME = "home"
TOKEN = "right"
CONFIG_MAPS = f"/api/v1/namespaces/{HOME}/configmaps"
DOCUMENTS = """\
apiVersion: trimtab.io/v1alpha1
kind: Policy
metadata: {name: default}
spec:
  mode: Enforce
  pools:
  - {name: h100, resource: nvidia.com/gpu, nodeSelector: {nvidia.com/gpu.product: H100}, engine: kueue, flavor: h100}
  tiers:
  - {name: standard, rank: 50, startWithin: {single-node: 15m, small-gang: 1h}}
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  tier: standard
  members: {namespaces: [vision]}
  pools: [{pool: h100, guarantee: 8, floating: 8, burst: 32}]
---
apiVersion: trimtab.io/v1alpha1
kind: Tenant
metadata: {name: nlp}
spec:
  tier: standard
  members: {namespaces: [nlp]}
  pools: [{pool: h100, guarantee: 8, floating: 8, burst: 32}]
"""


class AlwaysOurs:
    """A fence that is open."""

    def check(self) -> None:
        """Ours."""


@dataclass
class Stage:
    """A starving world with its documents and baseline. Its clock stands still until it is told to move."""

    folder: Path
    world: World = field(default_factory=starving_world)
    api: MemoryApi = field(default_factory=MemoryApi)
    ticked: float = 0.0
    """What a monotonic clock shows."""

    def __post_init__(self) -> None:
        self.documents = self.folder / "documents.yaml"
        self.documents.write_text(DOCUMENTS, encoding="utf-8")
        self.baseline = self.folder / "baseline.yaml"
        self.baseline.write_text(own.baseline_text(self.world.baseline), encoding="utf-8")
        for leaf in self.world.baseline.leaves:
            path, manifest = own.baseline_manifest(leaf)
            self.api.request("PATCH", path, manifest)
        self.api.asked.clear()

    def picture(self, now: float) -> Picture:
        """Part of `PictureSource`."""
        return replace(self.world.picture(), taken_at=now)

    def evidence(self, site: Site, now: float) -> Evidence:
        """Part of `EvidenceSource`."""
        return self.world.evidence

    def controller(self, fence: Fence | None = None) -> Controller:
        """A controller that knows nothing yet."""
        return Controller(
            configuration=Configuration([self.documents], "test"),
            observer=Observer(self, self.evidence, ListedOwnObjects(self.api), WaitClocks()),
            store=LedgerStore(self.api, HOME),
            actuator=ServerSideApply(self.api, wait=lambda seconds: None),
            fence=fence or AlwaysOurs(),
            baseline_source=BaselineSource(self.api, HOME, self.baseline),
            read_control=lambda: read_control(self.api, HOME),
            clock=lambda: self.world.now,
            ceiling=Mode.ENFORCE,
        )

    def lease(self, identity: str = "me") -> Lease:
        """A lease by this stage's clocks."""
        return Lease(self.api, HOME, identity, lambda: self.ticked, lambda: self.world.now)

    def loop(self, lease: Lease | None = None) -> Loop:
        """A loop whose pauses take no time."""
        lease = lease or self.lease()
        status, doorbell = StatusStore(self.api, HOME, lambda: self.ticked), Doorbell(TOKEN, woken=Pause(self))
        return Loop(self.controller(lease), lease, StatusBoard(), doorbell, status, lambda: self.ticked)

    def passes(self, seconds: float) -> None:
        """Time goes on, on all clocks."""
        self.ticked += seconds
        self.world.passes(seconds)

    def leaf(self, name: str) -> int:
        """GPUs that an own Cohort holds, by the API."""
        spec = self.api.objects[f"/apis/kueue.x-k8s.io/v1beta2/cohorts/{name}"]["spec"]
        return int(spec["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"])


class Pause(threading.Event):
    """An event that nobody waits for: each wait moves the stage's clocks on instead. `then`: what happens meanwhile."""

    def __init__(self, stage: Stage, then: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._stage, self.then = stage, then

    def wait(self, timeout: float | None = None) -> bool:
        self._stage.passes(timeout or 0.0)
        self.then()
        return self.is_set()


class Stop(Pause):
    """A stop that comes with the so-manieth pause between two ticks."""

    def __init__(self, stage: Stage, pauses: int) -> None:
        super().__init__(stage, self._count)
        self._left = pauses

    def _count(self) -> None:
        self._left -= 1
        if self._left <= 0:
            self.set()
