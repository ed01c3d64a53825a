"""The families of dcgm-exporter that the collector reads. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

_LABELS: Final = (
    *("UUID", "uuid", "gpu_uuid"),
    "gpu",
    "modelName",
    *("Hostname", "hostname"),
    "GPU_I_ID",
    "GPU_I_PROFILE",
    "dra_mig_device_uuid",
    *("namespace", "pod_namespace", "exported_namespace"),
    *("pod", "pod_name", "exported_pod"),
    *("container", "container_name", "exported_container"),
    "vgpu",
)
"""In each row all spellings of one label that versions and scrape configurations gave it."""
_SHARED: Final = "repeated for every pod that shares the GPU: a sum per namespace counts it several times"
_WHOLE: Final = "value of the whole GPU, repeated on each MIG slice"
_OPTIONAL: Final = "a profiling field: absent on some cards, and while another profiler runs"
_SENTINEL: Final = "old versions write huge numbers for a missing value"


def _entry(name: str, unit: Unit, meaning: str, *traps: str) -> Metric:
    return Metric(name, Kind.GAUGE, unit, _LABELS, Source.DCGM_EXPORTER, meaning, traps)


DCGM: Final = (
    _entry(
        "DCGM_FI_DEV_GPU_UTIL",
        Unit.PERCENT,
        "Share of time in which any kernel ran.",
        "100 with one small kernel: no measure of load",
        "missing on MIG",
        _SHARED,
    ),
    _entry(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE", Unit.RATIO, "Share of time in which the engine worked.", _OPTIONAL, _SHARED
    ),
    _entry(
        "DCGM_FI_PROF_SM_ACTIVE",
        Unit.RATIO,
        "Mean share of multiprocessors that had work.",
        "not among the exporter's default counters",
        _OPTIONAL,
        _SHARED,
    ),
    _entry("DCGM_FI_DEV_FB_USED", Unit.MEBIBYTES, "Memory in use.", _SENTINEL, _SHARED),
    _entry("DCGM_FI_DEV_FB_FREE", Unit.MEBIBYTES, "Memory free.", _SENTINEL, _SHARED),
    _entry("DCGM_FI_DEV_FB_RESERVED", Unit.MEBIBYTES, "Memory held by the driver.", _SENTINEL, _SHARED),
    _entry(
        "DCGM_FI_DEV_FB_TOTAL",
        Unit.MEBIBYTES,
        "Memory of the GPU.",
        "not among the exporter's default counters: else used, free and reserved together",
    ),
    _entry("DCGM_FI_DEV_POWER_USAGE", Unit.WATTS, "Power drawn.", _WHOLE),
    _entry("DCGM_FI_DEV_GPU_TEMP", Unit.CELSIUS, "Temperature of the GPU.", _WHOLE),
    _entry(
        "DCGM_FI_DEV_XID_ERRORS",
        Unit.CODE,
        "The last XID error code seen.",
        "never goes back to 0, and the same code twice in a row can not be seen",
        _WHOLE,
    ),
)
