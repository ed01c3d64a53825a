"""How versions of kube-state-metrics, kube-scheduler and Kueue spell things. Data only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.kubernetes import KUBE_SCHEDULER as SCHEDULER_METRICS
from collector.catalogue.kubernetes import KUBE_STATE_METRICS as STATE_METRICS
from collector.catalogue.kubernetes import KUEUE as KUEUE_METRICS
from collector.catalogue.spelling import Spelling, Vocabulary

_RESOURCES: Final = {
    "nvidia_com_gpu": "nvidia.com/gpu",
    "amd_com_gpu": "amd.com/gpu",
    "cambricon_com_mlu": "cambricon.com/mlu",
    "huawei_com_Ascend910": "huawei.com/Ascend910",
    "huawei_com_Ascend310P": "huawei.com/Ascend310P",
    "rdma_hca": "rdma/hca",
}
"""Some exporters write `_` for every sign that no name may hold; quotas keep the real name."""


def _of_itself(*families: str) -> tuple[Spelling, ...]:
    return tuple(Spelling(name, name, lowest=float("-inf")) for name in families)


def _old(**aliases: str) -> tuple[Spelling, ...]:
    return tuple(Spelling(theirs, ours) for theirs, ours in aliases.items())


KUBE_STATE_METRICS: Final = Vocabulary(
    source="kube-state-metrics",
    title="kube-state-metrics",
    prefixes=("kube_",),
    spellings=(
        *_of_itself(*(metric.name for metric in STATE_METRICS)),
        Spelling(
            "kube_pod_container_resource_requests_cpu_cores",
            "kube_pod_container_resource_requests",
            labels=(("resource", "cpu"), ("unit", "core")),
        ),
        Spelling(
            "kube_pod_container_resource_requests_memory_bytes",
            "kube_pod_container_resource_requests",
            labels=(("resource", "memory"), ("unit", "byte")),
        ),
    ),
    values=_RESOURCES,
)
KUBE_SCHEDULER: Final = Vocabulary(
    source="kube-scheduler",
    title="kube-scheduler",
    prefixes=("scheduler_",),
    spellings=(
        *_of_itself(*(metric.name for metric in SCHEDULER_METRICS)),
        *_old(
            scheduler_pod_scheduling_duration_seconds="scheduler_pod_scheduling_sli_duration_seconds",
            scheduler_e2e_scheduling_duration_seconds="scheduler_scheduling_attempt_duration_seconds",
            scheduler_total_preemption_attempts="scheduler_preemption_attempts_total",
            scheduler_pod_preemption_victims="scheduler_preemption_victims",
        ),
    ),
    values=_RESOURCES,
)
KUEUE: Final = Vocabulary(
    source="kueue",
    title="Kueue",
    prefixes=("kueue_",),
    spellings=(
        *_of_itself(*(metric.name for metric in KUEUE_METRICS)),
        *_old(
            kueue_admission_latency_seconds="kueue_admission_wait_time_seconds",
            kueue_cluster_queue_resource_reservations="kueue_cluster_queue_resource_reservation",
        ),
    ),
    values=_RESOURCES,
)
