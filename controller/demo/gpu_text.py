"""The text that a dcgm-exporter 4.x would serve for a list of GPUs. Pure: a fake of the format, fed by its caller.

May not read a clock, the network or real devices; `trimtab demo` and the testbed decide what the devices do.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

_FRAMEBUFFER_MIB = 81559.0  # an 80 GB device
_RESERVED_MIB = 672.0


@dataclass(frozen=True)
class Holder:
    """The container that a GPU is assigned to."""

    namespace: str
    pod: str
    container: str


@dataclass(frozen=True)
class GpuDevice:
    """One GPU at one moment. `busy_ratio` (0-1) is how much of it works; `xid` the last error code, 0 for none."""

    node: str
    index: int
    model: str
    busy_ratio: float = 0.0
    holder: Holder | None = None
    xid: int = 0
    hangs: bool = False
    """A collective that waits: busy by every kernel, and nothing is computed."""

    @property
    def utilization_ratio(self) -> float:
        """Share of time with a kernel."""
        return 1.0 if self.hangs else self.busy_ratio

    @property
    def working_ratio(self) -> float:
        """Share of time with work in it."""
        return 0.0 if self.hangs else self.busy_ratio

    @property
    def uuid(self) -> str:
        """Made of node and index, so that it stays the same from scrape to scrape."""
        return f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{self.index}.{self.node}')}"

    @property
    def used_mib(self) -> float:
        """Framebuffer in use: an assigned GPU keeps its memory whether it works or not."""
        return 0.0 if self.holder is None else 20480.0 + 40960.0 * self.busy_ratio


@dataclass(frozen=True)
class _Family:
    help: str
    value: Callable[[GpuDevice], float]


def _watts(gpu: GpuDevice) -> float:
    return 140.0 if gpu.hangs else 70.0 + 620.0 * gpu.busy_ratio


_FAMILIES: Mapping[str, _Family] = {
    "DCGM_FI_DEV_SM_CLOCK": _Family("SM clock (MHz).", lambda gpu: 345.0 if gpu.utilization_ratio == 0 else 1980.0),
    "DCGM_FI_DEV_GPU_TEMP": _Family("GPU temperature (C).", lambda gpu: 31.0 + 40.0 * gpu.working_ratio),
    "DCGM_FI_DEV_POWER_USAGE": _Family("Power draw (W).", _watts),
    "DCGM_FI_DEV_GPU_UTIL": _Family("GPU utilisation (%).", lambda gpu: round(100.0 * gpu.utilization_ratio)),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": _Family("Share of time the engine is active.", lambda gpu: gpu.utilization_ratio),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": _Family(
        "Share of time the tensor cores are active.", lambda gpu: 0.6 * gpu.working_ratio
    ),
    "DCGM_FI_PROF_DRAM_ACTIVE": _Family("Share of time the memory is active.", lambda gpu: 0.4 * gpu.working_ratio),
    "DCGM_FI_DEV_FB_FREE": _Family(
        "Framebuffer free (MiB).", lambda gpu: _FRAMEBUFFER_MIB - _RESERVED_MIB - gpu.used_mib
    ),
    "DCGM_FI_DEV_FB_USED": _Family("Framebuffer in use (MiB).", lambda gpu: gpu.used_mib),
    "DCGM_FI_DEV_FB_RESERVED": _Family("Framebuffer kept by the driver (MiB).", lambda gpu: _RESERVED_MIB),
    "DCGM_FI_DEV_XID_ERRORS": _Family("Last XID error.", lambda gpu: float(gpu.xid)),
}


def exposition_text(devices: Iterable[GpuDevice]) -> str:
    """The whole page, one family after the other; empty without devices, as the real exporter's is."""
    labelled = [(_labels(device), device) for device in devices]
    if not labelled:
        return ""
    lines: list[str] = []
    for name, family in _FAMILIES.items():
        lines += [f"# HELP {name} {family.help}", f"# TYPE {name} gauge"]
        lines += [f"{name}{labels} {family.value(device):g}" for labels, device in labelled]
    return "\n".join(lines) + "\n"


def _labels(gpu: GpuDevice) -> str:
    labels = {
        "gpu": str(gpu.index),
        "UUID": gpu.uuid,
        "pci_bus_id": f"00000000:{0x10 + gpu.index:02X}:00.0",
        "device": f"nvidia{gpu.index}",
        "modelName": gpu.model,
        "Hostname": gpu.node,
    }
    if gpu.holder is not None:  # the real exporter leaves these out on a free device
        labels |= {"container": gpu.holder.container, "namespace": gpu.holder.namespace, "pod": gpu.holder.pod}
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"
