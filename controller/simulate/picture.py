"""The simulated cluster as the API server would show it: the same projections that the real sources give. Pure.

Times are whole seconds, as in the API. What the API does not tell (run time, what is left, checkpoints) is not here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from collector.assemble.capacity import SHARED_LEAF, leaf_name
from collector.model.objects import (
    ClusterQueue,
    Cohort,
    Condition,
    FlavorQuota,
    FlavorResource,
    Job,
    KueueWorkload,
    LocalQueue,
    Namespace,
    Node,
    OwnerRef,
    Picture,
    Pod,
    PodSet,
    ResourceFlavor,
)
from controller.simulate.cluster import Cluster
from controller.simulate.cluster_spec import GPU, tenant_cohort
from controller.simulate.gang import Gang, GangPhase

FIELD_MANAGER = "trimtab"
_GIT = "git"
_PLACED = (GangPhase.ADMITTED, GangPhase.RUNNING)


def picture_of(cluster: Cluster, now: float) -> Picture:
    """All objects at `now`, which is the cluster's own time."""
    spec, gangs = cluster.spec, list(cluster.gangs.values())
    tenants = [tenant.name for tenant in spec.tenants]
    pods = [pod for gang in gangs if gang.phase in _PLACED for pod in _pods(cluster, gang)]
    return Picture(
        taken_at=now,
        nodes={
            name: Node(name, spec.node_labels, {GPU: spec.gpus_per_node}, True, False) for name in cluster.nodes.slots
        },
        namespaces={name: Namespace(name, {}) for name in tenants},
        pods={pod.uid: pod for pod in pods},
        jobs={gang.job_uid: _job(gang) for gang in gangs},
        workloads={gang.uid: _workload(cluster, gang) for gang in gangs},
        local_queues=tuple(LocalQueue(name, name, name) for name in sorted(tenants)),
        cluster_queues={name: _cluster_queue(cluster, name) for name in tenants},
        cohorts={cohort.name: cohort for cohort in cohorts_of(cluster)},
        flavors={spec.name: ResourceFlavor(spec.name, spec.node_labels)},
        volumes={volume.name: volume for volume in spec.volumes},
    )


def cohorts_of(cluster: Cluster) -> Iterator[Cohort]:
    """The Cohorts as they stand right now, Trimtab's own with what was applied to them."""
    names = [tenant.name for tenant in cluster.spec.tenants]
    yield Cohort(cluster.spec.name, None, {}, "1", spec_managers=frozenset({_GIT}))
    for name in names:
        node = cluster.tree.nodes[tenant_cohort(name)]
        quotas = {_key(cluster): FlavorQuota(node.nominal, lending_limit=node.lending_limit)}
        yield Cohort(node.name, node.parent, quotas, "1", spec_managers=frozenset({_GIT}))
    for name in (*map(leaf_name, names), SHARED_LEAF):
        yield own_cohort(cluster, name)


def own_cohort(cluster: Cluster, name: str) -> Cohort:
    """One of Trimtab's own Cohorts. Raises KeyError for a name that is none."""
    node, applied = cluster.tree.nodes[name], cluster.leaf(name)
    return Cohort(
        name,
        node.parent,
        {_key(cluster): FlavorQuota(node.nominal)},
        str(applied.version),
        dict(applied.annotations),
        frozenset({FIELD_MANAGER}),
    )


def _key(cluster: Cluster) -> FlavorResource:
    return cluster.spec.name, GPU


def _moment(at: float | None) -> float:
    return float(math.floor(at or 0.0))


def _job(gang: Gang) -> Job:
    placed, running = gang.phase in _PLACED, gang.phase is GangPhase.RUNNING
    return Job(
        uid=gang.job_uid,
        namespace=gang.spec.tenant,
        name=gang.spec.name,
        created_at=_moment(gang.created_at),
        parallelism=gang.spec.pods,
        gpus_per_pod={GPU: gang.spec.gpus_per_pod},
        suspended=gang.phase is GangPhase.PENDING,
        queue=gang.spec.tenant,
        active=gang.spec.pods if placed else 0,
        ready=gang.spec.pods if running else 0,
        finished_at=_moment(gang.finished_at) if gang.phase is GangPhase.FINISHED else None,
    )


