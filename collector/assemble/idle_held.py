"""Which tenant holds GPUs that did nothing for a while: the ledger of GPUs, summed over each tenant's pods. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from collector.assemble.gpu_ledger import Devices, HeldGpus, gpu_ledger
from collector.model.objects import Picture
from collector.model.quantities import counted
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import Snapshot
from collector.model.tenancy import UNASSIGNED

NEEDED_KINDS: Final = frozenset({"pods", "nodes", "namespaces"})
"""Kinds of objects that tell who holds what."""


@dataclass(frozen=True, slots=True)
class GpuUse:
    """GPUs that a tenant's pods hold in a pool."""

    held: int = 0
    idle: int = 0
    unknown: int = 0
    sick: int = 0
    idle_with_memory: int = 0
    """The part of `idle` whose memory is in use; what is left never touched its GPU, or let go of it."""

    @property
    def idle_held(self) -> Reading[float]:
        """Idle GPUs: a lower bound while some are unknown, Unknown while all of them are."""
        if 0 < self.held == self.unknown:
            return Unknown(f"no activity known of the {counted(self.held, 'GPU')} held")
        return Known(float(self.idle))

    @property
    def unjudged(self) -> int:
        """GPUs of which nobody can tell whether they compute."""
        return self.unknown + self.sick

    def plus(self, holder: HeldGpus) -> GpuUse:
        """With the GPUs of one more pod."""
        return GpuUse(
            self.held + holder.gpus,
            self.idle + holder.idle,
            self.unknown + holder.unknown,
            self.sick + holder.sick,
            self.idle_with_memory + holder.idle_with_memory,
        )


def gpu_use(
    picture: Picture, snapshot: Snapshot, devices: Devices, now: float
) -> Mapping[tuple[str, str], GpuUse] | None:
    """(tenant, pool) → what its pods hold and how much of that is idle. Pods count, not what exporters list.

    None while pods, nodes or namespaces can not be read.
    """
    if not NEEDED_KINDS.isdisjoint(picture.unreadable):
        return None
    uses: dict[tuple[str, str], GpuUse] = defaultdict(GpuUse)
    for ledger in gpu_ledger(picture, snapshot.site, snapshot.works, devices, now):
        for holder in ledger.holders if ledger.pool else ():
            key = (snapshot.namespace_tenants.get(holder.pod.namespace, UNASSIGNED), ledger.pool)
            uses[key] = uses[key].plus(holder)
    return dict(uses)


def with_idle_held(snapshot: Snapshot, uses: Mapping[tuple[str, str], GpuUse] | None) -> Snapshot:
    """The snapshot with the idle-held GPUs of each tenant and pool; who holds nothing holds nothing idle.

    Unchanged while it is not known who holds what.
    """
    if uses is None:
        return snapshot
    tenants = tuple(
        replace(item, idle_held=uses.get((item.tenant, item.pool), GpuUse()).idle_held) for item in snapshot.tenants
    )
    idle_held = {(item.tenant, item.pool): item.idle_held for item in tenants}
    return replace(snapshot, tenants=tenants, evidence=replace(snapshot.evidence, idle_held=idle_held))
