"""What NVML's functions tell, under the names of the functions. Data only."""

from __future__ import annotations

from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.spelling import (
    CELSIUS_LIMIT,
    MEGA,
    MEGAHERTZ_LIMIT,
    MILLI,
    NANO,
    PERCENT,
    PERCENT_LIMIT,
    WATTS_LIMIT,
    Devices,
    Scope,
    Spelling,
    Vocabulary,
)

UTILIZATION: Final = "nvmlDeviceGetUtilizationRates.gpu"
MEMORY_TOTAL: Final = "nvmlDeviceGetMemoryInfo.total"
MEMORY_USED: Final = "nvmlDeviceGetMemoryInfo.used"
MEMORY_FREE: Final = "nvmlDeviceGetMemoryInfo.free"
MEMORY_RESERVED: Final = "nvmlDeviceGetMemoryInfo.reserved"
POWER: Final = "nvmlDeviceGetPowerUsage"
POWER_LIMIT: Final = "nvmlDeviceGetEnforcedPowerLimit"
CLOCK: Final = "nvmlDeviceGetClockInfo.sm"
ACTIVE: Final = "nvmlGpmMetricsGet.graphics"
MULTIPROCESSOR: Final = "nvmlGpmMetricsGet.sm"
TENSOR: Final = "nvmlGpmMetricsGet.any_tensor"
MEMORY_ACTIVE: Final = "nvmlGpmMetricsGet.dram_bandwidth"
ENERGY: Final = "nvmlDeviceGetTotalEnergyConsumption"
TEMPERATURE: Final = "nvmlDeviceGetTemperature"
REMAP_FAILED: Final = "nvmlDeviceGetRemappedRows.failure"
LOST: Final = "nvmlDevice.lost"
SLICE_UUID: Final = "slice_uuid"
"""Label: the id of a slice itself, by which the kubelet knows it."""
XID_AT: Final = "nvmlEventTypeXidCriticalError.at"
XID_EVENTS: Final = "nvmlEventTypeXidCriticalError"
UNCORRECTED: Final = "nvmlDeviceGetTotalEccErrors.uncorrected"
CORRECTED: Final = "nvmlDeviceGetTotalEccErrors.corrected"
VIOLATIONS: Final = {
    "nvmlDeviceGetViolationStatus.power": "power",
    "nvmlDeviceGetViolationStatus.thermal": "thermal",
    "nvmlDeviceGetViolationStatus.sync_boost": "sync_boost",
    "nvmlDeviceGetViolationStatus.board_limit": "board_limit",
    "nvmlDeviceGetViolationStatus.low_utilization": "low_utilization",
    "nvmlDeviceGetViolationStatus.reliability": "reliability",
}
"""In the order of NVML's policies, from 0."""

_WHOLE: Final = Scope.WHOLE

NVML: Final = Vocabulary(
    source="nvml",
    title="NVML, asked directly",
    vendor="nvidia",
    prefixes=("nvml",),
    devices=Devices(
        uuid=("uuid",),
        index=("index",),
        node=("node",),
        model=("name",),
        slice_id=("slice",),
        slice_profile=("profile",),
    ),
    spellings=(
        Spelling(UTILIZATION, names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling(ACTIVE, names.ACTIVE, PERCENT, PERCENT_LIMIT),
        Spelling(MULTIPROCESSOR, names.MULTIPROCESSOR, PERCENT, PERCENT_LIMIT),
        Spelling(TENSOR, names.TENSOR, PERCENT, PERCENT_LIMIT),
        Spelling(MEMORY_ACTIVE, names.MEMORY_ACTIVE, PERCENT, PERCENT_LIMIT),
        Spelling(MEMORY_TOTAL, names.MEMORY_TOTAL),
        Spelling(MEMORY_USED, names.MEMORY_USED),
        Spelling(MEMORY_FREE, names.MEMORY_FREE),
        Spelling(MEMORY_RESERVED, names.MEMORY_RESERVED),
        Spelling(POWER, names.POWER, MILLI, WATTS_LIMIT / MILLI, scope=_WHOLE),
        Spelling(POWER_LIMIT, names.POWER_LIMIT, MILLI, WATTS_LIMIT / MILLI, scope=_WHOLE),
        Spelling(CLOCK, names.CLOCK, MEGA, MEGAHERTZ_LIMIT, scope=_WHOLE),
        Spelling(ENERGY, names.ENERGY, MILLI, scope=_WHOLE),
        Spelling(TEMPERATURE, names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling(LOST, names.HEALTH, scope=_WHOLE, true_when=(0.0,)),
        Spelling(REMAP_FAILED, names.HEALTH, scope=_WHOLE, true_when=(0.0,)),
        Spelling(XID_EVENTS, names.ERRORS, scope=_WHOLE, keeps=(("code", "xid"),)),
        Spelling(XID_AT, names.ERROR_AT, scope=_WHOLE, keeps=(("code", "xid"),)),
        Spelling(UNCORRECTED, names.MEMORY_ERRORS, scope=_WHOLE),
        Spelling(CORRECTED, names.CORRECTED_ERRORS, scope=_WHOLE),
        *(
            Spelling(theirs, names.THROTTLED, NANO, scope=_WHOLE, labels=(("throttle", ours),))
            for theirs, ours in VIOLATIONS.items()
        ),
    ),
)