def _pods(cluster: Cluster, gang: Gang) -> Iterator[Pod]:
    owner = OwnerRef("Job", gang.spec.name, gang.job_uid)
    running = gang.phase is GangPhase.RUNNING
    for name in gang.pod_names:
        node = cluster.nodes.node_of(gang.pod_key(name))
        yield Pod(
            uid=f"{gang.job_uid}-{name}",
            namespace=gang.spec.tenant,
            name=name,
            phase="Running" if running else "Pending",
            gpus={GPU: gang.spec.gpus_per_pod},
            created_at=_moment(gang.admitted_at),
            node=node,
            priority=gang.spec.priority,
            owner=owner,
            ready_at=_moment(gang.ready_at) if running else None,
            unschedulable=None if node else _no_node(cluster),
        )


def _no_node(cluster: Cluster) -> str:
    count = cluster.spec.nodes
    return f"0/{count} nodes are available: {count} Insufficient {GPU}."


def _workload(cluster: Cluster, gang: Gang) -> KueueWorkload:
    spec, held = gang.spec, gang.phase is not GangPhase.PENDING
    return KueueWorkload(
        uid=gang.uid,
        namespace=spec.tenant,
        name=f"job-{spec.name}-{gang.uid[:5]}",
        queue=spec.tenant,
        created_at=_moment(gang.created_at),
        pod_sets=(PodSet(spec.pods, {GPU: spec.gpus_per_pod}),),
        priority=spec.priority,
        owner=OwnerRef("Job", spec.name, gang.job_uid),
        cluster_queue=spec.tenant if held else None,
        flavors={GPU: cluster.spec.name} if held else {},
        conditions=dict(_conditions(cluster, gang)),
        eviction_count=gang.evictions,
    )


def _conditions(cluster: Cluster, gang: Gang) -> Iterator[tuple[str, Condition]]:
    admitted = _moment(gang.admitted_at)
    if gang.phase is GangPhase.FINISHED:
        yield "Finished", Condition(True, "Succeeded", "Job finished successfully", _moment(gang.finished_at))
    if gang.phase is not GangPhase.PENDING:
        reserved = f"Quota reserved in ClusterQueue {gang.spec.tenant}"
        yield "QuotaReserved", Condition(True, "QuotaReserved", reserved, admitted)
        yield "Admitted", Condition(True, "Admitted", "The workload is admitted", admitted)
    elif gang.eviction is None:
        yield "QuotaReserved", Condition(False, "Pending", _why_pending(cluster, gang), _moment(gang.created_at))
    else:
        yield "QuotaReserved", Condition(False, "Pending", _preemption(gang), _moment(gang.eviction.at))
        yield "Requeued", Condition(True, "Preempted", "The workload was requeued", _moment(gang.eviction.at))
    if gang.eviction is not None:
        waits, said = gang.phase is GangPhase.PENDING, _preemption(gang)
        since = _moment(gang.eviction.at) if waits else admitted
        reason = "InClusterQueue" if gang.eviction.within_queue else "InCohortReclamation"
        told = said if waits else f"Previously: {said}"
        yield "Evicted", Condition(waits, "Preempted" if waits else "QuotaReserved", told, since)
        yield "Preempted", Condition(waits, reason if waits else "QuotaReserved", told, since)


def _why_pending(cluster: Cluster, gang: Gang) -> str:
    missing = gang.spec.gpus - max(0, cluster.tree.available(gang.spec.tenant))
    return (
        "couldn't assign flavors to pod set main: insufficient unused quota for "
        f"{GPU} in flavor {cluster.spec.name}, {missing} more needed"
    )


def _preemption(gang: Gang) -> str:
    eviction = gang.eviction
    if eviction is None:
        return ""
    why = "prioritization in the ClusterQueue" if eviction.within_queue else "reclamation within the cohort"
    return (
        f"Preempted to accommodate a workload (UID: {eviction.preemptor_uid}, JobUID: {eviction.preemptor_job_uid}) "
        f"due to {why}; preemptor path: {eviction.preemptor_path}; preemptee path: {eviction.preemptee_path}"
    )


def _cluster_queue(cluster: Cluster, name: str) -> ClusterQueue:
    return ClusterQueue(
        name=name,
        cohort=tenant_cohort(name),
        quotas={_key(cluster): FlavorQuota(0)},
        reclaim_within_cohort="Any",
        within_cluster_queue="LowerPriority",
        reserved={_key(cluster): cluster.tree.held(name)},
    )
