"""One cluster role over a large cluster, in this fresh process: `python -m tests.benchmarks.cluster_once WORKLOADS`.

The objects are JSON as an API server sends it, projected one by one, so that memory is what the collector would keep.
Prints JSON: seconds of CPU of one cycle (snapshot, clocks, holdings, and the text of a scrape), bytes resident, series.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest

from collector.assemble.clocks import WaitClocks
from collector.assemble.gpu_ledger import Devices
from collector.exporter.cluster_role import ClusterRole
from collector.exporter.families import Published, SnapshotCollector
from collector.exporter.health import Health
from collector.model.objects import Picture
from collector.model.tenancy import Engine, Entitlement, Members, Pool, Site, SizeClass, Tenant, Tier
from collector.sources.kubernetes_kinds import KINDS, KindState, picture_of
from collector.sources.kubernetes_lists import project
from tests.benchmarks.pod_list_once import resident_bytes

GPU: Final = "nvidia.com/gpu"
PRODUCT: Final = "nvidia.com/gpu.product"
TENANTS: Final = 200
WORKLOADS: Final = 10_000
GPUS: Final = 10_000
_PER_NODE: Final = 8
_CYCLES: Final = 3
_AT: Final = "2026-03-01T12:00:00Z"
_NOW: Final = 1_772_372_400.0
"""An hour after `_AT`."""


def _meta(name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    placed = {"namespace": namespace} if namespace else {}
    return {"name": name, "uid": f"uid-{name}", "creationTimestamp": _AT, "resourceVersion": "1", **placed, **more}


def _container(gpus: int) -> dict[str, Any]:
    return {"name": "train", "image": "none", "resources": {"requests": {GPU: str(gpus)}, "limits": {GPU: str(gpus)}}}


def _condition(kind: str) -> dict[str, Any]:
    return {"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": _AT}


def _groups(gpus: int) -> list[dict[str, Any]]:
    flavor = {"name": "h100", "resources": [{"name": GPU, "nominalQuota": gpus}]}
    return [{"coveredResources": [GPU], "flavors": [flavor]}]


def tenant(number: int) -> str:
    """Name of a tenant, its namespace and its queue."""
    return f"team-{number % TENANTS:03}"


def objects(workloads: int, gpus: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """(kind, object) of the whole cluster: half of the work runs, with one GPU each, and half waits for two."""
    for number in range(gpus // _PER_NODE):
        devices = {GPU: str(_PER_NODE), "cpu": "128"}
        status = {"capacity": devices, "allocatable": devices, "conditions": [_condition("Ready")]}
        yield "nodes", {"metadata": _meta(f"node-{number:05}", labels={PRODUCT: "H100"}), "spec": {}, "status": status}
    yield "resourceflavors", {"metadata": _meta("h100"), "spec": {"nodeLabels": {PRODUCT: "H100"}}}
    yield "cohorts", {"metadata": _meta("site"), "spec": {}}
    for number in range(TENANTS):
        name, share = tenant(number), gpus // TENANTS
        yield "namespaces", {"metadata": _meta(name)}
        yield "localqueues", {"metadata": _meta("gpus", name) | {"uid": f"lq-{name}"}, "spec": {"clusterQueue": name}}
        queue = {"cohortName": f"tenant-{name}", "resourceGroups": _groups(0)}
        yield "clusterqueues", {"metadata": _meta(name), "spec": queue, "status": {}}
        own = {"parentName": "site", "resourceGroups": _groups(share * 8 // 10)}
        yield "cohorts", {"metadata": _meta(f"tenant-{name}"), "spec": own}
        leaf = {"parentName": f"tenant-{name}", "resourceGroups": _groups(share * 2 // 10)}
        yield "cohorts", {"metadata": _meta(f"trimtab-{name}"), "spec": leaf}
    for number in range(workloads):
        yield from _gang(number, runs=number < workloads // 2)


def _gang(number: int, *, runs: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    name, namespace = f"job-{number:06}", tenant(number)
    pod = {"containers": [_container(1 if runs else 2)]}
    owner = {"kind": "Job", "name": name, "uid": f"uid-{name}", "controller": True}
    spec = {"parallelism": 1, "suspend": not runs, "template": {"metadata": {}, "spec": pod}}
    meta = _meta(name, namespace, labels={"kueue.x-k8s.io/queue-name": "gpus"})
    yield "jobs", {"metadata": meta, "spec": spec, "status": {"active": int(runs), "ready": int(runs)}}
    pod_sets = [{"name": "main", "count": 1, "template": {"spec": pod}}]
    status: dict[str, Any] = {}
    if runs:
        assigned = [{"name": "main", "flavors": {GPU: "h100"}}]
        status["admission"] = {"clusterQueue": namespace, "podSetAssignments": assigned}
        status["conditions"] = [_condition("QuotaReserved"), _condition("Admitted")]
    yield (
        "workloads",
        {
            "metadata": _meta(f"wl-{number:06}", namespace, ownerReferences=[owner]),
            "spec": {"queueName": "gpus", "priority": 0, "podSets": pod_sets},
            "status": status,
        },
    )
    if runs:
        placed = {**pod, "nodeName": f"node-{number // _PER_NODE:05}"}
        state = {"phase": "Running", "conditions": [_condition("Ready"), _condition("PodScheduled")]}
        metadata = _meta(f"{name}-0", namespace, ownerReferences=[owner])
        yield "pods", {"metadata": metadata, "spec": placed, "status": state}


def picture_from(found: Iterable[tuple[str, dict[str, Any]]], now: float) -> Picture:
    """What the collector would keep of these objects."""
    kinds, kept = {kind.name: kind for kind in KINDS}, {kind.name: dict[str, Any]() for kind in KINDS}
    for name, raw in found:
        one = project(kinds[name], json.loads(json.dumps(raw)))  # texts of its own, as from a server
        if one.problem is not None:
            raise ValueError(one.problem)
        kept[name][one.uid] = one.projection
    return picture_of({name: KindState(objects, confirmed_at=now) for name, objects in kept.items()}, now, now)


def site() -> Site:
    """Every tenant is promised its part, and judged."""
    tier = Tier("standard", 50, {SizeClass.SINGLE_NODE: 900.0})
    pool = Pool("h100", GPU, {PRODUCT: "H100"}, Engine.KUEUE, flavor="h100")
    share = GPUS // TENANTS
    entitled = (Entitlement("h100", share * 8 // 10, share * 2 // 10, burst=2 * share),)
    names = [tenant(number) for number in range(TENANTS)]
    tenants = tuple(Tenant(name, "standard", Members(frozenset({name})), entitled) for name in names)
    return Site("bench", (pool,), (tier,), tenants)


class _Kept:
    """The picture as a watch would give it, older with each look."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture

    def picture(self, now: float) -> Picture:
        return self._picture


def cycle_seconds(workloads: int, gpus: int = GPUS) -> tuple[float, int]:
    """(CPU seconds of the quickest cycle but the first, bytes of the text of a scrape)."""
    clock = [_NOW]
    role = ClusterRole(
        pictures=_Kept(picture_from(objects(workloads, gpus), _NOW)),
        devices=lambda now: Devices(),
        health=Health(),
        clock=lambda: clock[0],
        clocks=WaitClocks(),
        published=Published("bench"),
    )
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: role.published, role.health.state, lambda: clock[0], 90.0, "bench"))
    role.tick(site())
    taken, size = [], 0
    for _ in range(_CYCLES):
        clock[0] += 5.0
        started = time.process_time()
        role.tick(site())
        size = len(generate_latest(registry))
        taken.append(time.process_time() - started)
    return min(taken), size


def main() -> None:
    """Measure, and print."""
    seconds, size = cycle_seconds(int(sys.argv[1]))
    json.dump({"seconds": seconds, "bytes": resident_bytes(), "scrape_bytes": size}, sys.stdout)


if __name__ == "__main__":
    main()
