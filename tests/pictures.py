"""Pictures of clusters built by hand: a Kueue site in Trimtab's layout, plain namespaces, work that runs or waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.model.objects import (
    ClusterQueue,
    Cohort,
    Condition,
    FlavorQuota,
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
    ResourceQuota,
)

GPU = "nvidia.com/gpu"
PRODUCT = "nvidia.com/gpu.product"
NOW = 1_750_000_000.0


class PictureMaker:
    """Collects objects; `picture()` gives them as one immutable Picture taken at NOW."""

    def __init__(self, flavor: str = "h100") -> None:
        self.flavor = flavor
        self.labels = {PRODUCT: flavor.upper()}
        self._picture = Picture(taken_at=NOW)
        self._parts: dict[str, dict[str, Any]] = {
            kind: {}
            for kind in ("nodes", "namespaces", "pods", "jobs", "workloads", "cluster_queues", "cohorts", "flavors")
        }
        self._parts["priority_classes"] = {}
        self._parts["workload_priority_classes"] = {}
        self._doors: list[LocalQueue] = []
        self._quotas: list[ResourceQuota] = []

    def picture(self, **more: Any) -> Picture:
        """Everything so far; `more` sets other fields, such as unreadable."""
        kept: dict[str, Any] = {name: dict(part) for name, part in self._parts.items()}
        return replace(
            self._picture, **kept, local_queues=tuple(self._doors), resource_quotas=tuple(self._quotas), **more
        )

    def put(self, kind: str, name: str, value: object) -> None:
        """Any object, under its name or uid."""
        self._parts[kind][name] = value

    def node(self, name: str, gpus: int = 8, labels: Mapping[str, str] | None = None, **more: Any) -> None:
        """A ready node of the maker's product."""
        found = self.labels if labels is None else labels
        self.put("nodes", name, Node(name, found, {GPU: gpus}, **({"ready": True, "cordoned": False} | more)))

    def namespace(self, name: str, **labels: str) -> None:
        """A namespace; label names are written with __ for / and _ for . in their domain."""
        spelled = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
        self.put("namespaces", name, Namespace(name, spelled))

    def quota(
        self, nominal: int, borrow: int | None = None, lend: int | None = None
    ) -> dict[tuple[str, str], FlavorQuota]:
        """Quota of GPUs in the maker's flavor."""
        return {(self.flavor, GPU): FlavorQuota(nominal, borrow, lend)}

    def queue(self, name: str, cohort: str | None, nominal: int = 0, **more: Any) -> None:
        """A ClusterQueue with its flavor."""
        quotas = more.pop("quotas", self.quota(nominal, more.pop("borrow", None), more.pop("lend", None)))
        self.put("flavors", self.flavor, ResourceFlavor(self.flavor, self.labels))
        rules = {"reclaim_within_cohort": "Any"} | more
        self.put("cluster_queues", name, ClusterQueue(name, cohort, quotas, **rules))

    def door(self, namespace: str, queue: str, name: str = "gpus", stopped: bool = False) -> None:
        """A LocalQueue."""
        self._doors.append(LocalQueue(namespace, name, queue, stopped))

    def cohort(self, name: str, parent: str | None, nominal: int | None = None, lend: int | None = None) -> None:
        """A Cohort, with quota when `nominal` is given."""
        self.put("cohorts", name, Cohort(name, parent, {} if nominal is None else self.quota(nominal, None, lend)))

    def tenant(self, name: str, floor: int, floating: int = 0, site: str = "site", **rules: Any) -> None:
        """A tenant as Trimtab wants it: namespace, LocalQueue, queue with nominal 0, Cohort with the floor, leaf."""
        self.cohort(site, None)
        self.namespace(name)
        self.cohort(f"tenant-{name}", site, floor, lend=floor)
        self.cohort(f"trimtab-{name}", f"tenant-{name}", floating)
        self.queue(name, f"tenant-{name}", **rules)
        self.door(name, name)

    def resource_quota(self, namespace: str, hard: int, used: int = 0, resource: str = GPU, **more: Any) -> None:
        """A namespace's quota of GPUs."""
        name = more.pop("name", "gpus")
        self._quotas.append(ResourceQuota(namespace, name, {resource: hard}, {resource: used}, **more))

    def pod(self, namespace: str, name: str, node: str | None, gpus: int = 8, age: float = 7200.0, **more: Any) -> Pod:
        """A pod, Ready since `age` seconds when it has a node."""
        pod = Pod(
            uid=f"pod-{namespace}-{name}",
            namespace=namespace,
            name=name,
            phase="Running" if node else "Pending",
            gpus={GPU: gpus},
            created_at=NOW - age,
            node=node,
            ready_at=NOW - age if node else None,
        )
        pod = replace(pod, **more)
        self.put("pods", pod.uid, pod)
        return pod

    def job(self, namespace: str, name: str, gpus: int = 8, pods: int = 1, age: float = 7200.0, **more: Any) -> Job:
        """A batch/v1 Job that no queue holds."""
        job = Job(f"job-{namespace}-{name}", namespace, name, NOW - age, pods, {GPU: gpus}, **more)
        self.put("jobs", job.uid, job)
        return job

    def work(self, namespace: str, name: str, gpus: int = 8, pods: int = 1, age: float = 7200.0, **more: Any) -> None:
        """Queued work that waits since `age` seconds."""
        job = self.job(namespace, name, gpus, pods, age, queue=more.get("queue", "gpus"), suspended=True)
        workload = KueueWorkload(
            uid=f"wl-{namespace}-{name}",
            namespace=namespace,
            name=f"job-{name}",
            queue="gpus",
            created_at=NOW - age,
            pod_sets=(PodSet(pods, {GPU: gpus}),),
            owner=OwnerRef("Job", name, job.uid),
        )
        self.put("workloads", workload.uid, replace(workload, **more))

    def running(self, namespace: str, name: str, nodes: tuple[str, ...], gpus: int = 8, age: float = 7200.0) -> None:
        """Queued work that was admitted and runs, one pod per node."""
        self.work(namespace, name, gpus, len(nodes), age)
        uid = f"wl-{namespace}-{name}"
        door = next(door for door in self._doors if door.namespace == namespace)
        admitted = Condition(True, "Admitted", "", NOW - age)
        self.put(
            "workloads",
            uid,
            replace(
                self._parts["workloads"][uid],
                cluster_queue=door.cluster_queue,
                flavors={GPU: self.flavor},
                conditions={"Admitted": admitted, "QuotaReserved": admitted},
            ),
        )
        job = self._parts["jobs"][f"job-{namespace}-{name}"]
        self.put("jobs", job.uid, replace(job, suspended=False, active=len(nodes), ready=len(nodes)))
        for number, node in enumerate(nodes):
            owner = OwnerRef("Job", name, job.uid)
            self.pod(namespace, f"{name}-{number}", node, gpus, age, owner=owner)
