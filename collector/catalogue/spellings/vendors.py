"""How the exporters of AMD, Ascend, Cambricon and HAMi spell things. Data only."""

from __future__ import annotations

import math
from typing import Final

from collector.catalogue import accelerators as names
from collector.catalogue.spelling import (
    CELSIUS_LIMIT,
    KIB,
    MEBIBYTES_LIMIT,
    MEGA,
    MEGAHERTZ_LIMIT,
    MIB,
    MICRO,
    PERCENT,
    PERCENT_LIMIT,
    WATTS_LIMIT,
    Devices,
    Holders,
    Scope,
    Spelling,
    Vocabulary,
)

_WHOLE: Final = Scope.WHOLE
_HOLDER: Final = Scope.HOLDER

_AMD_VIOLATIONS: Final = (
    ("processor_hot", "processor_hot"),
    ("ppt", "power"),
    ("socket_thermal", "thermal"),
    ("vr_thermal", "regulator_thermal"),
    ("hbm_thermal", "memory_thermal"),
)

AMD: Final = Vocabulary(
    source="amd",
    title="AMD device-metrics-exporter",
    vendor="amd",
    prefixes=("gpu_", "pcie_", "xgmi_"),
    any_prefix=True,
    any_case=True,
    # "not available" in 32 and 64 bits, where the exporter did not notice.
    blank_from=4294967295.0,
    blank_in=((4294967295.0, 4294967295.0), (float(2**64 - 2048), math.inf)),
    devices=Devices(
        uuid=("gpu_uuid", "serial_number"),
        index=("gpu_id",),
        node=("hostname",),
        model=("card_series", "card_model"),
        slice_id=("gpu_partition_id",),
        slice_profile=("gpu_compute_partition_type",),
        whole_profiles=frozenset({"", "spx", "na", "n/a", "none", "unknown"}),
        uuid_of_cut=("serial_number", "gpu_uuid"),
        needs=("gpu_uuid", "serial_number", "gpu_id"),
        holders=Holders(jobs=("job_id",), own_pods=("metrics-exporter",)),
    ),
    spellings=(
        Spelling("gpu_gfx_activity", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("gpu_usage", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("gpu_umc_activity", names.MEMORY_ACTIVE, PERCENT, PERCENT_LIMIT, scope=_WHOLE),
        Spelling("gpu_prof_tensor_active_percent", names.TENSOR, PERCENT, PERCENT_LIMIT),
        Spelling("gpu_used_vram", names.MEMORY_USED, MIB, MEBIBYTES_LIMIT),
        Spelling("gpu_total_vram", names.MEMORY_TOTAL, MIB, MEBIBYTES_LIMIT),
        Spelling("gpu_total_memory", names.MEMORY_TOTAL, MIB, MEBIBYTES_LIMIT),
        Spelling("gpu_free_vram", names.MEMORY_FREE, MIB, MEBIBYTES_LIMIT),
        Spelling("gpu_package_power", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("gpu_average_package_power", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("gpu_power_usage", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("gpu_energy_consumed", names.ENERGY, MICRO, scope=_WHOLE),
        Spelling("gpu_junction_temperature", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("gpu_edge_temperature", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("gpu_memory_temperature", names.MEMORY_TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("gpu_health", names.HEALTH, scope=_WHOLE, true_when=(1.0,)),
        Spelling("gpu_ecc_uncorrect_total", names.MEMORY_ERRORS, scope=_WHOLE),
        Spelling("gpu_ecc_correct_total", names.CORRECTED_ERRORS, scope=_WHOLE),
        *(
            Spelling(
                f"gpu_violation_{theirs}_residency_percentage", names.THROTTLE, PERCENT, PERCENT_LIMIT, scope=_WHOLE
            )
            for theirs, _ in _AMD_VIOLATIONS
        ),
    ),
)

_NPU: Final = "npu_chip_info_"

ASCEND: Final = Vocabulary(
    source="ascend",
    title="Ascend npu-exporter, both generations",
    vendor="ascend",
    prefixes=("npu_", "vnpu_", "container_npu_", "machine_npu_"),
    devices=Devices(
        uuid=("vdie_id",),
        index=("id", "npuID"),
        node=("node", "hostname"),
        model=("model_name", "name"),
        slice_id=("v_dev_id",),
        holders=Holders(
            labels=(("namespace", "pod_name", "container_name"), ("namespace", "pod", "container")),
            own_pods=("npu-exporter",),
        ),
    ),
    spellings=(
        Spelling(f"{_NPU}name", "", scope=Scope.INFO),
        Spelling(f"{_NPU}utilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling(f"{_NPU}overall_utilization", names.ACTIVE, PERCENT, PERCENT_LIMIT),
        Spelling(f"{_NPU}vector_utilization", names.MULTIPROCESSOR, PERCENT, PERCENT_LIMIT),
        Spelling(f"{_NPU}cube_utilization", names.TENSOR, PERCENT, PERCENT_LIMIT),
        Spelling(f"{_NPU}hbm_bandwidth_utilization", names.MEMORY_ACTIVE, PERCENT, PERCENT_LIMIT),
        Spelling(f"{_NPU}hbm_used_memory", names.MEMORY_USED, MIB, MEBIBYTES_LIMIT),
        Spelling(f"{_NPU}hbm_total_memory", names.MEMORY_TOTAL, MIB, MEBIBYTES_LIMIT),
        Spelling(f"{_NPU}used_memory", names.MEMORY_USED, MIB, MEBIBYTES_LIMIT),
        Spelling(f"{_NPU}total_memory", names.MEMORY_TOTAL, MIB, MEBIBYTES_LIMIT),
        Spelling(f"{_NPU}power", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling(f"{_NPU}aicore_current_freq", names.CLOCK, MEGA, MEGAHERTZ_LIMIT, scope=_WHOLE),
        Spelling(f"{_NPU}temperature", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling(f"{_NPU}hbm_temperature", names.MEMORY_TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling(f"{_NPU}health_status", names.HEALTH, scope=_WHOLE, true_when=(1.0,)),
        Spelling(f"{_NPU}error_code", names.LAST_ERROR, scope=_WHOLE),
        Spelling(f"{_NPU}hbm_ecc_double_bit_error_cnt", names.MEMORY_ERRORS, scope=_WHOLE),
        Spelling(f"{_NPU}hbm_ecc_single_bit_error_cnt", names.CORRECTED_ERRORS, scope=_WHOLE),
        Spelling("vnpu_pod_aicore_utilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("vnpu_pod_used_memory", names.MEMORY_USED, KIB),
        Spelling("vnpu_pod_total_memory", names.MEMORY_TOTAL, KIB),
        Spelling("container_npu_utilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("container_npu_used_memory", names.MEMORY_USED, MIB, MEBIBYTES_LIMIT),
        Spelling("container_npu_total_memory", names.MEMORY_TOTAL, MIB, MEBIBYTES_LIMIT),
    ),
)

CAMBRICON: Final = Vocabulary(
    source="cambricon",
    title="Cambricon mlu-exporter",
    vendor="cambricon",
    prefixes=("mlu_",),
    any_prefix=True,
    devices=Devices(
        uuid=("uuid", "sn"),
        index=("mlu", "slot"),
        node=("node", "nodeName", "hostname"),
        model=("model", "type"),
        slice_id=("vf", "vfID", "mim_instance_id", "smlu_instance_id"),
        slice_profile=("mim_profile_name", "smlu_profile_name"),
        needs=("mlu", "slot", "sn"),
        holders=Holders(own_pods=("mlu-exporter",)),
    ),
    spellings=(
        Spelling("utilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("board_utilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("activity", names.ACTIVE, PERCENT, PERCENT_LIMIT),
        Spelling("tensor_util", names.TENSOR, PERCENT, PERCENT_LIMIT),
        Spelling("virtual_function_utilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("container_mlu_utilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT, scope=_HOLDER),
        Spelling("container_mlu_vf_utilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT, scope=_HOLDER),
        Spelling("memory_used", names.MEMORY_USED),
        Spelling("memory_total", names.MEMORY_TOTAL),
        Spelling("memory_free", names.MEMORY_FREE),
        Spelling("memory_reserved", names.MEMORY_RESERVED),
        Spelling("physical_memory_used", names.MEMORY_USED),
        Spelling("physical_memory_total", names.MEMORY_TOTAL),
        Spelling("power_usage", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("power_usage_watts", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("board_power", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("chip_temperature", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("temperature", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("temperature_celsius", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("memory_temperature", names.MEMORY_TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("health", names.HEALTH, scope=_WHOLE, true_when=(1.0,)),
        Spelling("board_health", names.HEALTH, scope=_WHOLE, true_when=(1.0,)),
        Spelling("last_xid_error", names.LAST_ERROR, scope=_WHOLE),
        Spelling("xid_error_count", names.ERRORS, scope=_WHOLE, keeps=(("code", "xid"),)),
        Spelling("ecc_uncorrected_error_total", names.MEMORY_ERRORS, scope=_WHOLE),
        Spelling("ecc_corrected_error_total", names.CORRECTED_ERRORS, scope=_WHOLE),
    ),
)

HAMI: Final = Vocabulary(
    source="hami",
    title="HAMi: monitor and scheduler, new and legacy names",
    vendor="nvidia",
    prefixes=("hami_", "vGPU", "HostGPU", "HostCore", "GPUDevice", "nodeGPU", "Device_", "QuotaUsed"),
    devices=Devices(
        uuid=("device_uuid", "deviceuuid"),
        index=("device_index", "deviceidx"),
        node=("node", "nodeid", "nodename"),
        model=("device_type", "devicetype"),
        holders=Holders(
            labels=(("namespace", "pod", "container"), ("podnamespace", "podname", "ctrname")),
            replicas=("vdevice_index", "vdeviceid"),
            own_pods=("hami",),
        ),
    ),
    spellings=(
        Spelling("hami_host_gpu_utilization_ratio", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("HostCoreUtilization", names.UTILIZATION, PERCENT, PERCENT_LIMIT),
        Spelling("hami_host_gpu_memory_controller_utilization_ratio", names.MEMORY_ACTIVE, PERCENT, PERCENT_LIMIT),
        Spelling("hami_host_gpu_memory_used_bytes", names.MEMORY_USED),
        Spelling("HostGPUMemoryUsage", names.MEMORY_USED),
        Spelling("hami_gpu_memory_limit_bytes", names.MEMORY_TOTAL),
        Spelling("GPUDeviceMemoryLimit", names.MEMORY_TOTAL),
        Spelling("hami_host_gpu_temperature_celsius", names.TEMPERATURE, limit=CELSIUS_LIMIT, scope=_WHOLE),
        Spelling("hami_host_gpu_power_usage_watts", names.POWER, limit=WATTS_LIMIT, scope=_WHOLE),
        Spelling("hami_vgpu_memory_used_bytes", names.MEMORY_USED, scope=_HOLDER),
        Spelling("vGPU_device_memory_usage_in_bytes", names.MEMORY_USED, scope=_HOLDER),
        Spelling("hami_vgpu_memory_limit_bytes", names.MEMORY_TOTAL, scope=_HOLDER),
        Spelling("vGPU_device_memory_limit_in_bytes", names.MEMORY_TOTAL, scope=_HOLDER),
        Spelling("hami_container_device_utilization_ratio", names.UTILIZATION, PERCENT, PERCENT_LIMIT, scope=_HOLDER),
        Spelling("Device_utilization_desc_of_container", names.UTILIZATION, PERCENT, PERCENT_LIMIT, scope=_HOLDER),
    ),
)
