"""Which kinds of objects are read, where they are served, and how all of them together become a Picture. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from collector.model.objects import Bystander, Picture
from collector.parse import kai, kubesphere, kueue, pod_list, refusals, volcano
from collector.parse import kubernetes as core
from collector.parse.json_fields import JsonObject
from collector.parse.volumes import ceph_volume

KUEUE_GROUP: Final = "kueue.x-k8s.io"
_KUEUE_VERSIONS: Final = ("v1beta2", "v1beta1")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind by its plural `name`, its API group ("" for the core), the versions we can read, the best first."""

    name: str
    group: str
    versions: tuple[str, ...]
    project: Callable[[JsonObject], object | None]
    """Object → projection; None when it does not matter to us; raises ParseProblem."""
    decode_list: Callable[[bytes], JsonObject | None] | None = None
    """A quicker way to decode a list, when there is one: JSON → all that `project` looks at; None when it cannot."""
    field_selector: str = ""
    """Which objects of the kind; "" for all."""
    always_served: bool = True
    """False where the group comes with an engine, and may be absent: discovery tells, before a right is missed."""

    @property
    def may_be_absent(self) -> bool:
        """Whether a cluster can do without it. All others every API server has: a 404 for them comes from elsewhere."""
        return self.group == KUEUE_GROUP or not self.always_served

    @property
    def plural(self) -> str:
        """As paths and rights name it: a name that two groups share ends in its group."""
        return self.name.partition(".")[0]

    def path(self, version: str) -> str:
        """Path of the list of all its objects in the cluster."""
        root = f"/apis/{self.group}" if self.group else "/api"
        return f"{root}/{version}/{self.plural}"

    @property
    def query(self) -> Mapping[str, str | int]:
        """What lists and watches of it ask for besides."""
        return {"fieldSelector": self.field_selector} if self.field_selector else {}


def _engine_kind(plural: str, group: str, version: str, project: Callable[[JsonObject], object | None]) -> Kind:
    """A kind of an engine that may be absent; its plural stands in several groups, so its name has the group in it."""
    return Kind(f"{plural}.{group}", group, (version,), project, always_served=False)


KINDS: Final = (
    Kind("nodes", "", ("v1",), core.node),
    Kind("namespaces", "", ("v1",), core.namespace),
    Kind("pods", "", ("v1",), core.pod_or_bystander, pod_list.fields_in_use),
    Kind("resourcequotas", "", ("v1",), core.resource_quota),
    Kind("jobs", "batch", ("v1",), core.job),
    Kind("priorityclasses", "scheduling.k8s.io", ("v1",), core.priority_class),
    Kind("workloads", KUEUE_GROUP, _KUEUE_VERSIONS, kueue.workload),
    Kind("localqueues", KUEUE_GROUP, _KUEUE_VERSIONS, kueue.local_queue),
    Kind("clusterqueues", KUEUE_GROUP, _KUEUE_VERSIONS, kueue.cluster_queue),
    Kind("cohorts", KUEUE_GROUP, _KUEUE_VERSIONS, kueue.cohort),
    Kind("resourceflavors", KUEUE_GROUP, _KUEUE_VERSIONS, kueue.resource_flavor),
    Kind("workloadpriorityclasses", KUEUE_GROUP, _KUEUE_VERSIONS, core.priority_class),
    Kind("replicasets", "apps", ("v1",), refusals.replica_set),
    Kind("events", "", ("v1",), refusals.failed_create, field_selector=refusals.REFUSED_EVENTS),
    _engine_kind("queues", "scheduling.volcano.sh", "v1beta1", volcano.queue),
    _engine_kind("podgroups", "scheduling.volcano.sh", "v1beta1", volcano.pod_group),
    _engine_kind("jobs", "batch.volcano.sh", "v1alpha1", volcano.job),
    _engine_kind("queues", "scheduling.run.ai", "v2", kai.queue),
    _engine_kind("podgroups", "scheduling.run.ai", "v2alpha2", kai.pod_group),
    _engine_kind("resourcequotas", "quota.kubesphere.io", "v1alpha2", kubesphere.workspace_quota),
)

VOLUMES: Final = Kind("persistentvolumes", "", ("v1",), ceph_volume)
"""Only for those who ask whose storage is slow. Nothing else depends on it: without the right to read it, and however
long ago it was read, the rest of the picture is as good."""


@dataclass(frozen=True, slots=True)
class KindState:
    """What is known of one kind at a moment."""

    objects: Mapping[str, Any] = field(default_factory=dict)
    """uid → projection."""
    malformed: Mapping[str, str] = field(default_factory=dict)
    """uid → why it could not be understood."""
    confirmed_at: float | None = None
    """When the API server last vouched for it; None when it was never read."""
    problem: str | None = None
    """Why it cannot be read now."""
    served: bool = True
    forbidden: bool = False
    """Whether what keeps it is a missing right."""


def picture_of(states: Mapping[str, KindState], now: float, since: float) -> Picture:
    """The picture at `now`. Its age is that of the oldest kind that was read; when none was, the time since `since`."""

    def by_uid(kind: str) -> Mapping[str, Any]:
        return states[kind].objects if kind in states else {}

    def by_name(kind: str) -> dict[str, Any]:
        return {found.name: found for found in sorted(by_uid(kind).values(), key=lambda found: str(found.name))}

    def in_namespaces(kind: str) -> tuple[Any, ...]:
        return tuple(sorted(by_uid(kind).values(), key=lambda found: (found.namespace, found.name)))

    confirmed = [
        state.confirmed_at
        for kind, state in states.items()
        if state.served and state.confirmed_at is not None and kind != VOLUMES.name
    ]
    return Picture(
        taken_at=now,
        nodes=by_name("nodes"),
        namespaces=by_name("namespaces"),
        pods={uid: pod for uid, pod in by_uid("pods").items() if not isinstance(pod, Bystander)},
        bystanders=tuple(pod for pod in by_uid("pods").values() if isinstance(pod, Bystander)),
        jobs=by_uid("jobs"),
        workloads=by_uid("workloads"),
        local_queues=in_namespaces("localqueues"),
        cluster_queues=by_name("clusterqueues"),
        cohorts=by_name("cohorts"),
        flavors=by_name("resourceflavors"),
        resource_quotas=in_namespaces("resourcequotas"),
        priority_classes=by_name("priorityclasses"),
        workload_priority_classes=by_name("workloadpriorityclasses"),
        replica_sets=by_uid("replicasets"),
        failed_creates=by_uid("events"),
        pod_groups={**by_uid("podgroups.scheduling.volcano.sh"), **by_uid("podgroups.scheduling.run.ai")},
        volcano_jobs=by_uid("jobs.batch.volcano.sh"),
        share_queues={
            (queue.scheduler, queue.name): queue
            for kind in ("queues.scheduling.volcano.sh", "queues.scheduling.run.ai")
            for queue in by_uid(kind).values()
        },
        workspace_quotas=tuple(by_name("resourcequotas.quota.kubesphere.io").values()),
        volumes=by_name(VOLUMES.name) if VOLUMES.name in states else {},
        unreadable={kind: state.problem for kind, state in states.items() if state.problem is not None},
        forbidden=frozenset(kind for kind, state in states.items() if state.forbidden),
        unserved=frozenset(kind for kind, state in states.items() if not state.served),
        malformed={kind: tuple(state.malformed.values()) for kind, state in states.items() if state.malformed},
        age_seconds=max(0.0, now - min(confirmed, default=since)),
    )
