"""Small texts as exporters of each vendor write them, made up for the tests: names, labels and units are theirs."""

# ruff: noqa: E501 - a line of an exporter is as long as it is

from __future__ import annotations

from typing import Final

DCGM_3: Final = """\
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 100
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 0.031
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 2048
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 79000
DCGM_FI_DEV_FB_RESERVED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 512
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 9223372036854775794
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 5000
DCGM_FI_DEV_POWER_VIOLATION{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 3000000000
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 31
DCGM_FI_DEV_MEM_CLOCK{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1",container="main",namespace="vision",pod="train-0"} 1980
DCGM_FI_DEV_GPU_TEMP 40
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a",device="nvidia0",mod"""

NVIDIA_SMI: Final = """\
nvidia_smi_gpu_info{index="2",name="NVIDIA L40S",uuid="b7"} 1
nvidia_smi_utilization_gpu_ratio{uuid="b7"} 0.5
nvidia_smi_memory_used_bytes{uuid="b7"} 1.5e+09
nvidia_smi_memory_total_bytes{uuid="b7"} 4.8e+10
nvidia_smi_power_draw_watts{uuid="b7"} 120
nvidia_smi_power_draw_instant_watts{uuid="b7"} 131
nvidia_smi_temperature_gpu{uuid="b7"} 44
nvidia_smi_clocks_event_reasons_counters_sw_power_cap_seconds{uuid="b7"} 12.5
nvidia_smi_xid_errors_total{uuid="b7",xid="79"} 2
nvidia_smi_mig_info{compute_instance_id="0",gpu_instance_id="2",mig_uuid="m",profile="3g.24gb",uuid="c8"} 1
nvidia_smi_mig_memory_used_bytes{gpu_instance_id="2",uuid="c8"} 1000
nvidia_smi_failed_scrapes_total 0
"""

AMD: Final = """\
# TYPE gpu_gfx_activity gauge
gpu_gfx_activity{card_model="",card_series="AMD Instinct MI300X",gpu_compute_partition_type="spx",gpu_id="0",gpu_partition_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0",namespace="vision",pod="train-1",container="main",job_id=""} 88
gpu_used_vram{card_series="AMD Instinct MI300X",gpu_compute_partition_type="spx",gpu_id="0",gpu_partition_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0",namespace="vision",pod="train-1",container="main",job_id=""} 1024
gpu_total_vram{card_series="AMD Instinct MI300X",gpu_compute_partition_type="spx",gpu_id="0",gpu_partition_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0",namespace="vision",pod="train-1",container="main",job_id=""} 196592
gpu_package_power{gpu_compute_partition_type="spx",gpu_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0",namespace="vision",pod="train-1",container="main"} 612
gpu_energy_consumed{gpu_compute_partition_type="spx",gpu_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0"} 7000000
gpu_junction_temperature{gpu_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0"} 61
gpu_health{gpu_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0"} 0
gpu_violation_ppt_residency_percentage{gpu_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0"} 25
gpu_ecc_uncorrect_total{gpu_id="0",gpu_uuid="u0",hostname="n2",serial_number="s0"} 3
gpu_nodes_total 1
"""

ASCEND: Final = """\
machine_npu_nums 2
npu_chip_info_name{id="0",name="910B",vdie_id="D0",pcie_bus_info="0000:c1:00.0",namespace="",pod_name="",container_name=""} 1 1723621883587
npu_chip_info_utilization{id="0",model_name="910B",vdie_id="D0",pcie_bus_info="0000:c1:00.0",namespace="vision",pod_name="train-2",container_name="main"} 40 1723621883587
npu_chip_info_hbm_used_memory{id="0",model_name="910B",vdie_id="D0",pcie_bus_info="0000:c1:00.0",namespace="vision",pod_name="train-2",container_name="main"} 1024 1723621883587
npu_chip_info_hbm_total_memory{id="0",model_name="910B",vdie_id="D0",pcie_bus_info="0000:c1:00.0",namespace="vision",pod_name="train-2",container_name="main"} 65536 1723621883587
npu_chip_info_power{id="0",model_name="910B",vdie_id="D0",pcie_bus_info="0000:c1:00.0",namespace="vision",pod_name="train-2",container_name="main"} 95.5 1723621883587
npu_chip_info_health_status{id="0",model_name="910B",vdie_id="D0",pcie_bus_info="0000:c1:00.0",namespace="vision",pod_name="train-2",container_name="main"} 1 1723621883587
vnpu_pod_used_memory{id="1",model_name="310P",v_dev_id="100",aicore_count="4",namespace="lab",pod_name="small",container_name="main",is_virtual="true"} 2048 1723621883587
npu_chip_info_temperature{id="1",model_name="310P",vdie_id="D1",pcie_bus_info="0000:01:00.0",namespace="",pod_name="",container_name=""} 51 1723621883587
"""

