"""One accelerator or a slice of one, whoever made it: what it does, who holds it, whose its values are. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from collector.model.reading import Reading, Unknown

Attribution = Literal["exclusive", "slice", "shared", "none"]
"""Whose the values are: they may be summed per tenant where it is exclusive or slice; shared ones only divided."""

LOST: Final = "lost"
"""Reason why nothing is known of a device that its node's exporter no longer shows."""


@dataclass(frozen=True, slots=True)
class GpuHolder:
    """A container that holds the device, or a part of its time."""

    namespace: str
    pod: str
    container: str
    replica: str | None = None
    """Its number on a time-sliced or virtual GPU."""
    job: str = ""
    """Of a batch system beside Kubernetes."""


@dataclass(frozen=True, slots=True)
class MigSlice:
    """A hardware partition: its profile, such as 1g.5gb, and its instance id."""

    profile: str
    instance_id: str


@dataclass(frozen=True, slots=True)
class GpuReading:
    """One GPU, or one slice. A GPU with slices has a reading beside theirs: count GPUs by `mig is None`."""

    uuid: str
    index: str
    node: str
    """As the exporter says, often the name of its own pod, unless the caller knew better."""
    model: str
    mig: MigSlice | None
    partitioned: bool
    """A whole GPU cut into slices: holders, activity and memory stand on those."""
    holders: tuple[GpuHolder, ...]
    activity_ratio: Reading[float]
    """Share of time in which the compute engine (where unknown: any multiprocessor) worked."""
    utilization_ratio: Reading[float]
    """Share of time in which at least one kernel ran, however small: no measure of load."""
    memory_used_bytes: Reading[float]
    memory_total_bytes: Reading[float]
    power_watts: Reading[float]
    temperature_celsius: Reading[float]
    """Of the whole GPU, also on a slice."""
    last_xid_code: Reading[int]
    """NVIDIA: the last error code seen, 0 for none; of the whole GPU, also on a slice. Never cleared, has no time."""
    vendor: str = "nvidia"
    health: Reading[float] = Unknown("not judged")
    """1 healthy, 0 in need of attention."""
    tensor_active_ratio: Reading[float] = Unknown("not read")
    """Share of time in which the matrix units worked."""
    memory_active_ratio: Reading[float] = Unknown("not read")
    """Share of time in which the memory was read or written."""
    power_limit_watts: Reading[float] = Unknown("not read")
    """What the whole GPU may draw."""
    clock_hertz: Reading[float] = Unknown("not read")
    """Clock of its multiprocessors: of the whole GPU, also on a slice."""
    throttled_seconds: Reading[float] = Unknown("not read")
    """Time in which heat, a brake or a fault of the board held the clock back: a counter, of the whole GPU."""
    throttle_ratio: Reading[float] = Unknown("not read")
    """Share of time in which they did."""

    @property
    def attribution(self) -> Attribution:
        """Whose the values are. A whole GPU that is cut is nobody's: its slices are somebody's."""
        if self.partitioned or not self.holders:
            return "none"
        if len(self.holders) > 1 or any(holder.replica for holder in self.holders):
            return "shared"
        return "exclusive" if self.mig is None else "slice"

    @property
    def key(self) -> tuple[str, str]:
        """Identity over scrapes and sources: the device, and its slice or ""."""
        return device_key(self.uuid, self.index, self.node, self.mig)


def device_key(uuid: str, index: str, node: str, mig: MigSlice | None) -> tuple[str, str]:
    """(device, slice or "") under which a device is known."""
    return uuid or f"{node}/{index}", mig.instance_id if mig else ""
