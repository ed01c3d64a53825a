"""The collector for a cluster: each tick one picture becomes one snapshot, which the exporter then serves.

Reads through the watch and the GPU exporters only; raises nothing for what they can not read: that is counted and said.
Assembling waits for no network, so a slow source holds up neither the ticks nor the scrapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from collector.assemble.assemble import NEEDED_KINDS, STALE_PICTURE_SECONDS, assemble_seen
from collector.assemble.clocks import QueueKey, WaitClocks
from collector.assemble.eviction_costs import EvictionCosts
from collector.assemble.gang_devices import GpuTroubles, device_troubles, gang_signs
from collector.assemble.gang_signs import GangMemory
from collector.assemble.gangs import Seen
from collector.assemble.gpu_ledger import Devices
from collector.assemble.idle_held import gpu_use, with_idle_held
from collector.exporter.families import OF_WORK, Published
from collector.exporter.health import DeviceSeen, Health
from collector.model.objects import Picture
from collector.model.reading import Unknown
from collector.model.snapshot import Evidence, Snapshot
from collector.model.tenancy import UNASSIGNED, Site
from collector.sources.kubernetes_kinds import VOLUMES

SOURCE: Final = "kubernetes"


class PictureSource(Protocol):
    """What is needed of a `collector.sources.kubernetes_watch.ClusterWatch`."""

    def picture(self, now: float) -> Picture:
        """The picture as it is known at `now`."""
        ...


class History(Protocol):
    """What is needed of a `collector.accounting.recorder.Recorder`."""

    def seeded(self, clocks: WaitClocks) -> WaitClocks:
        """The clocks, with what the history knows of them and they do not."""
        ...

    def look(self, works: tuple[Seen, ...], clocks: WaitClocks, capacities: Mapping[str, int], now: float) -> None:
        """Take what one whole look showed; `capacities`: pool → GPUs."""
        ...


@dataclass(slots=True)
class ClusterRole:
    """Keeps the wait clocks between ticks, and what was published last. Ticks in one thread."""

    pictures: PictureSource
    devices: Callable[[float], Devices]
    health: Health
    clock: Callable[[], float]
    clocks: WaitClocks
    published: Published
    history: History | None = None
    """Where the changes of state are kept; None: nowhere."""
    costs: EvictionCosts = field(default_factory=EvictionCosts)
    gangs: GangMemory = field(default_factory=GangMemory)

    def __post_init__(self) -> None:
        self.health.expect(SOURCE)

    def tick(self, site: Site) -> Published:
        """Look once, and publish. The site comes with its durations already scaled."""
        now = self.clock()
        picture = self.pictures.picture(now)
        unreadable = frozenset(picture.unreadable)
        if self.history is not None:
            self.clocks = self.history.seeded(self.clocks)
        snapshot, clocks, seen = assemble_seen(picture, site, Evidence(), self.clocks, now)
        devices = self.devices(now)
        uses = gpu_use(picture, snapshot, devices, now)
        snapshot = with_idle_held(snapshot, uses)
        if unreadable.isdisjoint(OF_WORK):
            self.costs = self.costs.advance(seen, clocks, now)
            self.clocks = clocks  # else work that is only unseen would count as gone
            if self.history is not None and picture.age_seconds <= STALE_PICTURE_SECONDS:
                self.history.look(seen, clocks, {name: one.total for name, one in snapshot.pools.items()}, now)
        self._count(picture, now)
        self.published = Published(
            cluster=site.cluster,
            snapshot=snapshot,
            clocks=self.clocks,
            costs=self.costs,
            queues=_local_queues(picture, snapshot),
            uses=uses,
            troubles=self._troubles(snapshot, devices, now) if unreadable.isdisjoint(OF_WORK) else None,
            unreadable=unreadable,
            picture_age_seconds=picture.age_seconds,
            volumes=None if VOLUMES.name in unreadable and not picture.volumes else tuple(picture.volumes.values()),
        )
        return self.published

    def _troubles(self, snapshot: Snapshot, devices: Devices, now: float) -> GpuTroubles | None:
        if isinstance(devices.readings, Unknown):
            return None
        self.gangs = self.gangs.advance(gang_signs(snapshot, devices), now)
        sick = tuple(device_troubles(snapshot, devices))
        running = {work.uid for work in snapshot.works}
        gangs = tuple(one for one in self.gangs.troubles(now) if one.key in running)
        return GpuTroubles(gangs, self.gangs.unjudged, sick)

    def _count(self, picture: Picture, now: float) -> None:
        for kind in picture.unreadable:
            self.health.error(SOURCE, kind, "unreadable")
            self.health.unseen(SOURCE, kind)
        for kind, bad in picture.malformed.items():
            self.health.error(SOURCE, kind, "malformed")
            self.health.seen(SOURCE, kind, DeviceSeen(now - picture.age_seconds, 0, {"malformed": len(bad)}))
        for kind in NEEDED_KINDS:
            if kind not in picture.unreadable and kind not in picture.malformed and kind not in picture.unserved:
                self.health.seen(SOURCE, kind, DeviceSeen(now - picture.age_seconds, known=1))
        whole = picture.unreadable.keys().isdisjoint(NEEDED_KINDS)
        if whole and picture.age_seconds <= STALE_PICTURE_SECONDS:
            self.health.success(SOURCE, now)


def _local_queues(picture: Picture, snapshot: Snapshot) -> frozenset[QueueKey]:
    """Kueue's doors that exist, so that an empty one is seen to be empty."""
    keys: set[QueueKey] = set()
    for queue in picture.local_queues:
        name = snapshot.namespace_tenants.get(queue.namespace, UNASSIGNED)
        tenant = snapshot.site.tenant(name)
        keys.add((name, tenant.tier if tenant is not None else "", f"{queue.namespace}/{queue.name}"))
    return frozenset(keys)
