"""JSON of Kubernetes objects → the small projections of `collector.model.objects`. Pure.

Each function takes one decoded object and returns its projection, or raises ParseProblem naming the field; it
never fails in another way. Fields that Trimtab does not use are not looked at, so they cannot make an object
unreadable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from collector.model.deadline import DEADLINE_ANNOTATION, DEADLINE_WITHIN_ANNOTATION, EXPECTED_RUN_ANNOTATION
from collector.model.objects import (
    Bystander,
    Condition,
    Job,
    Namespace,
    Node,
    OwnerRef,
    Pod,
    PriorityClass,
    ResourceQuota,
)
from collector.model.tenancy import INTERACTIVE_LABEL
from collector.parse.extended_resources import device_count, device_counts, is_extended, pod_devices
from collector.parse.json_fields import (
    JsonObject,
    ParseProblem,
    as_object,
    flag,
    items,
    optional_time,
    optional_word,
    parts,
    required_time,
    section,
    text,
    text_map,
    whole,
    word,
)

OPT_OUT_ANNOTATION: Final = "trimtab.io/opt-out"
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"

POD_GROUP_ANNOTATIONS: Final = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name", "pod-group-name")
"""Where a pod names its PodGroup: Volcano by two names, KAI by the third."""

_ON_EVERY_NODE: Final = ("DaemonSet", "Node")
"""Owners of pods that belong on every node; a Node owns static pods."""
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_HARD_EFFECTS: Final = ("NoSchedule", "NoExecute")
_QUOTA_PREFIX: Final = "requests."
_GENERATED_LABELS: Final = frozenset(("controller-uid", "job-name"))
_GENERATED_PREFIXES: Final = ("batch.kubernetes.io/", "kueue.x-k8s.io/")
_PLACEMENT_FIELDS: Final = frozenset(("nodeSelector", "tolerations", "schedulingGates"))


def node(raw: JsonObject) -> Node:
    """A Node. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    return Node(
        name=text(metadata, "name", "metadata"),
        labels=text_map(metadata, "labels", "metadata"),
        allocatable=device_counts(section(status, "allocatable", "status"), "status.allocatable"),
        capacity=device_counts(section(status, "capacity", "status"), "status.capacity"),
        ready=_conditions(status).get("Ready", {}).get("status") == "True",
        cordoned=flag(spec, "unschedulable", "spec"),
        hard_taints=tuple(
            word(taint, "key", "spec.taints")
            for taint in items(spec, "taints", "spec")
            if taint.get("effect") in _HARD_EFFECTS
        ),
    )


def namespace(raw: JsonObject) -> Namespace:
    """A Namespace. It is opted out when the annotation trimtab.io/opt-out is there and not "false"."""
    metadata, _, _ = parts(raw)
    opt_out = text_map(metadata, "annotations", "metadata").get(OPT_OUT_ANNOTATION)
    return Namespace(
        name=word(metadata, "name", "metadata"),
        labels=text_map(metadata, "labels", "metadata"),
        opted_out=opt_out is not None and opt_out.strip().lower() != "false",
    )


