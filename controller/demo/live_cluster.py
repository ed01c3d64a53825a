"""The simulated cluster in real time: whoever looks lets it catch up with the clock first. Safe for many threads.

It plays the API server for the collector and the loop (pictures, own Cohorts, applied leaves), and the exporters.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from collector.model.objects import Cohort, Picture, ResourceQuota
from controller.demo.ceph_model import CephModel
from controller.demo.ceph_text import ceph_text
from controller.demo.gpu_text import GpuDevice, Holder, exposition_text
from controller.demo.rdma_text import RdmaModel, rdma_text
from controller.demo.scenery import PRODUCT, Scenery, image_of
from controller.demo.story import WARM_SECONDS, StorageTrouble, Story
from controller.simulate.cluster import Cluster
from controller.simulate.faults import StorageFault
from controller.simulate.gang import Gang, GangPhase
from controller.simulate.generator import placed_in_time
from controller.simulate.picture import cohorts_of, own_cohort, picture_of

_FULLY_BUSY = 0.97
_STANDS_BELOW_SPEED = 0.01
"""A hung gang, for the simulator."""


@dataclass(frozen=True, slots=True)
class TenantView:
    """One tenant as a person watches it. GPUs."""

    name: str
    entitled: int
    """Floor and float as they stand now."""
    held: int
    waiting: int


class LiveCluster:
    """One run of a story. `begins_at`: when the curtain rises, in seconds of `clock`."""

    def __init__(
        self, scenery: Scenery, story: Story, time_scale: float, seed: int, clock: Callable[[], float]
    ) -> None:
        self.scenery, self.story, self._scale, self._clock = scenery, story, time_scale, clock
        self.begins_at = clock()
        self._lock = threading.RLock()
        begin = self.begins_at - WARM_SECONDS / time_scale
        self._cluster = Cluster(scenery.cluster_spec(time_scale), begin, seed)
        self._ceph = CephModel({one.name: image_of(one)[::2] for one in scenery.tenants})
        self._rdma = RdmaModel(scenery.cluster_spec(time_scale).node_names())
        self._faults: dict[StorageTrouble, StorageFault] = {}
        for submission in placed_in_time(story.submissions, begin, time_scale):
            self._cluster.submit(submission.job, submission.at)
        self._cluster.advance(self.begins_at)

    # The API server

    def start(self) -> None:
        """Nothing to start: it stands since it was made."""

    def wait_ready(self, timeout_seconds: float) -> bool:
        """Always ready."""
        return True

    def stop(self, within_seconds: float = 2.0) -> bool:
        """Nothing to stop."""
        return True

    def picture(self, now: float) -> Picture:
        """All objects as they are now."""
        with self._lock:
            self._catch_up()
            return picture_of(self._cluster, now)

    def cohorts(self) -> Sequence[Cohort]:
        """All Cohorts."""
        with self._lock:
            self._catch_up()
            return tuple(cohorts_of(self._cluster))

    def caps(self) -> Sequence[ResourceQuota]:
        """None: this cluster has Kueue."""
        return ()

    def own_cohort(self, name: str) -> Cohort | None:
        """One of Trimtab's own Cohorts."""
        with self._lock:
            known = name.startswith("trimtab-") and name in self._cluster.tree.nodes
            return own_cohort(self._cluster, name) if known else None

    def apply_leaf(self, name: str, gpus: int, annotations: Mapping[str, str]) -> int:
        """Set an own Cohort; its new version."""
        with self._lock:
            self._catch_up()
            return self._cluster.apply_leaf(name, gpus, annotations)

    # The exporters

    def gpu_text(self) -> str:
        """What the dcgm-exporters of all nodes would serve."""
        with self._lock:
            self._catch_up()
            holders = self._cluster.holders()
            return exposition_text(
                _device(node, index, pod, holders)
                for node, slots in self._cluster.nodes.slots.items()
                for index, pod in enumerate(slots)
            )

    def ceph_text(self) -> str:
        """What the Ceph manager would serve."""
        with self._lock:
            self._catch_up()
            return ceph_text(self._ceph)

    def rdma_text(self) -> str:
        """What node_exporter would serve about RDMA adapters."""
        with self._lock:
            self._catch_up()
            return rdma_text(self._rdma)

    # The people who watch

    def tenants(self) -> Sequence[TenantView]:
        """How each tenant stands, in the order of the scenery."""
        with self._lock:
            self._catch_up()
            waiting: dict[str, int] = defaultdict(int)
            for gang in self._cluster.of_phase(GangPhase.PENDING):
                waiting[gang.spec.tenant] += gang.spec.gpus
            tree = self._cluster.tree
            return tuple(
                TenantView(one.name, tree.quota(f"tenant-{one.name}"), tree.held(one.name), waiting[one.name])
                for one in self.scenery.tenants
            )

    def troubled(self, at: float) -> Mapping[str, float]:
        """Tenants whose storage is slow at that moment, and for how many seconds: what the loop has to find out."""
        since = (at - self.begins_at) * self._scale
        return {
            one.tenant: (since - one.begins) / self._scale
            for one in self.story.troubles
            if one.begins <= since < one.ends
        }

    # Time

    def _catch_up(self) -> None:
        now, before = self._clock(), self._cluster.now
        if now <= before:
            return
        self._count(now - before)
        self._change_faults(now)
        self._cluster.advance(now)

    def _count(self, seconds: float) -> None:
        """Counters of exporters grow by what the gangs did; `seconds` are short against all that happens."""
        busy: dict[str, float] = defaultdict(float)
        talking: dict[str, float] = defaultdict(float)
        for gang in self._cluster.of_phase(GangPhase.RUNNING):
            busy[gang.spec.tenant] += gang.spec.gpus * gang.speed
            if gang.spec.pods > 1:
                for pod in gang.bound:
                    node = self._cluster.nodes.node_of(gang.pod_key(pod))
                    talking[node or ""] += gang.spec.gpus_per_pod * gang.speed
        self._ceph.advance(seconds, busy)
        self._rdma.advance(seconds, talking)

    def _change_faults(self, now: float) -> None:
        since = (now - self.begins_at) * self._scale
        for trouble in self.story.troubles:
            present = trouble.begins <= since < trouble.ends
            if present and trouble not in self._faults:
                self._faults[trouble] = StorageFault(trouble.tenant, trouble.speed)
                self._cluster.begin_fault(self._faults[trouble])
            elif not present and trouble in self._faults:
                self._cluster.end_fault(self._faults.pop(trouble))
        self._ceph.set_slow({fault.tenant for fault in self._faults.values()})


def _device(node: str, index: int, pod: str | None, holders: Mapping[str, Gang]) -> GpuDevice:
    gang = holders.get(pod or "")
    if gang is None or pod is None:
        return GpuDevice(node, index, PRODUCT)
    namespace, _, name = pod.partition("/")
    running = gang.phase is GangPhase.RUNNING
    busy = _FULLY_BUSY * gang.speed if running else 0.0
    hangs = running and gang.speed < _STANDS_BELOW_SPEED
    return GpuDevice(node, index, PRODUCT, busy, Holder(namespace, name, "train"), hangs=hangs)
