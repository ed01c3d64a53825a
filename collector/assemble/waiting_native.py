"""Why overdue work waits on plain Kubernetes: refused before it became a pod, or pods that find no node. Pure.

A ResourceQuota refuses with no trace but events that go away, so it is told by arithmetic: which quota of the namespace
would refuse one more pod of this work now.
"""

from __future__ import annotations

from collector.assemble.capacity import CAP_NAME
from collector.assemble.native_quota import refusing_quota
from collector.model.objects import Picture
from collector.model.quantities import counted
from collector.model.snapshot import PoolState, WaitingName, Work


def native_waiting(work: Work, state: PoolState, picture: Picture) -> tuple[WaitingName, str]:
    """The name of waiting of overdue, eligible native work, and one sentence."""
    free = state.free
    if work.pods_missing:
        priority_class = state.pool.borrow_class if work.borrows else None
        quota = refusing_quota(picture, work.namespace, priority_class, state.pool.resource, work.gpus_per_pod)
        if quota is None:
            return WaitingName.BROKEN, f"{work.pods_missing} of its pods were never made, and no quota refuses them."
        used = f"{quota.used.get(state.pool.resource, 0)} of {quota.hard[state.pool.resource]}"
        told = f"{work.pods_missing} of its pods are refused by quota {quota.name} ({used} in use)"
        if quota.name == CAP_NAME:
            return WaitingName.REFUSED, f"{told}, while {gpus_are(free, 'of the pool ')} free."
        beyond = state.pool.borrow_class or "borrow"
        return WaitingName.REFUSED, f"{told}: its guarantee is used up; more may run under class {beyond}."
    if state.fits(work.pods, work.gpus_per_pod):
        return WaitingName.BROKEN, "Nodes are free, and yet its pods are not bound: look at the scheduler."
    if free >= work.gpus:
        shape = f"{work.pods} x {work.gpus_per_pod}"
        return WaitingName.BLOCKED, f"{gpus_are(free)} free, but no nodes have {shape} GPUs free: fragmentation."
    return WaitingName.SHORT_OF_CAPACITY, f"{gpus_are(free)} free and it needs {work.gpus}: the pool is full."


def gpus_are(count: int, where: str = "") -> str:
    """Beginning of a sentence: "1 GPU is", "8 GPUs of the pool are"."""
    return f"{counted(count, 'GPU')} {where}{'is' if count == 1 else 'are'}"