def pod(raw: JsonObject) -> Pod | None:
    """A Pod, or None when it requests no extended resource. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    devices = pod_devices(spec)
    if not devices:
        return None
    found = _conditions(status)
    ready, scheduled = found.get("Ready", {}), found.get("PodScheduled", {})
    disrupted = found.get("DisruptionTarget", {})
    refused = scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable"
    return Pod(
        uid=text(metadata, "uid", "metadata"),
        namespace=word(metadata, "namespace", "metadata"),
        name=text(metadata, "name", "metadata"),
        phase=word(status, "phase", "status", default="Pending"),
        gpus=devices,
        created_at=required_time(metadata, "creationTimestamp", "metadata"),
        node=optional_word(spec, "nodeName", "spec"),
        priority=whole(spec, "priority", "spec"),
        priority_class=optional_word(spec, "priorityClassName", "spec"),
        owner=controller_of(metadata),
        ready_at=optional_time(ready, "lastTransitionTime", "Ready") if ready.get("status") == "True" else None,
        deleted_at=optional_time(metadata, "deletionTimestamp", "metadata"),
        unschedulable=word(scheduled, "message", "PodScheduled", default="") if refused else None,
        disruption_reason=optional_word(disrupted, "reason", "DisruptionTarget")
        if disrupted.get("status") == "True"
        else None,
        group=_pod_group(metadata),
        claims=_claims(spec),
    )


def _claims(spec: JsonObject) -> tuple[str, ...]:
    """Volume claims that a pod names, in order."""
    claims = (section(volume, "persistentVolumeClaim", "spec.volumes") for volume in items(spec, "volumes", "spec"))
    return tuple(sorted({name for claim in claims if (name := optional_word(claim, "claimName", "spec.volumes"))}))


def pod_or_bystander(raw: JsonObject) -> Pod | Bystander | None:
    """A Pod; one without extended resources as a Bystander, unless it does not run, or belongs on every node."""
    found = pod(raw)
    if found is not None:
        return found
    metadata, spec, status = parts(raw)
    node_name = optional_word(spec, "nodeName", "spec")
    owner = controller_of(metadata)
    everywhere = owner is not None and owner.kind in _ON_EVERY_NODE
    if node_name is None or everywhere or status.get("phase") in ("Succeeded", "Failed"):
        return None
    return Bystander(word(metadata, "namespace", "metadata"), node_name)


def job(raw: JsonObject) -> Job:
    """A batch/v1 Job. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    template = section(spec, "template", "spec")
    pod_spec = section(template, "spec", "spec.template")
    labels = text_map(metadata, "labels", "metadata")
    declared = text_map(metadata, "annotations", "metadata")
    pod_labels = text_map(section(template, "metadata", "spec.template"), "labels", "spec.template.metadata")
    return Job(
        uid=text(metadata, "uid", "metadata"),
        namespace=word(metadata, "namespace", "metadata"),
        name=text(metadata, "name", "metadata"),
        created_at=required_time(metadata, "creationTimestamp", "metadata"),
        parallelism=whole(spec, "parallelism", "spec", default=1),
        gpus_per_pod=pod_devices(pod_spec, "spec.template.spec"),
        suspended=flag(spec, "suspend", "spec"),
        queue=labels.get(QUEUE_LABEL) or None,
        interactive="true" in (labels.get(INTERACTIVE_LABEL), pod_labels.get(INTERACTIVE_LABEL)),
        priority_class=optional_word(pod_spec, "priorityClassName", "spec.template.spec"),
        template=template_fingerprint(template),
        active=whole(status, "active", "status"),
        ready=whole(status, "ready", "status"),
        finished_at=_finished_at(status),
        failed=_conditions(status).get("Failed", {}).get("status") == "True",
        owner=controller_of(metadata),
        stem=word(metadata, "generateName", "metadata", default=""),
        deadline=declared.get(DEADLINE_ANNOTATION, ""),
        expected_run=declared.get(EXPECTED_RUN_ANNOTATION, ""),
    )


def resource_quota(raw: JsonObject) -> ResourceQuota:
    """A ResourceQuota: its limits on `requests.<extended resource>`, under the resource's own name."""
    metadata, spec, status = parts(raw)
    return ResourceQuota(
        namespace=word(metadata, "namespace", "metadata"),
        name=text(metadata, "name", "metadata"),
        hard=quota_counts(section(spec, "hard", "spec"), "spec.hard"),
        used=quota_counts(section(status, "used", "status"), "status.used"),
        scope=_scope_in_words(spec),
        annotations=annotations_of(metadata),
        spec_managers=spec_managers(metadata),
        resource_version=text(metadata, "resourceVersion", "metadata"),
    )


def priority_class(raw: JsonObject) -> PriorityClass:
    """A PriorityClass of Kubernetes, or a WorkloadPriorityClass of Kueue: both are a name and a value."""
    metadata = section(as_object(raw), "metadata")
    within = text_map(metadata, "annotations", "metadata").get(DEADLINE_WITHIN_ANNOTATION, "")
    return PriorityClass(text(metadata, "name", "metadata"), whole(raw, "value"), within)


def uid_of(raw: object) -> str:
    """The uid of any object. Raises ParseProblem."""
    return text(section(as_object(raw), "metadata"), "uid", "metadata")


def controller_of(metadata: JsonObject) -> OwnerRef | None:
    """The owner that controls an object, None when nobody does. Raises ParseProblem."""
    where = "metadata.ownerReferences"
    for reference in items(metadata, "ownerReferences", "metadata"):
        if reference.get("controller") is True:
            return _owner(*(text(reference, key, where) for key in ("kind", "name", "uid")))
    return None


def owner_of(metadata: JsonObject) -> OwnerRef | None:
    """The owner that controls an object; else the first that stands there. Raises ParseProblem."""
    where = "metadata.ownerReferences"
    others = items(metadata, "ownerReferences", "metadata")
    first = next((_owner(*(text(entry, key, where) for key in ("kind", "name", "uid"))) for entry in others), None)
    return controller_of(metadata) or first