CAMBRICON: Final = """\
mlu_utilization{driver="v6",mcu="v1",mlu="0",model="MLU370-X8",node="n4",sn="77",type="mlu370",uuid="M0",namespace="vision",pod="train-3",container="main"} 30
mlu_core_utilization{core="0",mlu="0",model="MLU370-X8",node="n4",sn="77",type="mlu370",uuid="M0"} 99
mlu_memory_used{mlu="0",model="MLU370-X8",node="n4",sn="77",type="mlu370",uuid="M0"} 1048576
mlu_memory_total{mlu="0",model="MLU370-X8",node="n4",sn="77",type="mlu370",uuid="M0"} 25769803776
mlu_chip_temperature{mlu="0",model="MLU370-X8",node="n4",sn="77",type="mlu370",uuid="M0"} 43
mlu_health{mlu="0",model="MLU370-X8",node="n4",sn="77",type="mlu370",uuid="M0"} 1
mlu_watts_of_board{mlu="0",model="MLU370-X8",node="n4",sn="77",type="mlu370",uuid="M0"} 150
mlu_last_xid_error{mlu="0",model="MLU370-X8",node="n4",sn="77",type="mlu370",uuid="M0"} 0
"""

HAMI: Final = """\
hami_host_gpu_utilization_ratio{node="n5",device_index="0",device_uuid="GPU-h",device_type="NVIDIA-A100"} 80
hami_host_gpu_memory_used_bytes{node="n5",device_index="0",device_uuid="GPU-h",device_type="NVIDIA-A100"} 30000
hami_vgpu_memory_used_bytes{namespace="vision",pod="a",container="main",vdevice_index="0",device_uuid="GPU-h"} 10000
hami_vgpu_memory_used_bytes{namespace="lab",pod="b",container="main",vdevice_index="1",device_uuid="GPU-h"} 15000
vGPU_device_memory_usage_in_bytes{podnamespace="vision",podname="a",ctrname="main",vdeviceid="0",deviceuuid="GPU-h"} 10000
hami_vgpu_memory_limit_bytes{namespace="vision",pod="a",container="main",vdevice_index="0",device_uuid="GPU-h"} 20000
hami_gpu_shared_count{node="n5",device_uuid="GPU-h",device_index="0",device_type="NVIDIA-A100"} 2
"""

NODE_EXPORTER: Final = """\
node_infiniband_port_data_received_bytes_total{device="mlx5_0",port="1"} 4000
node_infiniband_port_transmit_wait_total{device="mlx5_0",port="1"} 4.294967295e+09
node_infiniband_state_id{device="mlx5_0",port="1"} 4
node_infiniband_physical_state_id{device="mlx5_0",port="1"} 3
node_infiniband_rate_bytes_per_second{device="mlx5_0",port="1"} 5e+10
node_load1 0.5
"""

CEPH: Final = """\
# TYPE ceph_pool_objects_repaired counter
# TYPE ceph_pool_objects_repaired counter
# TYPE ceph_health_status untyped
ceph_health_status 1.0
ceph_health_detail{name="OSD_DOWN",severity="HEALTH_WARN"} 1.0
ceph_rbd_write_latency_sum{pool="rbd",namespace="",image="img0"} 111815850645.0
ceph_rbd_write_latency_count{pool="rbd",namespace="",image="img0"} 2040.0
ceph_osd_op_w_latency_sum{ceph_daemon="osd.0"} 12.5
ceph_osd_commit_latency_ms{ceph_daemon="osd.0"} 13.0
ceph_prioritycache:full_committed_bytes{ceph_daemon="osd.0"} 1.0
ceph_pool_stored{pool_id="2"} 4096.0
"""

KUBE_STATE_METRICS: Final = """\
kube_pod_container_resource_requests{namespace="vision",pod="p",uid="1",container="main",node="n1",resource="nvidia_com_gpu",unit="integer"} 8
kube_resourcequota{namespace="vision",resourcequota="q",resource="requests.nvidia.com/gpu",type="hard"} 16
kube_pod_status_phase{namespace="vision",pod="p",uid="1",phase="Running"} 1
kube_configmap_info{namespace="vision",configmap="c"} 1
"""

KUBE_SCHEDULER: Final = """\
scheduler_pending_pods{queue="gated"} 3
scheduler_pod_scheduling_duration_seconds_bucket{attempts="1",le="+Inf"} 10
scheduler_pod_scheduling_duration_seconds_sum{attempts="1"} 2.5
scheduler_total_preemption_attempts 4
go_goroutines 100
"""

KUEUE: Final = """\
kueue_pending_workloads{cluster_queue="vision",status="active"} 2
kueue_cluster_queue_borrowing_limit{cohort="all",cluster_queue="vision",flavor="h100",resource="nvidia.com/gpu"} +Inf
kueue_cluster_queue_weighted_share{cluster_queue="vision",cohort="all"} NaN
kueue_admission_wait_time_seconds_count{cluster_queue="vision",priority_class=""} 7
"""

EXPOSITIONS: Final = {
    "dcgm": DCGM_3,
    "nvidia-smi": NVIDIA_SMI,
    "amd": AMD,
    "ascend": ASCEND,
    "cambricon": CAMBRICON,
    "hami": HAMI,
    "node-exporter": NODE_EXPORTER,
    "ceph-mgr": CEPH,
    "kube-state-metrics": KUBE_STATE_METRICS,
    "kube-scheduler": KUBE_SCHEDULER,
    "kueue": KUEUE,
}
