"""What the GPUs and adapters of a gang show over a while: hung work, and work that holds a sick GPU. Pure.

A hung gang seems busy: a collective that waits spins at full utilisation, while its tensor cores, its power and its
network say that nothing is computed. Each sign alone has an innocent reason, so all that are known must agree, the two
that tell most must be known, and it must last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from collector.catalogue.error_codes import HARDWARE_XIDS
from collector.model.quantities import counted, format_duration
from collector.model.reading import Known, Reading, Unknown
from collector.model.snapshot import OtherCause, OtherKind

SPINS_FROM_RATIO: Final = 0.95
"""Utilisation of every GPU of a gang that spins."""
COMPUTES_FROM_RATIO: Final = 0.01
"""Tensor activity from here on is work, however slow."""
LOW_POWER_RATIO: Final = 0.5
"""Share of its power limit that a GPU stays below while it only spins."""
SILENT_BYTES_PER_SECOND: Final = 1e6
"""Fewer than this on a gang's adapters is no exchange of gradients: heartbeats, logs."""
SUSPECTED_AFTER_SECONDS: Final = 120.0
HUNG_AFTER_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class GangSigns:
    """One look at a gang. Ratios are of all its GPUs: the lowest utilisation, the highest of all else."""

    key: str
    title: str
    tenant: str
    gpus: int
    utilization_ratio: Reading[float] = Unknown("not exported")
    tensor_active_ratio: Reading[float] = Unknown("not exported")
    power_ratio: Reading[float] = Unknown("not exported")
    network_bytes_per_second: Reading[float] = Unknown("not exported")

    @property
    def spins(self) -> Reading[bool]:
        """Whether it seems busy and does nothing; Unknown where that can not be told."""
        if isinstance(self.utilization_ratio, Unknown):
            return Unknown(self.utilization_ratio.reason)
        if isinstance(self.tensor_active_ratio, Unknown):
            return Unknown(self.tensor_active_ratio.reason)
        busy, computing = self.utilization_ratio.value, self.tensor_active_ratio.value
        quiet = (
            _below(self.power_ratio, LOW_POWER_RATIO),
            _below(self.network_bytes_per_second, SILENT_BYTES_PER_SECOND),
        )
        if busy <= SPINS_FROM_RATIO or computing >= COMPUTES_FROM_RATIO or False in quiet:
            return Known(False)
        return Known(True) if True in quiet else Unknown("neither power nor network traffic is known")


def _below(reading: Reading[float], limit: float) -> bool | None:
    return reading.value < limit if isinstance(reading, Known) else None


@dataclass(frozen=True, slots=True)
class _Spinning:
    signs: GangSigns
    since: float
    seen_at: float


@dataclass(frozen=True, slots=True)
class GangMemory:
    """Gangs that spin, and since when without a break. A look that can not tell neither begins nor ends it."""

    longest_gap_seconds: float = 150.0
    """Unseen for longer, it begins anew."""
    spinning: Mapping[str, _Spinning] = field(default_factory=dict)

    def advance(self, looks: Iterable[GangSigns], now: float) -> GangMemory:
        """The memory after one more look at some or all gangs."""
        kept = {key: one for key, one in self.spinning.items() if now - one.seen_at <= self.longest_gap_seconds}
        for signs in looks:
            spins = signs.spins
            if isinstance(spins, Unknown):
                continue
            if spins.value:
                kept[signs.key] = _Spinning(signs, kept[signs.key].since if signs.key in kept else now, now)
            else:
                kept.pop(signs.key, None)
        return replace(self, spinning=MappingProxyType(kept))

    def hung(self, now: float) -> Mapping[str, tuple[OtherCause, ...]]:
        """Tenant → its hung gangs, each a cause."""
        return self._lasting(now, HUNG_AFTER_SECONDS, float("inf"), "hangs")

    def suspected(self, now: float) -> Mapping[str, tuple[OtherCause, ...]]:
        """Tenant → gangs that may hang: for less time than it takes to be sure."""
        return self._lasting(now, SUSPECTED_AFTER_SECONDS, HUNG_AFTER_SECONDS, "may hang")

    def _lasting(self, now: float, least: float, most: float, verb: str) -> Mapping[str, tuple[OtherCause, ...]]:
        found: dict[str, tuple[OtherCause, ...]] = {}
        for _, one in sorted(self.spinning.items()):
            lasted, signs = now - one.since, one.signs
            if least <= lasted < most:
                sentence = (
                    f"{signs.title} {verb}: for {format_duration(lasted)} its {counted(signs.gpus, 'GPU')} seem busy, "
                    "and compute and exchange nothing"
                )
                found[signs.tenant] = (*found.get(signs.tenant, ()), OtherCause(OtherKind.WORKLOAD, sentence))
        return found


@dataclass(frozen=True, slots=True)
class HeldDevice:
    """A GPU that a tenant's pod holds, and the last error code that its driver reported (0: none)."""

    node: str
    index: int
    tenant: str
    holder: str
    xid: Reading[int]


def sick_devices(devices: Iterable[HeldDevice]) -> Mapping[str, tuple[OtherCause, ...]]:
    """Tenant → GPUs it holds that reported an error of the device itself; errors of programs are none."""
    found: dict[str, tuple[OtherCause, ...]] = {}
    for one in sorted(devices, key=lambda device: (device.node, device.index)):
        if isinstance(one.xid, Known) and one.xid.value in HARDWARE_XIDS:
            sentence = f"GPU {one.index} of node {one.node} reports error {one.xid.value}, and {one.holder} holds it"
            found[one.tenant] = (*found.get(one.tenant, ()), OtherCause(OtherKind.GPU_HEALTH, sentence))
    return found
