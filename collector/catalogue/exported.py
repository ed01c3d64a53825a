"""The metrics that the collector exports. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.exported_evictions import EVICTION_COSTS
from collector.catalogue.exported_storage import STORAGE
from collector.catalogue.exported_strays import STRAYS
from collector.catalogue.exported_troubles import TROUBLES
from collector.catalogue.metric import Kind, Metric, Source, Unit

_QUEUE: Final = ("cluster", "tenant", "tier", "queue")
_TENANT_POOL: Final = ("cluster", "tenant", "pool")
_POOL: Final = ("cluster", "pool")
_SEEN: Final = ("cluster", "node", "source", "device")
_EDGE: Final = ("cluster", "source", "destination")
_ABSENT: Final = "no sample while it is unknown: absent never means 0"
_OBJECTS: Final = "read from objects: it also moves while nothing is admitted, when wait histograms stand still"


def _entry(name: str, kind: Kind, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    return Metric(name, kind, unit, labels, Source.COLLECTOR, meaning, traps)


QUEUES: Final = (
    _entry(
        "trimtab_queue_oldest_pending_seconds",
        Kind.GAUGE,
        Unit.SECONDS,
        _QUEUE,
        "Longest cumulative wait of any eligible workload that waits in the queue; 0 when none waits.",
        _OBJECTS,
        "an eviction resumes the clock, so it may exceed the age of the object",
        "age alone is no stall: look at why the work waits as well",
    ),
    _entry(
        "trimtab_queue_pending_workloads",
        Kind.GAUGE,
        Unit.WORKLOADS,
        (*_QUEUE, "waiting"),
        "Workloads that wait, by the name of their waiting.",
        "a name without workloads may have no series: aggregate, and treat absent as none only beside a fresh source",
    ),
    _entry(
        "trimtab_workload_wait_seconds_total",
        Kind.COUNTER,
        Unit.SECONDS,
        _QUEUE,
        "Seconds waited by all eligible workloads together, summed over evictions until their pods are Ready.",
        "grows by more than one second a second when several workloads wait",
    ),
    _entry(
        "trimtab_workload_evictions_total",
        Kind.COUNTER,
        Unit.EVICTIONS,
        _QUEUE,
        "Admitted workloads of this queue that lost their quota or a pod to preemption or reclaim.",
        "counted at the victim; who evicted whom: trimtab_tenant_evictions_total",
    ),
)

TENANTS: Final = (
    _entry(
        "trimtab_tenant_entitled_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "Entitled demand: GPUs running and GPUs waiting of eligible work, at most the tenant's burst.",
        "0 means no demand and must be exported: the minutes with a sample are what a window has seen",
        _ABSENT,
    ),
    _entry(
        "trimtab_tenant_shortfall_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "The part of the entitled demand that waits longer than its limit.",
        "only sizes with a limit are judged",
        _ABSENT,
    ),
    _entry(
        "trimtab_tenant_guarantee_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "What Git guarantees the tenant; never lowered by Trimtab.",
    ),
    _entry(
        "trimtab_tenant_floating_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "The movable part as it stands in the engine now; the agreed baseline stands in the Tenant document.",
        _ABSENT,
    ),
    _entry(
        "trimtab_tenant_reserved_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "Quota held by admitted work, running or starting.",
    ),
    _entry("trimtab_tenant_running_gpus", Kind.GAUGE, Unit.GPUS, _TENANT_POOL, "GPUs of work whose pods are Ready."),
    _entry(
        "trimtab_tenant_borrowed_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "Quota in use beyond guarantee and floating part as they stand now.",
        _ABSENT,
    ),
    _entry(
        "trimtab_tenant_idle_held_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "GPUs held by the tenant's pods that compute nothing.",
        "only GPUs with readings and one holder are judged",
        _ABSENT,
    ),
    _entry(
        "trimtab_tenant_namespace_info",
        Kind.INFO,
        Unit.TRUTH,
        ("cluster", "namespace", "tenant"),
        "Which tenant a namespace belongs to; the join of every rule over series that know namespaces only.",
        "join on cluster and namespace: equal names exist in two clusters",
        "scrape with `honor_labels: true`, or its namespace becomes `exported_namespace`",
    ),
)

HOLDINGS: Final = (
    _entry(
        "trimtab_tenant_held_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "GPUs that the tenant's pods hold on nodes, starting and ending ones included; 0 when none.",
        "counts pods, not quota: admitted work whose pods have no node yet holds nothing",
        "of one scrape, all tenants with `unassigned`, the free and the unusable GPUs of a pool are its capacity",
    ),
    _entry(
        "trimtab_tenant_unjudged_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _TENANT_POOL,
        "Held GPUs of which nobody can tell whether they compute: no reading, several holders, or sick.",
    ),
    _entry(
        "trimtab_tenant_coverage_ratio",
        Kind.GAUGE,
        Unit.RATIO,
        _TENANT_POOL,
        "Share of the GPUs held by the tenant of which it can be told whether they compute.",
        "no sample while the tenant holds none",
    ),
)

POOLS: Final = (
    _entry(
        "trimtab_pool_capacity_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _POOL,
        "GPUs that the pool's nodes offer, whether work may start there or not.",
        "devices that their plugin has withdrawn are not offered any more",
    ),
    _entry(
        "trimtab_pool_allocatable_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _POOL,
        "GPUs on nodes where work may start.",
        "a cordoned or unready node leaves it at once",
    ),
    _entry(
        "trimtab_pool_free_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        _POOL,
        "Allocatable GPUs that no pod holds.",
        "free GPUs on many nodes do not make the whole nodes that a gang needs",
    ),
    _entry(
        "trimtab_pool_unusable_gpus",
        Kind.GAUGE,
        Unit.GPUS,
        (*_POOL, "reason"),
        "GPUs that no pod holds, on nodes where no work may start; 0 when none.",
        "what pods still hold on such a node counts as held",
    ),
)

FABRIC: Final = (
    _entry(
        "trimtab_rdma_latency_seconds",
        Kind.GAUGE,
        Unit.SECONDS,
        (*_EDGE, "quantile"),
        "Half a round trip of 8 bytes between two nodes by UCX, at a quantile of the last probe.",
        "quantiles can not be averaged: compare edges, or an edge with itself",
        "no sample when the last probe failed or is old: look at trimtab_rdma_probe_age_seconds",
    ),
    _entry(
        "trimtab_rdma_baseline_seconds",
        Kind.GAUGE,
        Unit.SECONDS,
        (*_EDGE, "quantile"),
        "What is usual for the edge: the median of its past probes, those above three times of it left out.",
        "begins anew with the collector: one that starts during a fault takes it for usual until it ends",
        "no sample before five probes",
    ),
    _entry(
        "trimtab_rdma_probe_age_seconds",
        Kind.GAUGE,
        Unit.SECONDS,
        _EDGE,
        "Time since a probe of the edge last succeeded.",
        "no sample before the first success",
    ),
    _entry(
        "trimtab_tenant_rdma_latency_ratio",
        Kind.GAUGE,
        Unit.RATIO,
        ("cluster", "tenant", "objective", "source", "destination"),
        "Latency of an edge at which the tenant runs a gang of several nodes, by the limit of the tenant's objective "
        "(the better of the last two successful probes): above 1 the objective is missed.",
        "no sample while it runs no such gang, or while the edge has no baseline to judge by",
        "of each objective the twenty worst edges",
    ),
    _entry(
        "trimtab_tenant_rdma_new_links",
        Kind.GAUGE,
        Unit.LINKS,
        ("cluster", "tenant", "objective"),
        "Edges that the tenant's gangs use and that were probed too seldom to be judged.",
        "while they are nearly all of its edges the network is not ruled out as a cause",
    ),
)

COLLECTOR: Final = (
    _entry(
        "trimtab_collector_errors_total",
        Kind.COUNTER,
        Unit.ERRORS,
        ("source", "device", "reason"),
        "Readings that failed; the rest of the same cycle is not affected.",
    ),
    _entry(
        "trimtab_collector_last_success_timestamp_seconds",
        Kind.GAUGE,
        Unit.TIMESTAMP_SECONDS,
        ("cluster", "source"),
        "When the source was last read well enough to rely on; 0 when it is configured and was never read.",
        "the collector's clock, compared with that of Prometheus: keep both in step",
        "a source that was renamed or taken out counts as blind for six hours",
    ),
    _entry("trimtab_build_info", Kind.INFO, Unit.TRUTH, ("version",), "Which version runs."),
)

BLINDNESS: Final = (
    _entry(
        "trimtab_collector_source_age_seconds",
        Kind.GAUGE,
        Unit.SECONDS,
        _SEEN,
        "Time since this device, or this address or kind of object, was last read.",
        "no sample before the first time: look at the errors",
        "grows while the source is silent: a device that vanished keeps its series until the collector restarts",
    ),
    _entry(
        "trimtab_collector_source_coverage_ratio",
        Kind.GAUGE,
        Unit.RATIO,
        _SEEN,
        "Share of what the device should tell that is known, of the last look; 0 when it could not be read.",
    ),
    _entry(
        "trimtab_collector_unknown_readings",
        Kind.GAUGE,
        Unit.READINGS,
        (*_SEEN, "reason"),
        "What the device should tell and does not, by reason, of the last look.",
    ),
    _entry(
        "trimtab_collector_source_devices",
        Kind.GAUGE,
        Unit.DEVICES,
        ("cluster", "node", "source"),
        "Devices that were there at the last look; 0 where the node has none.",
    ),
    _entry(
        "trimtab_collector_last_error_timestamp_seconds",
        Kind.GAUGE,
        Unit.TIMESTAMP_SECONDS,
        (*_SEEN, "reason"),
        "When reading last failed in this way.",
    ),
)
"""Of each device of each source, by both roles of the collector."""

EXPORTED: Final = (
    *QUEUES,
    *TENANTS,
    *HOLDINGS,
    *POOLS,
    *EVICTION_COSTS,
    *STRAYS,
    *TROUBLES,
    *STORAGE,
    *FABRIC,
    *COLLECTOR,
    *BLINDNESS,
)
