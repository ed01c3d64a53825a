"""JSON of Kueue objects, v1beta1 and v1beta2, → the small projections of `collector.model.objects`. Pure.

The two versions differ, as far as Trimtab looks, in two names: `spec.cohort` became `spec.cohortName` in
ClusterQueue, and `spec.priorityClassName` became `spec.priorityClassRef.name` in Workload. Only extended resources
are kept.
"""

from __future__ import annotations

from typing import Final

from collector.model.objects import (
    ClusterQueue,
    Cohort,
    FlavorQuota,
    FlavorResource,
    KueueWorkload,
    LocalQueue,
    PodSet,
    ResourceFlavor,
)
from collector.parse.extended_resources import device_count, is_extended, pod_devices
from collector.parse.json_fields import (
    JsonObject,
    flag,
    items,
    optional_word,
    parts,
    required_time,
    section,
    text,
    text_map,
    whole,
    word,
)
from collector.parse.kubernetes import annotations_of, conditions, controller_of, spec_managers

ORIGIN_LABEL: Final = "kueue.x-k8s.io/multikueue-origin"
"""On a mirror that MultiKueue made in a worker cluster: the name of where it came from."""


def workload(raw: JsonObject) -> KueueWorkload:
    """A Workload. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    admission = section(status, "admission", "status")
    class_ref = section(spec, "priorityClassRef", "spec")
    labels = text_map(metadata, "labels", "metadata")
    evictions = items(section(status, "schedulingStats", "status"), "evictions", "status.schedulingStats")
    return KueueWorkload(
        uid=text(metadata, "uid", "metadata"),
        namespace=word(metadata, "namespace", "metadata"),
        name=text(metadata, "name", "metadata"),
        queue=word(spec, "queueName", "spec", default=""),
        created_at=required_time(metadata, "creationTimestamp", "metadata"),
        pod_sets=tuple(_pod_set(entry) for entry in items(spec, "podSets", "spec")),
        priority=whole(spec, "priority", "spec"),
        priority_class=optional_word(class_ref, "name", "spec.priorityClassRef")
        or optional_word(spec, "priorityClassName", "spec"),
        active=flag(spec, "active", "spec", default=True),
        owner=controller_of(metadata),
        labels=labels,
        cluster_queue=optional_word(admission, "clusterQueue", "status.admission"),
        flavors=_assigned_flavors(admission),
        conditions=conditions(status),
        eviction_count=sum(whole(entry, "count", "status.schedulingStats.evictions") for entry in evictions),
        sent_from=labels.get(ORIGIN_LABEL) or None,
        runs_in=optional_word(status, "clusterName", "status"),
    )


def local_queue(raw: JsonObject) -> LocalQueue:
    """A LocalQueue. Raises ParseProblem."""
    metadata, spec, _ = parts(raw)
    return LocalQueue(
        namespace=word(metadata, "namespace", "metadata"),
        name=word(metadata, "name", "metadata"),
        cluster_queue=word(spec, "clusterQueue", "spec", default=""),
        stopped=word(spec, "stopPolicy", "spec", default="None") != "None",
    )


def cluster_queue(raw: JsonObject) -> ClusterQueue:
    """A ClusterQueue; `reserved` is what admitted and reserving workloads hold. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    preemption = section(spec, "preemption", "spec")
    borrowing = section(preemption, "borrowWithinCohort", "spec.preemption")
    active = conditions(status).get("Active")
    inactive = active is not None and not active.status
    return ClusterQueue(
        name=word(metadata, "name", "metadata"),
        cohort=optional_word(spec, "cohortName", "spec") or optional_word(spec, "cohort", "spec"),
        quotas=_quotas(spec),
        reclaim_within_cohort=word(preemption, "reclaimWithinCohort", "spec.preemption", default="Never"),
        within_cluster_queue=word(preemption, "withinClusterQueue", "spec.preemption", default="Never"),
        borrow_within_cohort=word(borrowing, "policy", "spec.preemption.borrowWithinCohort", default="Never"),
        strategy=word(spec, "queueingStrategy", "spec", default="BestEffortFIFO"),
        stop_policy=word(spec, "stopPolicy", "spec", default="None"),
        active=not inactive,
        inactive_reason=f"{active.reason}: {active.message}" if active is not None and inactive else "",
        reserved=_reserved(status),
    )


def cohort(raw: JsonObject) -> Cohort:
    """A Cohort. Raises ParseProblem."""
    metadata, spec, _ = parts(raw)
    return Cohort(
        name=word(metadata, "name", "metadata"),
        parent=optional_word(spec, "parentName", "spec"),
        quotas=_quotas(spec),
        resource_version=text(metadata, "resourceVersion", "metadata"),
        annotations=annotations_of(metadata),
        spec_managers=spec_managers(metadata),
    )


def resource_flavor(raw: JsonObject) -> ResourceFlavor:
    """A ResourceFlavor. Raises ParseProblem."""
    metadata, spec, _ = parts(raw)
    return ResourceFlavor(name=word(metadata, "name", "metadata"), node_labels=text_map(spec, "nodeLabels", "spec"))


def _pod_set(entry: JsonObject) -> PodSet:
    where = "spec.podSets"
    template = section(entry, "template", where)
    return PodSet(
        count=whole(entry, "count", where, default=1),
        gpus_per_pod=pod_devices(section(template, "spec", f"{where}.template"), f"{where}.template.spec"),
        min_count=whole(entry, "minCount", where) if entry.get("minCount") is not None else None,
    )


def _assigned_flavors(admission: JsonObject) -> dict[str, str]:
    assigned: dict[str, str] = {}
    where = "status.admission.podSetAssignments"
    for assignment in items(admission, "podSetAssignments", "status.admission"):
        flavors = text_map(assignment, "flavors", where)
        assigned.update({resource: flavor for resource, flavor in flavors.items() if is_extended(resource)})
    return assigned


def _quotas(spec: JsonObject) -> dict[FlavorResource, FlavorQuota]:
    quotas: dict[FlavorResource, FlavorQuota] = {}
    where = "spec.resourceGroups.flavors"
    for group in items(spec, "resourceGroups", "spec"):
        for flavor in items(group, "flavors", "spec.resourceGroups"):
            name = word(flavor, "name", where)
            for resource in items(flavor, "resources", where):
                resource_name = word(resource, "name", f"{where}.resources")
                if is_extended(resource_name):
                    path = f"{where}[{name}].resources[{resource_name}]"
                    quotas[name, resource_name] = FlavorQuota(
                        nominal=device_count(resource.get("nominalQuota") or 0, f"{path}.nominalQuota"),
                        borrowing_limit=_limit(resource, "borrowingLimit", path),
                        lending_limit=_limit(resource, "lendingLimit", path),
                    )
    return quotas


def _limit(resource: JsonObject, key: str, path: str) -> int | None:
    value = resource.get(key)
    return None if value is None else device_count(value, f"{path}.{key}")


def _reserved(status: JsonObject) -> dict[FlavorResource, int]:
    reserved: dict[FlavorResource, int] = {}
    where = "status.flavorsReservation"
    for flavor in items(status, "flavorsReservation", "status"):
        name = word(flavor, "name", where)
        for resource in items(flavor, "resources", where):
            resource_name = word(resource, "name", f"{where}.resources")
            if is_extended(resource_name):
                path = f"{where}[{name}].resources[{resource_name}].total"
                reserved[name, resource_name] = device_count(resource.get("total") or 0, path)
    return reserved
