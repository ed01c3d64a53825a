"""Work that can never start as things are: ineligible by the snapshot, or asking for more than any quota reaches.

Pure. Work that its user holds back, or that waits for room under its tenant's ceiling, is left out: both will pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from collector.assemble.holdings import CohortTrees
from collector.assemble.native_quota import native_guarantee
from collector.model.objects import Picture
from collector.model.quantities import counted
from collector.model.snapshot import Snapshot, Work, WorkPhase
from collector.model.tenancy import Engine


@dataclass(frozen=True, slots=True)
class NeverStarts:
    """A piece of work, and why it never starts."""

    work: Work
    reason: str


def never_start(picture: Picture, snapshot: Snapshot) -> tuple[NeverStarts, ...]:
    """All of them, the oldest first."""
    doors = _Doors(picture)
    found: list[NeverStarts] = []
    for work in snapshot.works:
        if work.phase is not WorkPhase.WAITING:
            continue
        if work.ineligible is None:
            reason = _above_its_namespace(picture, snapshot, work) or doors.out_of_reach(snapshot, work)
        else:
            reason = None if _will_pass(snapshot, work) else doors.missing(work) or work.ineligible
        if reason is not None:
            found.append(NeverStarts(work, reason))
    return tuple(sorted(found, key=lambda item: (item.work.created_at, item.work.key)))


def _will_pass(snapshot: Snapshot, work: Work) -> bool:
    """It fits under its tenant's ceiling, only not beside what the tenant uses now."""
    state = snapshot.pools.get(work.pool or "")
    held = snapshot.tenant_pool(work.tenant, work.pool or "")
    if state is None or held is None or held.entitlement.ceiling is None:
        return False
    fits = work.gpus_per_pod <= state.gpus_per_node and work.gpus <= state.total
    return fits and work.gpus <= held.entitlement.ceiling < held.reserved + work.gpus


def _above_its_namespace(picture: Picture, snapshot: Snapshot, work: Work) -> str | None:
    state = snapshot.pools.get(work.pool or "")
    if state is None or state.pool.engine is not Engine.NATIVE:
        return None
    granted = native_guarantee(picture, state.pool.resource, work.namespace)
    if granted is None or work.gpus <= granted:
        return None
    return f"asks for {counted(work.gpus, 'GPU')}, the ResourceQuota of {work.namespace} grants {granted}"


class _Doors:
    """LocalQueues and what stands behind them."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._leads_to = {(door.namespace, door.name): door.cluster_queue for door in picture.local_queues}
        self._trees = CohortTrees(picture)

    def missing(self, work: Work) -> str | None:
        """Nothing behind its queue: then nobody knows its pool either, which would be the weaker reason."""
        if not work.queue or not {"localqueues", "clusterqueues"}.isdisjoint(self._picture.unreadable):
            return None
        name = self._leads_to.get((work.namespace, work.queue))
        if name is None:
            others = ", ".join(sorted(door for namespace, door in self._leads_to if namespace == work.namespace))
            return f"its queue {work.queue} does not exist in {work.namespace}; there are: {others or 'none'}"
        known = name in self._picture.cluster_queues
        return None if known else f"its queue leads to ClusterQueue {name}, which does not exist"

    def out_of_reach(self, snapshot: Snapshot, work: Work) -> str | None:
        """More than its ClusterQueue has and may borrow. One of several flavors that holds enough is enough."""
        state = snapshot.pools.get(work.pool or "")
        queue = self._picture.cluster_queues.get(self._leads_to.get((work.namespace, work.queue), ""))
        if state is None or queue is None or "cohorts" in self._picture.unreadable:
            return None
        keys = [key for key in queue.quotas if key[1] == state.pool.resource]
        most = max((self._trees.reachable(queue, key) for key in keys), default=0)
        if work.gpus <= most:
            return None
        return f"asks for {counted(work.gpus, 'GPU')}, ClusterQueue {queue.name} reaches {most} with all it may borrow"
