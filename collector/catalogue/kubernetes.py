"""What is read from kube-state-metrics, kube-scheduler and Kueue, under the newest of their own names. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

_POD: Final = ("namespace", "pod", "uid")
_CLUSTER_QUEUE: Final = ("cluster_queue", "priority_class")
_QUOTA: Final = ("cohort", "cluster_queue", "flavor", "resource")
_AT_SUCCESS: Final = "recorded when work starts: what starves stands in none of it"
_BUCKETS: Final = "a histogram: _bucket, _sum, _count"
_SANITIZED: Final = "written nvidia_com_gpu there, nvidia.com/gpu here"
_FINISHED: Final = "finished pods stay in it: join with the phase"


def _ksm(name: str, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    kind = Kind.INFO if name.endswith("_info") else Kind.GAUGE
    return Metric(name, kind, unit, labels, Source.KUBE_STATE_METRICS, meaning, traps)


def _scheduler(name: str, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    kind = Kind.COUNTER if name.endswith("_total") else Kind.GAUGE
    return Metric(name, kind, unit, labels, Source.KUBE_SCHEDULER, meaning, traps)


def _kueue(name: str, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    kind = Kind.COUNTER if name.endswith("_total") else Kind.GAUGE
    return Metric(name, kind, unit, labels, Source.KUEUE, meaning, traps)


KUBE_STATE_METRICS: Final = (
    _ksm(
        "kube_pod_info", Unit.TRUTH, (*_POD, "node", "priority_class"), "Where a pod runs.", "a class name, no number"
    ),
    _ksm("kube_pod_created", Unit.TIMESTAMP_SECONDS, _POD, "When the pod was created."),
    _ksm("kube_pod_status_phase", Unit.TRUTH, (*_POD, "phase"), "Whether the pod is in the phase.", _FINISHED),
    _ksm("kube_pod_status_scheduled", Unit.TRUTH, (*_POD, "condition"), "Whether the pod has a node."),
    _ksm("kube_pod_status_scheduled_time", Unit.TIMESTAMP_SECONDS, _POD, "When the pod got its node.", _AT_SUCCESS),
    _ksm("kube_pod_status_unschedulable", Unit.TRUTH, _POD, "1 while the scheduler finds no node."),
    _ksm("kube_pod_status_unscheduled_time", Unit.TIMESTAMP_SECONDS, _POD, "Since when it finds none."),
    _ksm("kube_pod_status_ready", Unit.TRUTH, (*_POD, "condition"), "Whether the pod is ready."),
    _ksm("kube_pod_status_ready_time", Unit.TIMESTAMP_SECONDS, _POD, "When the pod became ready."),
    _ksm(
        "kube_pod_status_reason",
        Unit.TRUTH,
        (*_POD, "reason"),
        "Why the pod failed.",
        "older versions write 0 for every reason that is not set, newer ones nothing",
    ),
    _ksm("kube_pod_status_disruption_reason", Unit.TRUTH, (*_POD, "reason"), "Why the pod was disrupted."),
    _ksm(
        "kube_pod_container_resource_requests",
        Unit.NUMBER,
        (*_POD, "container", "node", "resource", "unit"),
        "What a container asks for.",
        _FINISHED,
        _SANITIZED,
    ),
    _ksm(
        "kube_pod_container_resource_limits",
        Unit.NUMBER,
        (*_POD, "container", "node", "resource", "unit"),
        "What a container may use at most.",
        _SANITIZED,
    ),
    _ksm("kube_pod_resourceclaim_info", Unit.TRUTH, _POD, "A claim of dynamic resource allocation."),
    _ksm(
        "kube_pod_spec_volumes_persistentvolumeclaims_info",
        Unit.TRUTH,
        (*_POD, "persistentvolumeclaim"),
        "Which claim a pod mounts.",
    ),
    _ksm(
        "kube_persistentvolume_claim_ref",
        Unit.TRUTH,
        ("persistentvolume", "name"),
        "Which claim a volume is bound to.",
    ),
    _ksm("kube_persistentvolume_info", Unit.TRUTH, ("persistentvolume",), "Driver and handle of a volume."),
    _ksm("kube_persistentvolumeclaim_info", Unit.TRUTH, ("namespace", "persistentvolumeclaim"), "Class of a claim."),
    _ksm("kube_resourcequota", Unit.NUMBER, ("namespace", "resourcequota", "resource", "type"), "A quota and its use."),
    _ksm("kube_node_info", Unit.TRUTH, ("node",), "Versions of a node."),
    _ksm("kube_node_spec_unschedulable", Unit.TRUTH, ("node",), "Whether the node is cordoned."),
    _ksm(
        "kube_node_status_condition", Unit.TRUTH, ("node", "condition", "status"), "Whether a condition has a status."
    ),
    _ksm("kube_node_status_allocatable", Unit.NUMBER, ("node", "resource", "unit"), "What pods may use.", _SANITIZED),
    _ksm("kube_node_status_capacity", Unit.NUMBER, ("node", "resource", "unit"), "What the node has.", _SANITIZED),
    _ksm("kube_namespace_labels", Unit.TRUTH, ("namespace",), "Labels that the exporter was told to show."),
    _ksm("kube_job_status_active", Unit.NUMBER, ("namespace", "job_name"), "Running pods of a Job."),
    _ksm("kube_job_status_failed", Unit.NUMBER, ("namespace", "job_name"), "Failed pods of a Job."),
    _ksm("kube_job_status_succeeded", Unit.NUMBER, ("namespace", "job_name"), "Finished pods of a Job."),
    _ksm("kube_job_spec_parallelism", Unit.NUMBER, ("namespace", "job_name"), "Pods that a Job wants at once."),
    _ksm("kube_job_created", Unit.TIMESTAMP_SECONDS, ("namespace", "job_name"), "When a Job was created."),
)
KUBE_SCHEDULER: Final = (
    _scheduler(
        "scheduler_pending_pods", Unit.NUMBER, ("queue",), "Pods that wait: active, backoff, gated, unschedulable."
    ),
    _scheduler(
        "scheduler_unschedulable_pods",
        Unit.NUMBER,
        ("plugin", "profile"),
        "Pods that a plugin refuses.",
        "does not fall when a waiting pod is deleted",
    ),
    _scheduler("scheduler_schedule_attempts_total", Unit.NUMBER, ("profile", "result"), "Attempts to find a node."),
    _scheduler(
        "scheduler_pod_scheduling_sli_duration_seconds",
        Unit.SECONDS,
        ("attempts", "le"),
        "Time until a pod had its node.",
        _AT_SUCCESS,
        _BUCKETS,
    ),
    _scheduler("scheduler_pod_scheduling_attempts", Unit.NUMBER, ("le",), "Attempts per pod.", _BUCKETS),
    _scheduler(
        "scheduler_scheduling_attempt_duration_seconds",
        Unit.SECONDS,
        ("profile", "result", "le"),
        "Time of one attempt.",
        _BUCKETS,
    ),
    _scheduler(
        "scheduler_preemption_attempts_total", Unit.NUMBER, (), "Attempts to preempt.", "attempts, not successes"
    ),
    _scheduler("scheduler_preemption_victims", Unit.NUMBER, ("le",), "Pods that one preemption evicted.", _BUCKETS),
    _scheduler("scheduler_queue_incoming_pods_total", Unit.NUMBER, ("event", "queue"), "Pods put into a queue: churn."),
    _scheduler(
        "kube_pod_resource_request",
        Unit.NUMBER,
        ("namespace", "pod", "node", "resource", "unit"),
        "What a pod asks for, with its priority as a number.",
        "on /metrics/resources",
    ),
    _scheduler(
        "kube_pod_resource_limit",
        Unit.NUMBER,
        ("namespace", "pod", "node", "resource", "unit"),
        "What a pod may use at most.",
        "on /metrics/resources",
    ),
)
KUEUE: Final = (
    _kueue("kueue_pending_workloads", Unit.WORKLOADS, ("cluster_queue", "status"), "Workloads that wait."),
    _kueue(
        "kueue_unadmitted_workloads",
        Unit.WORKLOADS,
        ("cluster_queue", "reason", "underlying_cause"),
        "Workloads that wait, by why.",
    ),
    *(
        _kueue(f"kueue_{what}_workloads_total", Unit.WORKLOADS, _CLUSTER_QUEUE, f"Workloads {meaning}.")
        for what, meaning in (
            ("admitted", "admitted"),
            ("quota_reserved", "that got their quota"),
            ("finished", "finished"),
        )
    ),
    _kueue(
        "kueue_evicted_workloads_total",
        Unit.WORKLOADS,
        (*_CLUSTER_QUEUE, "reason", "underlying_cause"),
        "Evictions.",
    ),
    _kueue(
        "kueue_evicted_workloads_once_total",
        Unit.WORKLOADS,
        (*_CLUSTER_QUEUE, "reason", "underlying_cause"),
        "Workloads evicted at all: evictions by it are the churn.",
    ),
    _kueue(
        "kueue_preempted_workloads_total",
        Unit.WORKLOADS,
        ("preempting_cluster_queue", "reason"),
        "Workloads preempted, by whom.",
        "does not say whose they were",
    ),
    *(
        _kueue(
            f"kueue_{what}_wait_time_seconds", Unit.SECONDS, (*_CLUSTER_QUEUE, "le"), "A wait.", _AT_SUCCESS, _BUCKETS
        )
        for what in ("admission", "quota_reserved", "admission_checks", "ready", "admitted_until_ready")
    ),
    _kueue("kueue_reserving_active_workloads", Unit.WORKLOADS, ("cluster_queue",), "Workloads that hold quota."),
    _kueue("kueue_admitted_active_workloads", Unit.WORKLOADS, ("cluster_queue",), "Workloads that are admitted."),
    _kueue(
        "kueue_cluster_queue_status", Unit.TRUTH, ("cluster_queue", "status"), "Whether the queue is in the status."
    ),
    _kueue(
        "kueue_cluster_queue_resource_pending",
        Unit.NUMBER,
        ("cluster_queue", "resource"),
        "What waiting work asks for.",
    ),
    *(
        _kueue(
            f"kueue_cluster_queue_{what}",
            Unit.NUMBER,
            _QUOTA,
            f"{meaning}.",
            "only with enableClusterQueueResources: absent is not 0",
            "+Inf where no limit is set: unknown here",
        )
        for what, meaning in (
            ("nominal_quota", "Quota of its own"),
            ("borrowing_limit", "How much may be borrowed"),
            ("lending_limit", "How much is lent at most"),
            ("resource_usage", "In use"),
            ("resource_reservation", "Reserved"),
        )
    ),
    _kueue(
        "kueue_cluster_queue_weighted_share", Unit.NUMBER, ("cluster_queue", "cohort"), "Fair share.", "NaN at weight 0"
    ),
    _kueue("kueue_cohort_weighted_share", Unit.NUMBER, ("cohort",), "Fair share of a cohort.", "NaN at weight 0"),
    _kueue(
        "kueue_local_queue_pending_workloads", Unit.WORKLOADS, ("name", "namespace", "status"), "Workloads that wait."
    ),
    _kueue("kueue_local_queue_admitted_workloads_total", Unit.WORKLOADS, ("name", "namespace"), "Workloads admitted."),
    _kueue("kueue_local_queue_evicted_workloads_total", Unit.WORKLOADS, ("name", "namespace", "reason"), "Evictions."),
    _kueue(
        "kueue_local_queue_admission_wait_time_seconds",
        Unit.SECONDS,
        ("name", "namespace", "priority_class", "le"),
        "A wait.",
        _AT_SUCCESS,
        _BUCKETS,
    ),
    _kueue(
        "kueue_local_queue_status", Unit.TRUTH, ("name", "namespace", "status"), "Whether the queue is in the status."
    ),
)
