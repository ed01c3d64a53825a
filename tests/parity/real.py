"""The real Kueue's side: each scenario's quota and Workloads in one cluster, all scenarios step by step together.

Workloads stand alone, without Jobs: what Kueue decides about is a Workload. Whoever is evicted gives its quota back
here as a Job's controller would have done once its pods are gone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from controller.demo.processes import wait_until
from controller.simulate.quota import QuotaNode
from tests.parity.scenarios import Arrival, End, Scenario
from tests.testbed.api import ApiRefused, KubeApi, Manifest
from tests.testbed.cluster import GPU, has_condition, namespace
from tests.testbed.kueue import API_VERSION

SPACE = "parity"
_PROBE = "parity-probe"
# Kueue looks again at what it has passed over one second after quota became free.
_QUIET_SECONDS = 1.3
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Seen:
    """What stood after a step, of one scenario. Times are epoch seconds as the API keeps them."""

    began: float
    reserved: dict[str, float]
    """Who has its quota, and since when."""
    evictions: dict[str, int]
    """How often each was evicted so far, where at all."""
    uids: dict[str, str]


class _Picture:
    """All work as the API server tells of it, read beside everything else."""

    def __init__(self, events: Iterator[Manifest]) -> None:
        self._events, self._works = events, dict[str, Manifest]()
        self.changed_at = time.monotonic()
        self.probes: set[str] = set()
        """Those that Kueue has admitted."""
        threading.Thread(target=self._read, daemon=True).start()

    def now(self) -> dict[str, Manifest]:
        """By name, without probes."""
        return dict(self._works)

    def _read(self) -> None:
        for event in self._events:
            work = event["object"]
            if not _name(work).startswith(_PROBE):
                self._works[_name(work)] = work
                self.changed_at = time.monotonic()
            elif has_condition(work, "QuotaReserved"):
                self.probes.add(_name(work))


class RealKueue:
    """Plays scenarios on a running control plane."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._probes = count()

    def build(self, scenarios: Sequence[Scenario]) -> None:
        """Makes the quota of all; returns when their queues admit."""
        self._api.apply(namespace(SPACE), SPACE)
        self._api.apply(_kueue("ResourceFlavor", SPACE, {}), SPACE)
        nodes = [QuotaNode(_PROBE, None, 10**6, is_queue=True), *(node for one in scenarios for node in one.nodes)]
        for node in nodes:
            self._api.apply(_quota_object(node), SPACE)
        queues = {node.name for node in nodes if node.is_queue}
        for name in queues:
            self._api.apply(_kueue("LocalQueue", name, {"clusterQueue": name}, SPACE), SPACE)
        wait_until(lambda: queues <= self._active("ClusterQueue"), "the queues of all scenarios to admit")
        wait_until(lambda: queues <= self._active("LocalQueue"), "the queues of the namespace to admit")

    def play(self, scenarios: Sequence[Scenario]) -> list[list[Seen]]:
        """Scenario → what was seen after each of its steps."""
        seen: list[list[Seen]] = [[] for _ in scenarios]
        with self._api.watch(API_VERSION, "Workload", SPACE) as events:
            picture = _Picture(events)
            for step in range(max(len(one.steps) for one in scenarios)):
                began = float(int(time.time()))
                for one in scenarios:
                    self._do(one.steps[step])
                found = self._settled(picture)
                for place, one in enumerate(scenarios):
                    own = [work for name, work in found.items() if name.startswith(f"{one.name}-")]
                    seen[place].append(_seen(began, own))
        return seen

    def remove(self, scenarios: Sequence[Scenario]) -> None:
        """Takes away what `build` made, with the work in it."""
        self._api.request("DELETE", f"/apis/{API_VERSION}/namespaces/{SPACE}/workloads")
        wait_until(lambda: not self._api.list_objects(API_VERSION, "Workload", SPACE), "all work to go")
        self._api.delete("v1", "Namespace", SPACE)
        for node in (
            QuotaNode(_PROBE, None, is_queue=True),
            *(node for one in scenarios for node in reversed(one.nodes)),
        ):
            self._api.delete(API_VERSION, "ClusterQueue" if node.is_queue else "Cohort", node.name)
        self._api.delete(API_VERSION, "ResourceFlavor", SPACE)

    def _do(self, step: Arrival | End) -> None:
        if isinstance(step, Arrival):
            self._api.create(_workload(step.name, step.queue, step.pods, step.gpus_per_pod, step.priority))
            return
        while True:
            work = self._api.get(API_VERSION, "Workload", step.name, SPACE)
            if self._say(work, "Finished", "True"):
                return

    def _settled(self, picture: _Picture) -> dict[str, Manifest]:
        """Everything, once Kueue has come to rest: it has seen all, and for a while nothing has changed."""
        self._probe(picture)
        while True:
            since = time.monotonic()
            while time.monotonic() - max(since, picture.changed_at) < _QUIET_SECONDS:
                self._finish_evictions(picture.now())
                time.sleep(_POLL_SECONDS)
            # A Kueue that is only slow answers now.
            self._probe(picture)
            time.sleep(2 * _POLL_SECONDS)
            if picture.changed_at < since + _QUIET_SECONDS:
                return picture.now()

    def _finish_evictions(self, found: dict[str, Manifest]) -> None:
        for work in found.values():
            if has_condition(work, "Evicted") and has_condition(work, "QuotaReserved"):
                self._say(work, "QuotaReserved", "False", {"admission": None})

    def _say(self, work: Manifest, kind: str, status: str, more: Manifest | None = None) -> bool:
        """Sets a condition; whether nobody else had changed the object meanwhile."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        said = {"status": status, "reason": "Parity", "message": "said by the test", "lastTransitionTime": now}
        conditions = [one for one in work.get("status", {}).get("conditions") or () if one["type"] != kind]
        conditions.append({"type": kind, **said})
        if kind == "QuotaReserved":
            conditions = [one if one["type"] != "Admitted" else {"type": "Admitted", **said} for one in conditions]
        metadata = {key: work["metadata"][key] for key in ("name", "namespace", "resourceVersion")}
        head = {"apiVersion": API_VERSION, "kind": "Workload", "metadata": metadata}
        try:
            self._api.patch({**head, "status": {"conditions": conditions, **(more or {})}}, "status")
        except ApiRefused as refusal:
            if refusal.code != 409:
                raise
            return False
        return True

    def _probe(self, picture: _Picture) -> None:
        """Returns when Kueue has admitted something that came after everything else."""
        name = f"{_PROBE}-{next(self._probes)}"
        self._api.create(_workload(name, _PROBE, 1, 1, 0))
        wait_until(lambda: name in picture.probes, "Kueue to look at its queues")

    def _active(self, kind: str) -> set[str]:
        found = self._api.list_objects(API_VERSION, kind, SPACE if kind == "LocalQueue" else None)
        return {one["metadata"]["name"] for one in found if has_condition(one, "Active")}


def _seen(began: float, found: Sequence[Manifest]) -> Seen:
    living = [one for one in found if not has_condition(one, "Finished")]
    return Seen(
        began,
        {_name(one): _since(one, "QuotaReserved") for one in living if has_condition(one, "QuotaReserved")},
        {_name(one): times for one in found if (times := _evictions(one))},
        {_name(one): one["metadata"]["uid"] for one in found},
    )


def _name(work: Manifest) -> str:
    return str(work["metadata"]["name"])


def _since(work: Manifest, kind: str) -> float:
    text = next(one["lastTransitionTime"] for one in work["status"]["conditions"] if one["type"] == kind)
    return datetime.fromisoformat(text).timestamp()


def _evictions(work: Manifest) -> int:
    return sum(one["count"] for one in work["status"].get("schedulingStats", {}).get("evictions", ()))


def _kueue(kind: str, name: str, spec: Manifest, in_namespace: str | None = None) -> Manifest:
    metadata = {"name": name} if in_namespace is None else {"name": name, "namespace": in_namespace}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _quota_object(node: QuotaNode) -> Manifest:
    limits = {"lendingLimit": node.lending_limit, "borrowingLimit": node.borrowing_limit}
    quota: dict[str, Any] = {"name": GPU, "nominalQuota": node.nominal}
    quota |= {key: value for key, value in limits.items() if value is not None}
    groups = [{"coveredResources": [GPU], "flavors": [{"name": SPACE, "resources": [quota]}]}]
    parent = {} if node.parent is None else {"cohortName" if node.is_queue else "parentName": node.parent}
    if not node.is_queue:
        return _kueue("Cohort", node.name, {**parent, "resourceGroups": groups})
    preemption = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
    if node.parent is None:
        preemption["reclaimWithinCohort"] = "Never"
    return _kueue(
        "ClusterQueue",
        node.name,
        {**parent, "namespaceSelector": {}, "preemption": preemption, "resourceGroups": groups},
    )


def _workload(name: str, queue: str, pods: int, gpus_per_pod: int, priority: int) -> Manifest:
    container = {"name": "train", "image": "none", "resources": {"requests": {GPU: str(gpus_per_pod)}}}
    pod = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    podset = {"name": "main", "count": pods, "template": pod}
    return _kueue("Workload", name, {"queueName": queue, "priority": priority, "podSets": [podset]}, SPACE)