def annotations_of(metadata: JsonObject) -> dict[str, str]:
    """All annotations but kubectl's copy of the whole object. Raises ParseProblem."""
    annotations = text_map(metadata, "annotations", "metadata")
    annotations.pop(_LAST_APPLIED, None)
    return annotations


def spec_managers(metadata: JsonObject) -> frozenset[str]:
    """Field managers that own anything below `spec`. Raises ParseProblem."""
    where = "metadata.managedFields"
    return frozenset(
        text(entry, "manager", where)
        for entry in items(metadata, "managedFields", "metadata")
        if "f:spec" in section(entry, "fieldsV1", where)
    )


def conditions(status: JsonObject) -> dict[str, Condition]:
    """All status conditions by type. Raises ParseProblem."""
    where = "status.conditions"
    return {
        word(entry, "type", where): Condition(
            status=entry.get("status") == "True",
            reason=word(entry, "reason", where, default=""),
            message=optional_word(entry, "message", where) or "",
            since=required_time(entry, "lastTransitionTime", where),
        )
        for entry in items(status, "conditions", "status")
    }


def template_fingerprint(template: JsonObject) -> str:
    """A short stable hash of a pod template as its owner wrote it.

    Left out is what controllers write into it: labels that the Job controller and Kueue generate, and the
    placement (node selector, tolerations, gates) that Kueue adds when it admits, so that a Job keeps its
    fingerprint from waiting to running and a resubmission has the same one. Raises ParseProblem.
    """
    metadata = section(template, "metadata", "spec.template")
    spec = section(template, "spec", "spec.template")
    own = {
        "labels": _without_generated(text_map(metadata, "labels", "spec.template.metadata")),
        "annotations": _without_generated(text_map(metadata, "annotations", "spec.template.metadata")),
        "spec": {key: value for key, value in spec.items() if key not in _PLACEMENT_FIELDS},
    }
    try:
        canonical = orjson.dumps(own, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        raise ParseProblem("spec.template", own, "JSON values") from None
    return hashlib.blake2b(canonical, digest_size=8).hexdigest()


def _conditions(status: JsonObject) -> dict[str, JsonObject]:
    """The raw conditions by type; those that nobody asks for may be as they like."""
    by_type: dict[str, JsonObject] = {}
    for entry in items(status, "conditions", "status"):
        kind = entry.get("type")
        if isinstance(kind, str):
            by_type[kind] = entry
    return by_type


def _pod_group(metadata: JsonObject) -> str | None:
    annotations = section(metadata, "annotations", "metadata")
    found = (optional_word(annotations, key, "metadata.annotations") for key in POD_GROUP_ANNOTATIONS)
    return next((name for name in found if name is not None), None)


def _finished_at(status: JsonObject) -> float | None:
    found = _conditions(status)
    for kind in ("Complete", "Failed"):
        if found.get(kind, {}).get("status") == "True":
            since = optional_time(found[kind], "lastTransitionTime", kind)
            return optional_time(status, "completionTime", "status") or since
    return None


def quota_counts(quantities: JsonObject, path: str) -> dict[str, int]:
    """Of a quota's resource list, what speaks of extended resources, under their own names. Raises ParseProblem."""
    return {
        name.removeprefix(_QUOTA_PREFIX): device_count(quantity, f"{path}.{name}")
        for name, quantity in quantities.items()
        if name.startswith(_QUOTA_PREFIX) and is_extended(name.removeprefix(_QUOTA_PREFIX))
    }


def _scope_in_words(spec: JsonObject) -> str:
    """Scopes and scope selector, such as PriorityClass In [borrow]; sorted, joined by " and "."""
    scopes = spec.get("scopes") or []
    if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
        raise ParseProblem("spec.scopes", scopes, "a list of texts")
    where = "spec.scopeSelector"
    words = list(scopes)
    for expression in items(section(spec, "scopeSelector", "spec"), "matchExpressions", where):
        values = expression.get("values") or []
        if not isinstance(values, list):
            raise ParseProblem(f"{where}.values", values, "a list of texts")
        listed = f" [{', '.join(sorted(map(str, values)))}]" if values else ""
        words.append(f"{text(expression, 'scopeName', where)} {text(expression, 'operator', where)}{listed}")
    return " and ".join(sorted(words))


def _without_generated(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in entries.items()
        if name not in _GENERATED_LABELS and not name.startswith(_GENERATED_PREFIXES)
    }


@lru_cache(maxsize=4096)
def _owner(kind: str, name: str, uid: str) -> OwnerRef:
    """One value for all pods of a gang."""
    return OwnerRef(kind, name, uid)
