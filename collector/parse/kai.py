"""JSON of KAI-Scheduler's objects → the small projections of `collector.model.gangs`. Pure.

A Queue counts GPUs in units, also in parts of one, and knows no other kind of device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from collector.model.gangs import PodGroup, Scheduler, ShareQueue
from collector.parse.device_amounts import device_amounts
from collector.parse.json_fields import (
    JsonObject,
    ParseProblem,
    items,
    optional_time,
    optional_word,
    parts,
    required_time,
    section,
    text,
    whole,
    word,
)
from collector.parse.kubernetes import owner_of

GPU_RESOURCE: Final = "nvidia.com/gpu"
_NO_LIMIT: Final = -1


def queue(raw: JsonObject) -> ShareQueue:
    """A Queue; quota and limit of -1 are none, a limit of 0 allows nothing. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    gpu = section(section(spec, "resources", "spec"), "gpu", "spec.resources")
    quota = _amount(gpu, "quota")
    return ShareQueue(
        scheduler=Scheduler.KAI,
        name=word(metadata, "name", "metadata"),
        parent=optional_word(spec, "parentQueue", "spec"),
        guaranteed=quota,
        deserved=quota,
        ceiling=_amount(gpu, "limit"),
        allocated=device_amounts(section(status, "allocated", "status"), "status.allocated"),
    )


def pod_group(raw: JsonObject) -> PodGroup:
    """A PodGroup. Raises ParseProblem."""
    metadata, spec, status = parts(raw)
    owner = owner_of(metadata)
    alive = whole(status, "pending", "status") + whole(status, "running", "status")
    done, failed = whole(status, "succeeded", "status"), whole(status, "failed", "status")
    return PodGroup(
        scheduler=Scheduler.KAI,
        uid=text(metadata, "uid", "metadata"),
        namespace=word(metadata, "namespace", "metadata"),
        name=text(metadata, "name", "metadata"),
        queue=word(spec, "queue", "spec", default=""),
        created_at=required_time(metadata, "creationTimestamp", "metadata"),
        min_member=whole(spec, "minMember", "spec", default=1),
        min_gpus={},  # its pods exist before the group does, and tell
        owner_uid=owner.uid if owner else None,
        owner_kind=owner.kind if owner else "PodGroup",
        owner_name=owner.name if owner else "",
        ended=alive == 0 and done + failed > 0,
        failed=alive == 0 and failed > 0,
        message=_why_unschedulable(status),
    )


def _amount(gpu: JsonObject, key: str) -> Mapping[str, float]:
    value = gpu.get(key)
    if value is None or value == _NO_LIMIT:
        return {}
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ParseProblem(f"spec.resources.gpu.{key}", value, "a number of GPUs, or -1 for no limit")
    return {GPU_RESOURCE: float(value)}


def _why_unschedulable(status: JsonObject) -> str:
    """The words of its newest scheduling condition."""
    where = "status.schedulingConditions"
    newest = max(
        items(status, "schedulingConditions", "status"),
        key=lambda entry: optional_time(entry, "lastTransitionTime", where) or 0.0,
        default={},
    )
    return (optional_word(newest, "message", where) or "") if newest.get("status") == "True" else ""
