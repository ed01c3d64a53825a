"""Who was refused before there was a pod: out of events and of conditions of ReplicaSets. Pure.

A refusal leaves no object behind. Controllers try again, at most every 17 minutes, and say so each time; what was not
said for longer than that is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from collector.model.objects import FailedCreate, OwnerRef, Picture, Pod, ReplicaSet

SINGLE_PODS: Final = ("ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController")
"""Owners whose pods run each for itself: what was refused is missing, and what exists runs nevertheless."""
_OVER_AFTER_SECONDS: Final = 1800.0


@dataclass(frozen=True, slots=True)
class Gap:
    """Equal pods that were refused, of one owner."""

    owner: OwnerRef
    namespace: str
    pods: int
    """At least so many."""
    gpus_per_pod: Mapping[str, int]
    since: float
    why: str
    some_exist: bool
    """Whether other pods of the owner exist."""
    began_before: bool = False
    """It may have begun before `since`: events are kept for an hour."""
    priority_class: str | None = None


class Refused:
    """All refusals that are not over, by the uid of the owner."""

    def __init__(self, events: Mapping[str, FailedCreate]) -> None:
        self._events = events

    def of(self, uid: str) -> str:
        """Why pods of that owner could not be made; "" when nobody says so."""
        event = self._events.get(uid)
        return event.message if event is not None else ""

    def gaps(self, picture: Picture, pods_of: Mapping[str, tuple[Pod, ...]]) -> Iterator[Gap]:
        """What is missing of owners that are no Jobs, where it is known how many GPUs a pod of theirs asks for."""
        for replica_set in picture.replica_sets.values():
            gap = self._of_replica_set(replica_set)
            if gap is not None:
                yield gap
        for uid, event in self._events.items():
            exist = any(pod.phase not in ("Succeeded", "Failed") for pod in pods_of.get(uid, ()))
            if uid in picture.replica_sets or (exist and event.owner.kind not in SINGLE_PODS):
                continue
            if event.gpus:
                yield Gap(event.owner, event.namespace, 1, event.gpus, event.first_at, event.message, exist, True)

    def _of_replica_set(self, found: ReplicaSet) -> Gap | None:
        missing, why = found.replicas - found.existing, self.of(found.uid)
        if found.failure is not None:
            why = found.failure.message or why or found.failure.reason
        if missing <= 0 or not why:
            return None
        owner = OwnerRef("ReplicaSet", found.name, found.uid)
        since = found.created_at if found.existing == 0 or found.failure is None else found.failure.since
        return Gap(
            owner,
            found.namespace,
            missing,
            found.gpus_per_pod,
            since,
            why,
            some_exist=found.existing > 0,
            priority_class=found.priority_class,
        )


def refusals(picture: Picture) -> Refused:
    """The events of each owner as one: since the first of them, in the words of the last."""
    by_owner: dict[str, FailedCreate] = {}
    for _, event in sorted(picture.failed_creates.items(), key=lambda item: (item[1].last_at, item[0])):
        if picture.taken_at - event.last_at > _OVER_AFTER_SECONDS:
            continue
        before = by_owner.get(event.owner.uid)
        by_owner[event.owner.uid] = event if before is None else _together(before, event)
    return Refused(by_owner)


def _together(before: FailedCreate, later: FailedCreate) -> FailedCreate:
    first = min(before.first_at, later.first_at)
    return FailedCreate(later.namespace, later.owner, first, later.last_at, later.message, later.gpus or before.gpus)
