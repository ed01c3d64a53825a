"""JSON of Volcano's objects → the small projections of `collector.model.gangs`. Pure. Only extended resources count."""

from __future__ import annotations

from typing import Final

from collector.model.gangs import PodGroup, Scheduler, ShareQueue, VolcanoJob, VolcanoTask
from collector.model.tenancy import INTERACTIVE_LABEL
from collector.parse.device_amounts import device_amounts
from collector.parse.extended_resources import is_extended, pod_devices
from collector.parse.json_fields import (
    JsonObject,
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
from collector.parse.kubernetes import owner_of, quota_counts, template_fingerprint

_DEFAULT_QUEUE: Final = "default"


def queue(raw: JsonObject) -> ShareQueue:
    """A Queue. Weights alone give no amounts: then only what it uses is known. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    guarantee = section(section(spec, "guarantee", "spec"), "resource", "spec.guarantee")
    guaranteed = device_amounts(guarantee, "spec.guarantee.resource")
    return ShareQueue(
        scheduler=Scheduler.VOLCANO,
        name=word(metadata, "name", "metadata"),
        parent=optional_word(spec, "parent", "spec"),
        open=word(status, "state", "status", default="Open") == "Open",
        guaranteed=guaranteed,
        deserved=guaranteed | device_amounts(section(spec, "deserved", "spec"), "spec.deserved"),
        ceiling=device_amounts(section(spec, "capability", "spec"), "spec.capability"),
        allocated=device_amounts(section(status, "allocated", "status"), "status.allocated"),
        reclaimable=flag(spec, "reclaimable", "spec", default=True),
    )


def pod_group(raw: JsonObject) -> PodGroup:
    """A PodGroup. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    owner = owner_of(metadata)
    least = section(spec, "minResources", "spec")
    plain = {name: amount for name, amount in least.items() if is_extended(name)}
    asked = device_amounts(plain, "spec.minResources")
    phase = word(status, "phase", "status", default="Pending")
    return PodGroup(
        scheduler=Scheduler.VOLCANO,
        uid=text(metadata, "uid", "metadata"),
        namespace=word(metadata, "namespace", "metadata"),
        name=text(metadata, "name", "metadata"),
        queue=word(spec, "queue", "spec", default=_DEFAULT_QUEUE),
        created_at=required_time(metadata, "creationTimestamp", "metadata"),
        min_member=whole(spec, "minMember", "spec", default=1),
        min_gpus=quota_counts(least, "spec.minResources") | {name: int(amount) for name, amount in asked.items()},
        owner_uid=owner.uid if owner else None,
        owner_kind=owner.kind if owner else "PodGroup",
        owner_name=owner.name if owner else "",
        ended=phase == "Completed",
        message=_why_unschedulable(status),
    )


def job(raw: JsonObject) -> VolcanoJob:
    """A Job of batch.volcano.sh. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    where = "spec.tasks"
    tasks = list(items(spec, "tasks", "spec"))
    templates = [section(task, "template", where) for task in tasks]
    state = section(status, "state", "status")
    labels = text_map(metadata, "labels", "metadata")
    return VolcanoJob(
        uid=text(metadata, "uid", "metadata"),
        namespace=word(metadata, "namespace", "metadata"),
        name=text(metadata, "name", "metadata"),
        queue=word(spec, "queue", "spec", default=_DEFAULT_QUEUE),
        created_at=required_time(metadata, "creationTimestamp", "metadata"),
        tasks=tuple(
            VolcanoTask(
                whole(task, "replicas", where, default=1),
                pod_devices(section(template, "spec", f"{where}.template"), f"{where}.template.spec"),
            )
            for task, template in zip(tasks, templates, strict=True)
        ),
        min_available=whole(spec, "minAvailable", "spec"),
        phase=word(state, "phase", "status.state", default=""),
        phase_since=optional_time(state, "lastTransitionTime", "status.state"),
        interactive=labels.get(INTERACTIVE_LABEL) == "true",
        template="-".join(template_fingerprint(template) for template in templates[:1]),
        stem=word(metadata, "generateName", "metadata", default=""),
    )


def _why_unschedulable(status: JsonObject) -> str:
    """The words of its newest condition, while that says that it does not fit."""
    newest = max(
        items(status, "conditions", "status"),
        key=lambda entry: optional_time(entry, "lastTransitionTime", "status.conditions") or 0.0,
        default={},
    )
    unschedulable = newest.get("type") == "Unschedulable" and newest.get("status") == "True"
    return (optional_word(newest, "message", "status.conditions") or "") if unschedulable else ""
