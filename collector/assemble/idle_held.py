"""Which tenant holds GPUs that did nothing for a while: the ledger of GPUs, summed over each tenant's pods. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from collector.assemble.gpu_ledger import Devices, gpu_ledger
from collector.model.objects import Picture
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import Snapshot
from collector.model.tenancy import UNASSIGNED


@dataclass(frozen=True, slots=True)
class GpuUse:
    """GPUs that a tenant's pods hold in a pool."""

    held: int = 0
    idle: int = 0
    unknown: int = 0

    @property
    def idle_held(self) -> Reading[float]:
        """Idle GPUs: a lower bound while some are unknown, Unknown while all of them are."""
        if 0 < self.held == self.unknown:
            return Unknown(f"no activity known of the {self.held} GPUs held")
        return Known(float(self.idle))


def gpu_use(picture: Picture, snapshot: Snapshot, devices: Devices, now: float) -> Mapping[tuple[str, str], GpuUse]:
    """(tenant, pool) → what its pods hold and how much of that is idle. Pods count, not what exporters list."""
    uses: dict[tuple[str, str], GpuUse] = defaultdict(GpuUse)
    for ledger in gpu_ledger(picture, snapshot.site, snapshot.works, devices, now):
        for holder in ledger.holders if ledger.pool else ():
            key = (snapshot.namespace_tenants.get(holder.pod.namespace, UNASSIGNED), ledger.pool)
            use = uses[key]
            uses[key] = GpuUse(use.held + holder.gpus, use.idle + holder.idle, use.unknown + holder.unknown)
    return dict(uses)


def with_idle_held(snapshot: Snapshot, picture: Picture, devices: Devices, now: float) -> Snapshot:
    """The snapshot with the idle-held GPUs of each tenant and pool; who holds nothing holds nothing idle.

    Unchanged while pods, nodes or namespaces can not be read.
    """
    if not {"pods", "nodes", "namespaces"}.isdisjoint(picture.unreadable):
        return snapshot
    uses = gpu_use(picture, snapshot, devices, now)
    tenants = tuple(
        replace(item, idle_held=uses.get((item.tenant, item.pool), GpuUse()).idle_held) for item in snapshot.tenants
    )
    idle_held = {(item.tenant, item.pool): item.idle_held for item in tenants}
    return replace(snapshot, tenants=tenants, evidence=replace(snapshot.evidence, idle_held=idle_held))
