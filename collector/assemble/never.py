"""Work that can never start as things are: ineligible by the snapshot, or asking for more than any quota reaches.

Pure. Work that its user holds back, or that waits for room under its tenant's ceiling, is left out: both will pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collector.assemble.holdings import reachable
from collector.assemble.native_quota import native_guarantee
from collector.model.objects import Picture
from collector.model.snapshot import Snapshot, Work, WorkPhase
from collector.model.tenancy import Engine


@dataclass(frozen=True, slots=True)
class NeverStarts:
    """A piece of work, and why it never starts."""

    work: Work
    reason: str


def never_start(picture: Picture, snapshot: Snapshot) -> tuple[NeverStarts, ...]:
    """All of them, the oldest first."""
    waiting = (work for work in snapshot.works if work.phase is WorkPhase.WAITING)
    return tuple(sorted(_found(picture, snapshot, waiting), key=lambda item: (item.work.created_at, item.work.key)))


def _found(picture: Picture, snapshot: Snapshot, works: Iterator[Work]) -> Iterator[NeverStarts]:
    for work in works:
        if work.ineligible is not None and not _will_pass(snapshot, work):
            yield NeverStarts(work, _no_door(picture, work) or work.ineligible)
        elif work.ineligible is None and (reason := _out_of_reach(picture, snapshot, work)):
            yield NeverStarts(work, reason)


def _no_door(picture: Picture, work: Work) -> str | None:
    """Nothing behind its queue: then nobody knows its pool either, which would be the weaker reason."""
    if not work.queue or not {"localqueues", "clusterqueues"}.isdisjoint(picture.unreadable):
        return None
    for door in picture.local_queues:
        if (door.namespace, door.name) == (work.namespace, work.queue):
            missing = door.cluster_queue not in picture.cluster_queues
            return f"its queue leads to ClusterQueue {door.cluster_queue}, which does not exist" if missing else None
    others = sorted(door.name for door in picture.local_queues if door.namespace == work.namespace)
    return f"its queue {work.queue} does not exist in {work.namespace}; there are: {', '.join(others) or 'none'}"


def _will_pass(snapshot: Snapshot, work: Work) -> bool:
    """It fits under its tenant's ceiling, only not beside what the tenant uses now."""
    state = snapshot.pools.get(work.pool or "")
    held = snapshot.tenant_pool(work.tenant, work.pool or "")
    if state is None or held is None or held.entitlement.ceiling is None:
        return False
    fits = work.gpus_per_pod <= state.gpus_per_node and work.gpus <= sum(node.gpus for node in state.nodes)
    return fits and work.gpus <= held.entitlement.ceiling < held.reserved + work.gpus


def _out_of_reach(picture: Picture, snapshot: Snapshot, work: Work) -> str | None:
    state = snapshot.pools.get(work.pool or "")
    if state is None:
        return None
    pool = state.pool
    if pool.engine is Engine.NATIVE:
        granted = native_guarantee(picture, pool.resource, work.namespace)
        if granted is not None and work.gpus > granted:
            return f"asks for {work.gpus} GPUs, the ResourceQuota of {work.namespace} grants {granted}"
        return None
    doors = (door for door in picture.local_queues if (door.namespace, door.name) == (work.namespace, work.queue))
    queue = picture.cluster_queues.get(next((door.cluster_queue for door in doors), ""))
    if queue is None or "cohorts" in picture.unreadable:
        return None
    # A queue may offer several flavors; one that holds enough is enough.
    most = max((reachable(picture, queue, key) for key in queue.quotas if key[1] == pool.resource), default=0)
    if work.gpus <= most:
        return None
    return f"asks for {work.gpus} GPUs, ClusterQueue {queue.name} reaches {most} with all it may borrow"
