"""Exported metrics on free GPUs that are of no use: fragments, sick nodes, pods that stay or stray. Entries only."""

from __future__ import annotations

from typing import Final

from collector.catalogue.metric import Kind, Metric, Source, Unit

_TENANT_POOL: Final = ("cluster", "tenant", "pool")
_POOL: Final = ("cluster", "pool")


def _gauge(name: str, unit: Unit, labels: tuple[str, ...], meaning: str, *traps: str) -> Metric:
    return Metric(name, Kind.GAUGE, unit, labels, Source.COLLECTOR, meaning, traps)


STRAYS: Final = (
    _gauge(
        "trimtab_pool_largest_gang_gpus",
        Unit.GPUS,
        (*_POOL, "gpus_per_pod"),
        "GPUs of the largest gang of pods of that size that finds nodes now: of 1, 2, 4, … GPUs and of a whole node.",
        "below trimtab_pool_free_gpus by what lies in fragments: that much is free and of no use to such pods",
        "sizes of different pods share the same nodes: never add them up",
    ),
    _gauge(
        "trimtab_pool_withdrawn_gpus",
        Unit.GPUS,
        _POOL,
        "GPUs that nodes have and do not offer, since their device plugin calls them unhealthy.",
        "not part of trimtab_pool_capacity_gpus",
    ),
    _gauge(
        "trimtab_tenant_stuck_gpus",
        Unit.GPUS,
        _TENANT_POOL,
        "GPUs of pods that were deleted, whose grace period is over for more than a minute, and that still hold them.",
        "no sample for a tenant and pool without such pods: absent is none only beside a fresh collector",
    ),
    _gauge(
        "trimtab_tenant_off_pool_gpus",
        Unit.GPUS,
        _TENANT_POOL,
        "GPUs that the tenant's pods hold in a pool in which nothing was agreed with it.",
        "no sample where there are none",
    ),
    _gauge(
        "trimtab_tenant_bystander_pods",
        Unit.PODS,
        _TENANT_POOL,
        "Running pods without GPUs on the nodes of the pool: they take the CPU and memory that GPU work needs.",
        "pods of DaemonSets, static pods and those of the namespaces kube-* are left out",
        "no sample where there are none",
    ),
    _gauge(
        "trimtab_scheduler_queue_gpus",
        Unit.GPUS,
        ("cluster", "scheduler", "queue", "resource", "part"),
        "Devices of a queue of Volcano or KAI: part is guaranteed, deserved, ceiling, used or borrowed.",
        "of a Volcano queue that has weights alone only what it uses is known",
        "queues form a tree: a parent holds what its children hold",
    ),
)
