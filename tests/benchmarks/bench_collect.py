"""The text of 1 000 GPUs as dcgm-exporter writes it, parsed and brought under our names."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Final

from collector.parse.collect import SourceKind, collect_text

MEASURES: Final = {"exposition_1000_gpus_seconds": "s"}
GPUS: Final = 1000
PER_NODE: Final = 8
ROUNDS: Final = 5
FIELDS: Final = (
    ("DCGM_FI_DEV_SM_CLOCK", 1410.0),
    ("DCGM_FI_DEV_MEM_CLOCK", 1593.0),
    ("DCGM_FI_DEV_MEMORY_TEMP", 61.0),
    ("DCGM_FI_DEV_GPU_TEMP", 55.0),
    ("DCGM_FI_DEV_POWER_USAGE", 412.7),
    ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 93461827364.0),
    ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", 0.0),
    ("DCGM_FI_DEV_GPU_UTIL", 97.0),
    ("DCGM_FI_DEV_MEM_COPY_UTIL", 31.0),
    ("DCGM_FI_DEV_ENC_UTIL", 0.0),
    ("DCGM_FI_DEV_DEC_UTIL", 0.0),
    ("DCGM_FI_DEV_XID_ERRORS", 0.0),
    ("DCGM_FI_DEV_FB_FREE", 20211.0),
    ("DCGM_FI_DEV_FB_USED", 60843.0),
    ("DCGM_FI_DEV_FB_RESERVED", 504.0),
    ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", 0.0),
    ("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", 0.0),
    ("DCGM_FI_DEV_ROW_REMAP_FAILURE", 0.0),
    ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", 0.0),
    ("DCGM_FI_DEV_VGPU_LICENSE_STATUS", 0.0),
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.913),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 0.441),
    ("DCGM_FI_PROF_DRAM_ACTIVE", 0.276),
    ("DCGM_FI_PROF_PCIE_TX_BYTES", 1294871.0),
    ("DCGM_FI_PROF_PCIE_RX_BYTES", 2219381.0),
)


def measure() -> Mapping[str, float]:
    """Seconds of this process for one text, the median of some rounds."""
    text = gpu_text(GPUS)
    return {"exposition_1000_gpus_seconds": median(_seconds(text) for _ in range(ROUNDS))}


def gpu_text(gpus: int) -> str:
    """What the exporters of so many GPUs write together, each GPU held by a pod of its own."""
    return "".join(_lines(gpus))


def _lines(gpus: int) -> Iterator[str]:
    for number, (name, value) in enumerate(FIELDS):
        yield f"# HELP {name} Field {number}.\n# TYPE {name} gauge\n"
        for gpu in range(gpus):
            node, index = divmod(gpu, PER_NODE)
            yield (
                f'{name}{{gpu="{index}",UUID="GPU-{gpu:08}-0000-0000-0000-000000000000",pci_bus_id="0000:{index:02}:00.0",'
                f'device="nvidia{index}",modelName="NVIDIA H100 80GB HBM3",Hostname="node-{node}",'
                f'DCGM_FI_DRIVER_VERSION="550.54.15",container="main",namespace="team-{node % 20}",pod="train-{gpu}"}} '
                f"{value + gpu % 7 if value > 1 else value:g}\n"
            )


def _seconds(text: str) -> float:
    started = time.process_time()  # the machine is shared: waiting for a core is not reading
    found = collect_text(text, SourceKind.AUTO)
    spent = time.process_time() - started
    if found.samples.read != text.count("\n") - text.count("\n#") - 1:
        raise ValueError(f"{found.samples} of {GPUS} GPUs")
    return spent
