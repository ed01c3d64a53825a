"""JSON of what tells of pods that could not be made: ReplicaSets, and events of the controllers that tried. Pure.

A pod that a quota or a webhook refuses leaves no object behind, whoever wanted it: Job, ReplicaSet or an operator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from collector.model.objects import FailedCreate, OwnerRef, ReplicaSet
from collector.parse.extended_resources import pod_devices
from collector.parse.json_fields import (
    JsonObject,
    ParseProblem,
    optional_time,
    optional_word,
    parts,
    required_time,
    section,
    text,
    whole,
    word,
)
from collector.parse.kubernetes import conditions, quota_counts

REFUSED_EVENTS: Final = "type=Warning,involvedObject.kind!=Pod"
"""Field selector: the API server can not select by several reasons, but most warnings are about pods."""

_REASONS: Final = ("FailedCreate", "FailedCreatePod")
"""Kubernetes' own controllers, and those of operators (PyTorchJob and its kin)."""
_ASKED: Final = re.compile(r"exceeded quota: .*?requested: (.*?), used: ")
_LONGEST_MESSAGE: Final = 300


def replica_set(raw: JsonObject) -> ReplicaSet | None:
    """A ReplicaSet, or None when it wants no pods or asks for no extended resource. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    template = section(section(spec, "template", "spec"), "spec", "spec.template")
    devices = pod_devices(template, "spec.template.spec")
    replicas = whole(spec, "replicas", "spec", default=1)
    if not devices or replicas <= 0:
        return None
    failure = conditions(status).get("ReplicaFailure")
    return ReplicaSet(
        uid=text(metadata, "uid", "metadata"),
        namespace=word(metadata, "namespace", "metadata"),
        name=text(metadata, "name", "metadata"),
        created_at=required_time(metadata, "creationTimestamp", "metadata"),
        replicas=replicas,
        existing=whole(status, "replicas", "status"),
        gpus_per_pod=devices,
        priority_class=optional_word(template, "priorityClassName", "spec.template.spec"),
        failure=failure if failure is not None and failure.status else None,
    )


def failed_create(raw: JsonObject) -> FailedCreate | None:
    """An Event, or None when it speaks of something else than a pod that could not be made. Raises ParseProblem."""
    if raw.get("reason") not in _REASONS:
        return None
    metadata, about = section(raw, "metadata"), section(raw, "involvedObject")
    first = optional_time(raw, "firstTimestamp") or optional_time(raw, "eventTime")
    last = optional_time(section(raw, "series"), "lastObservedTime", "series") or optional_time(raw, "lastTimestamp")
    created = required_time(metadata, "creationTimestamp", "metadata")
    message = optional_word(raw, "message") or ""
    return FailedCreate(
        namespace=word(about, "namespace", "involvedObject"),
        owner=OwnerRef(*(text(about, key, "involvedObject") for key in ("kind", "name", "uid"))),
        first_at=first or created,
        last_at=last or first or created,
        message=message[:_LONGEST_MESSAGE],
        gpus=_asked_for(message),
    )


def _asked_for(message: str) -> Mapping[str, int]:
    """What one pod asked for, by the words of the quota that refused it; empty where they do not say."""
    match = _ASKED.search(message)
    pairs = (entry.partition("=") for entry in match.group(1).split(",")) if match else ()
    try:
        return quota_counts({name.strip(): amount for name, _, amount in pairs}, "message")
    except ParseProblem:  # words for people: what is written there binds nobody
        return {}
