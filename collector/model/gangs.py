"""Small frozen projections of the objects of Volcano, KAI and KubeSphere that Trimtab looks at. Pure; epoch seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Scheduler(StrEnum):
    """A scheduler with queues of its own, beside Kueue and plain Kubernetes."""

    VOLCANO = "volcano"
    KAI = "kai"


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A gang as Volcano or KAI sees it."""

    scheduler: Scheduler
    uid: str
    namespace: str
    name: str
    queue: str
    created_at: float
    min_member: int
    min_gpus: Mapping[str, int]
    """What `min_member` pods ask for together, where the group says so."""
    owner_uid: str | None = None
    owner_kind: str = "PodGroup"
    owner_name: str = ""
    ended: bool = False
    failed: bool = False
    message: str = ""
    """The scheduler's own words on why it does not start."""


@dataclass(frozen=True, slots=True)
class VolcanoTask:
    """A part of a Volcano Job: `replicas` equal pods."""

    replicas: int
    gpus_per_pod: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class VolcanoJob:
    """A Job of Volcano: its pods exist only once its PodGroup was let into the queue."""

    uid: str
    namespace: str
    name: str
    queue: str
    created_at: float
    tasks: tuple[VolcanoTask, ...]
    min_available: int
    phase: str
    """Pending, Running, Completed, …; "" when its controller has not looked at it yet."""
    phase_since: float | None
    interactive: bool = False
    template: str = ""
    stem: str = ""


@dataclass(frozen=True, slots=True)
class ShareQueue:
    """A queue of Volcano or KAI, in devices per resource. A resource that is not named has no such limit or share."""

    scheduler: Scheduler
    name: str
    parent: str | None
    open: bool = True
    guaranteed: Mapping[str, float] = field(default_factory=dict)
    """Its own: never lent (Volcano's guarantee), or never reclaimed (KAI's quota)."""
    deserved: Mapping[str, float] = field(default_factory=dict)
    """Its share: may be lent, and is reclaimed. What is used beyond it is borrowed."""
    ceiling: Mapping[str, float] = field(default_factory=dict)
    allocated: Mapping[str, float] = field(default_factory=dict)
    reclaimable: bool = True

    def borrowed(self, resource: str) -> float:
        """What it uses beyond its share; 0 where it has none of that resource."""
        share = self.deserved.get(resource)
        return 0.0 if share is None else max(0.0, self.allocated.get(resource, 0.0) - share)


@dataclass(frozen=True, slots=True)
class WorkspaceQuota:
    """A quota of KubeSphere over all namespaces of a workspace. Its webhook fails open: it may be exceeded."""

    name: str
    workspace: str
    hard: Mapping[str, int]
    used: Mapping[str, int]
