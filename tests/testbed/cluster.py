"""What stands in a test cluster: fake GPU nodes, namespaces, and the Kueue objects of a site as Trimtab expects them.

Manifests are plain functions of their arguments; only the functions that take an API connection touch the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from controller.demo.processes import wait_until
from tests.testbed.api import KubeApi, Manifest, collection_path
from tests.testbed.kueue import API_VERSION as KUEUE

GPU = "nvidia.com/gpu"
PRODUCT_LABEL = "nvidia.com/gpu.product"
H100 = "NVIDIA-H100-80GB-HBM3"
SITE_LABEL = "testbed.trimtab.io/site"

GIT = "git"  # field manager of what people keep in Git
TRIMTAB = "trimtab"  # field manager of Trimtab's own objects; the baseline is written in its name


@dataclass(frozen=True)
class SiteTenant:
    """A tenant: its namespace, ClusterQueue and LocalQueue bear its name.

    `floor` is Git's part of its guarantee, `floating` Trimtab's (GPUs).
    """

    name: str
    floor: int
    floating: int = 0


@dataclass(frozen=True)
class Site:
    """A pool of equal GPU nodes, shared by tenants under one Kueue cohort. Counts in GPUs, except `nodes`.

    The site's cohort, its ResourceFlavor and the prefix of its nodes bear its name. There is one `trimtab-shared` in a
    cluster, so one site at a time.
    """

    name: str
    nodes: int
    tenants: tuple[SiteTenant, ...]
    shared: int = 0
    gpus_per_node: int = 8
    product: str = H100

    @property
    def engine(self) -> str:
        """Which quota system serves it."""
        return "kueue"

    @property
    def node_labels(self) -> Mapping[str, str]:
        """The labels by which Kueue's flavor finds the nodes of this site and of no other."""
        return {PRODUCT_LABEL: self.product, SITE_LABEL: self.name}

    def node_manifests(self) -> list[Manifest]:
        """The fake nodes: <site>-0, <site>-1, …"""
        return [node(f"{self.name}-{number}", self.node_labels, self.gpus_per_node) for number in range(self.nodes)]

    def git_manifests(self) -> list[Manifest]:
        """What Git owns: the flavor, the site's cohort, and each tenant's namespace, cohort and queues."""
        flavor = _kueue("ResourceFlavor", self.name, {"nodeLabels": dict(self.node_labels)})
        return [flavor, _kueue("Cohort", self.name, {}), *(one for tenant in self.tenants for one in self._of(tenant))]

    def baseline_manifests(self) -> list[Manifest]:
        """What Trimtab owns, as agreed: each tenant's floating leaf and the shared leaf."""
        leaves = [self._leaf(f"trimtab-{one.name}", f"tenant-{one.name}", one.floating) for one in self.tenants]
        return [*leaves, self._leaf("trimtab-shared", self.name, self.shared)]

    def _of(self, tenant: SiteTenant) -> list[Manifest]:
        # All usage stands on the cohort's level, and only the floor is lent: the float stays its tenant's reserve.
        floor = {"nominalQuota": tenant.floor, "lendingLimit": tenant.floor}
        cohort = {"parentName": self.name, "resourceGroups": self._groups(floor)}
        queue = {
            "cohortName": f"tenant-{tenant.name}",
            "namespaceSelector": {},
            "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
            "resourceGroups": self._groups({"nominalQuota": 0}),
        }
        return [
            namespace(tenant.name),
            _kueue("Cohort", f"tenant-{tenant.name}", cohort),
            _kueue("ClusterQueue", tenant.name, queue),
            _kueue("LocalQueue", tenant.name, {"clusterQueue": tenant.name}, tenant.name),
        ]

    def _leaf(self, name: str, parent: str, gpus: int) -> Manifest:
        return _kueue("Cohort", name, {"parentName": parent, "resourceGroups": self._groups({"nominalQuota": gpus})})

    def _groups(self, quota: Mapping[str, int]) -> list[Manifest]:
        flavor = {"name": self.name, "resources": [{"name": GPU, **quota}]}
        return [{"coveredResources": [GPU], "flavors": [flavor]}]


BORROW = "borrow"  # the preemptible class of work beyond the guarantee


@dataclass(frozen=True)
class NativeSite(Site):
    """The same without any queueing system: quotas of namespaces, and a preemptible class for extra work."""

    @property
    def engine(self) -> str:
        """Plain Kubernetes."""
        return "native"

    def git_manifests(self) -> list[Manifest]:
        """What Git owns: the borrow class, and each tenant's namespace with its guarantee."""
        borrow = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": BORROW},
            "value": -100,
            "preemptionPolicy": "Never",
        }
        spaces = [namespace(tenant.name) for tenant in self.tenants]
        floors = [_quota("guarantee", tenant.name, tenant.floor, "NotIn") for tenant in self.tenants]
        return [borrow, *spaces, *floors]

    def baseline_manifests(self) -> list[Manifest]:
        """What Trimtab owns, as agreed: the cap of extra work in each namespace."""
        return [_quota("trimtab-cap", tenant.name, tenant.floating, "In") for tenant in self.tenants]


def _quota(name: str, in_namespace: str, gpus: int, operator: str) -> Manifest:
    scope = {"scopeName": "PriorityClass", "operator": operator, "values": [BORROW]}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": in_namespace},
        "spec": {"hard": {f"requests.{GPU}": str(gpus)}, "scopeSelector": {"matchExpressions": [scope]}},
    }


