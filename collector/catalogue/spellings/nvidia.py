"""How dcgm-exporter and nvidia_gpu_exporter spell things. Data only."""

from __future__ import annotations

import math
from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.spelling import (
    CELSIUS_LIMIT,
    HERTZ_LIMIT,
    MEBIBYTES_LIMIT,
    MEGA,
    MEGAHERTZ_LIMIT,
    MIB,
    MILLI,
    NANO,
    PERCENT,
    PERCENT_LIMIT,
    RATIO_LIMIT,
    WATTS_LIMIT,
    Devices,
    Holders,
    Scope,
    Spelling,
    Vocabulary,
)

_WHOLE: Final = Scope.WHOLE

_VIOLATIONS: Final = (
    ("POWER", "power"),
    ("THERMAL", "thermal"),
    ("SYNC_BOOST", "sync_boost"),
    ("BOARD_LIMIT", "board_limit"),
    ("LOW_UTIL", "low_utilization"),
    ("RELIABILITY", "reliability"),
)

DCGM: Final = Vocabulary(
    source="dcgm",
    title="dcgm-exporter 3.x and 4.x",
    vendor="nvidia",
    prefixes=("DCGM_",),
    # DCGM writes "no value" as a number: 0x7ffffff0 and a few above it, larger ones in its wider types.
    blank_from=2147483632.0,
    blank_in=((2147483632.0, 2147483647.0), (2.0**47, 2.0**47 + 15), (float(2**63 - 1024), math.inf)),
    devices=Devices(
        uuid=("UUID", "uuid", "gpu_uuid"),
        index=("gpu",),
        node=("Hostname", "hostname"),
        model=("modelName", "model_name"),
        slice_id=("GPU_I_ID", "dra_mig_device_uuid"),
        slice_profile=("GPU_I_PROFILE", "dra_mig_profile"),
        holders=Holders(
            labels=(("namespace", "pod", "container"), ("pod_namespace", "pod_name", "container_name")),
            jobs=("hpc_job",),
            claims=(("dra_claim_namespace", "dra_claim_name"),),
            replicas=("vgpu",),
            own_pods=("dcgm-exporter",),
        ),
    ),
    spellings=(
        Spelling("DCGM_FI_DEV_GPU_UTIL", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("DCGM_FI_PROF_GR_ENGINE_ACTIVE", names.ACTIVE, limit=RATIO_LIMIT),
        Spelling("DCGM_FI_PROF_SM_ACTIVE", names.MULTIPROCESSOR, limit=RATIO_LIMIT),
        Spelling("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", names.TENSOR, limit=RATIO_LIMIT),
        Spelling("DCGM_FI_PROF_DRAM_ACTIVE", names.MEMORY_ACTIVE, limit=RATIO_LIMIT),
        Spelling("DCGM_FI_DEV_FB_TOTAL", names.MEMORY_TOTAL, MIB, MEBIBYTES_LIMIT),
        Spelling("DCGM_FI_DEV_FB_USED", names.MEMORY_USED, MIB, MEBIBYTES_LIMIT),
        Spelling("DCGM_FI_DEV_FB_FREE", names.MEMORY_FREE, MIB, MEBIBYTES_LIMIT),
        Spelling("DCGM_FI_DEV_FB_RESERVED", names.MEMORY_RESERVED, MIB, MEBIBYTES_LIMIT),
        Spelling("DCGM_FI_DEV_POWER_USAGE", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("DCGM_FI_DEV_POWER_MGMT_LIMIT", names.POWER_LIMIT, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("DCGM_FI_DEV_SM_CLOCK", names.CLOCK, MEGA, MEGAHERTZ_LIMIT, scope=_WHOLE),
        Spelling("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", names.ENERGY, MILLI, scope=_WHOLE),
        Spelling("DCGM_FI_DEV_GPU_TEMP", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("DCGM_FI_DEV_MEMORY_TEMP", names.MEMORY_TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("DCGM_FI_DEV_XID_ERRORS", names.LAST_ERROR, scope=_WHOLE),
        Spelling("DCGM_EXP_XID_ERRORS_COUNT", names.RECENT_ERRORS, scope=_WHOLE, keeps=(("code", "xid"),)),
        Spelling("DCGM_EXP_GPU_HEALTH_STATUS", names.HEALTH, scope=_WHOLE, true_when=(0.0, 10.0)),  # 10 warns, 20 fails
        Spelling("DCGM_FI_DEV_ROW_REMAP_FAILURE", names.HEALTH, scope=_WHOLE, true_when=(0.0,)),
        Spelling("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", names.MEMORY_ERRORS, scope=_WHOLE),
        Spelling("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", names.CORRECTED_ERRORS, scope=_WHOLE),
        *(
            Spelling(
                f"DCGM_FI_DEV_{theirs}_VIOLATION", names.THROTTLED, NANO, scope=_WHOLE, labels=(("throttle", ours),)
            )
            for theirs, ours in _VIOLATIONS
        ),
    ),
)

_SMI: Final = "nvidia_smi_"
_REASONS: Final = (
    ("hw_power_brake_slowdown", "power_brake"),
    ("hw_thermal_slowdown", "hardware_thermal"),
    ("sw_power_cap", "power"),
    ("sw_thermal_slowdown", "thermal"),
    ("sync_boost", "sync_boost"),
)

NVIDIA_SMI: Final = Vocabulary(
    source="nvidia-smi",
    title="nvidia_gpu_exporter (nvidia_smi_*)",
    vendor="nvidia",
    prefixes=(_SMI,),
    devices=Devices(
        uuid=("uuid",),
        index=("index",),
        node=("node", "hostname"),
        model=("name",),
        slice_id=("gpu_instance_id",),
        slice_profile=("profile",),
        holders=Holders(labels=()),  # a pod on its series is the exporter's own, put there by a Prometheus
    ),
    spellings=(
        Spelling(f"{_SMI}gpu_info", "", scope=Scope.INFO),
        Spelling(f"{_SMI}mig_info", "", scope=Scope.INFO),
        Spelling(f"{_SMI}utilization_gpu_ratio", names.UTILIZATION, limit=RATIO_LIMIT),
        Spelling(f"{_SMI}memory_used_bytes", names.MEMORY_USED),
        Spelling(f"{_SMI}memory_total_bytes", names.MEMORY_TOTAL),
        Spelling(f"{_SMI}memory_free_bytes", names.MEMORY_FREE),
        Spelling(f"{_SMI}memory_reserved_bytes", names.MEMORY_RESERVED),
        Spelling(f"{_SMI}mig_memory_used_bytes", names.MEMORY_USED),
        Spelling(f"{_SMI}mig_memory_total_bytes", names.MEMORY_TOTAL),
        Spelling(f"{_SMI}mig_memory_free_bytes", names.MEMORY_FREE),
        Spelling(f"{_SMI}mig_memory_reserved_bytes", names.MEMORY_RESERVED),
        Spelling(f"{_SMI}power_draw_watts", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling(f"{_SMI}power_draw_instant_watts", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling(f"{_SMI}power_draw_average_watts", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling(f"{_SMI}enforced_power_limit_watts", names.POWER_LIMIT, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling(f"{_SMI}clocks_current_sm_clock_hz", names.CLOCK, limit=HERTZ_LIMIT, scope=_WHOLE),
        Spelling(f"{_SMI}energy_joules_total", names.ENERGY, scope=_WHOLE),
        Spelling(f"{_SMI}temperature_gpu", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling(f"{_SMI}temperature_memory", names.MEMORY_TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling(f"{_SMI}xid_errors_total", names.ERRORS, scope=_WHOLE, keeps=(("code", "xid"),)),
        Spelling(f"{_SMI}ecc_errors_uncorrected_volatile_total", names.MEMORY_ERRORS, scope=_WHOLE),
        Spelling(f"{_SMI}ecc_errors_corrected_volatile_total", names.CORRECTED_ERRORS, scope=_WHOLE),
        *(
            Spelling(
                f"{_SMI}clocks_event_reasons_counters_{theirs}_seconds",
                names.THROTTLED,
                scope=_WHOLE,
                labels=(("throttle", ours),),
            )
            for theirs, ours in _REASONS
        ),
    ),
)