def node(name: str, labels: Mapping[str, str], gpus: int = 8) -> Manifest:
    """A node that KWOK plays: ready, large enough in everything but GPUs, and free of taints."""
    capacity = {GPU: str(gpus), "cpu": "128", "memory": "1Ti", "pods": "110", "ephemeral-storage": "1Ti"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "type": "kwok", **labels}},
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def namespace(name: str, labels: Mapping[str, str] | None = None) -> Manifest:
    """A namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels or {})}}


def gpu_job(
    name: str,
    namespace: str,
    gpus_per_pod: int,
    pods: int = 1,
    run_seconds: float | None = None,
    queue: str | None = None,
    labels: Mapping[str, str] | None = None,
    priority_class: str | None = None,
) -> Manifest:
    """A gang of equal pods as a batch/v1 Job; without `run_seconds` it runs until it is deleted."""
    annotations = {} if run_seconds is None else {"trimtab.io/run-seconds": f"{run_seconds:.3f}"}
    queue_label = {} if queue is None else {"kueue.x-k8s.io/queue-name": queue}
    container = {"name": "train", "image": "none", "resources": {"limits": {GPU: str(gpus_per_pod)}}}
    # KWOK deletes at once; without the zero the scheduler would wait for a graceful end when it preempts.
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}
    if priority_class is not None:
        pod["priorityClassName"] = priority_class
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": {**queue_label, **(labels or {})}},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "backoffLimit": 0,
            "template": {"metadata": {"annotations": annotations}, "spec": pod},
        },
    }


def build_site(api: KubeApi, site: Site) -> None:
    """Makes the nodes and all Kueue objects of a site, and returns when its nodes are ready and its queues admit."""
    tenants = {tenant.name for tenant in site.tenants}
    wait_until(lambda: tenants.isdisjoint(_terminating_namespaces(api)), f"old namespaces of {site.name} to go")
    add_nodes(api, site.node_manifests())
    apply_all(api, site.git_manifests(), GIT)
    apply_all(api, site.baseline_manifests(), TRIMTAB)
    if site.engine == "native":
        # Pods that are made before a quota has counted for the first time are not counted until much later.
        wait_until(lambda: all(_quotas_count(api, name) for name in tenants), f"the quotas of {site.name}")
        return
    wait_until(lambda: tenants <= _with_condition(api, KUEUE, "ClusterQueue", "Active"), f"the queues of {site.name}")


def remove_site(api: KubeApi, site: Site) -> None:
    """Deletes what `build_site` made, with the work in it, and returns when it is gone.

    The namespaces are still going then: Kubernetes takes five seconds for it, and only a new site of that name minds.
    """
    tenants = {tenant.name for tenant in site.tenants}
    for name in tenants:
        clear(api, name)
        api.delete("v1", "Namespace", name)
    cluster_wide = [one for one in site.git_manifests() if "namespace" not in one["metadata"]]
    for manifest in [*reversed(site.baseline_manifests()), *reversed(cluster_wide), *site.node_manifests()]:
        api.delete(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"])
    wait_until(lambda: tenants.isdisjoint(_names(api, KUEUE, "ClusterQueue")), f"the queues of {site.name} to go")


def clear(api: KubeApi, namespace: str) -> None:
    """Deletes all work of a namespace, and returns when it is gone."""
    for api_version, kind in (("batch/v1", "Job"), ("v1", "Pod"), (KUEUE, "Workload")):
        # Each kind by itself: the garbage collector learns of a new kind such as Workload only every 30 seconds.
        path = collection_path(api_version, kind, namespace)
        api.request("DELETE", path, query={"propagationPolicy": "Background"})
        wait_until(partial(_none_left, api, api_version, kind, namespace), f"each {kind} in {namespace} to go")


def add_nodes(api: KubeApi, manifests: Iterable[Manifest]) -> None:
    """Creates nodes and returns when all are ready and may be used."""
    names = set()
    for manifest in manifests:
        api.create(manifest)
        # The API server taints a new node as not ready and nobody here takes that away again.
        api.patch({"apiVersion": "v1", "kind": "Node", "metadata": manifest["metadata"], "spec": {"taints": []}})
        names.add(manifest["metadata"]["name"])
    wait_until(lambda: names <= _with_condition(api, "v1", "Node", "Ready"), "the nodes to become ready")


def apply_all(api: KubeApi, manifests: Iterable[Manifest], manager: str) -> None:
    """Server-side apply of several objects as one field manager."""
    for manifest in manifests:
        api.apply(manifest, manager)


def has_condition(manifest: Manifest, kind: str) -> bool:
    """Whether the condition of that type stands at True in the object's status."""
    conditions = manifest.get("status", {}).get("conditions") or ()
    return any(one["type"] == kind and one["status"] == "True" for one in conditions)


def _with_condition(api: KubeApi, api_version: str, kind: str, condition: str) -> set[str]:
    return {one["metadata"]["name"] for one in api.list_objects(api_version, kind) if has_condition(one, condition)}


def _terminating_namespaces(api: KubeApi) -> set[str]:
    found = api.list_objects("v1", "Namespace")
    return {one["metadata"]["name"] for one in found if "deletionTimestamp" in one["metadata"]}


def _quotas_count(api: KubeApi, in_namespace: str) -> bool:
    quotas = api.list_objects("v1", "ResourceQuota", in_namespace)
    return len(quotas) == 2 and all(quota.get("status", {}).get("hard") for quota in quotas)


def _none_left(api: KubeApi, api_version: str, kind: str, namespace: str) -> bool:
    return not api.list_objects(api_version, kind, namespace)


def _names(api: KubeApi, api_version: str, kind: str) -> set[str]:
    return {one["metadata"]["name"] for one in api.list_objects(api_version, kind)}


def _kueue(kind: str, name: str, spec: Manifest, in_namespace: str | None = None) -> Manifest:
    metadata = {"name": name} if in_namespace is None else {"name": name, "namespace": in_namespace}
    return {"apiVersion": KUEUE, "kind": kind, "metadata": metadata, "spec": spec}
