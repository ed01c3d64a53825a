"""Why overdue work waits in a queue of Volcano or KAI, by the shares that the queues hold and use. Pure.

Both let a queue use more than its share while others leave theirs; what their own scheduler says is passed on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from collector.assemble.waiting_native import gpus_are
from collector.model.gangs import Scheduler, ShareQueue
from collector.model.quantities import counted
from collector.model.snapshot import PoolState, WaitingName, Work

ShareQueues = Mapping[tuple[Scheduler, str], ShareQueue]


def share_queue_problem(work: Work, resource: str, queues: ShareQueues) -> str | None:
    """Why it can not start however long it waits, or None."""
    queue = queues.get((work.scheduler, work.queue)) if work.scheduler is not None else None
    if queue is None:
        return f"its queue {work.queue} does not exist" if queues else None
    if not queue.open:
        return f"its queue {queue.name} is closed"
    ceiling, used = queue.ceiling.get(resource), queue.allocated.get(resource, 0.0)
    if ceiling is None:
        return None
    if work.gpus > ceiling:
        return f"asks for {counted(work.gpus, 'GPU')}, above the limit of {ceiling:g} of its queue {queue.name}"
    if used + work.gpus > ceiling and not work.nodes:
        return f"its queue {queue.name} uses {used:g} of its limit of {ceiling:g} GPUs"
    return None


def grouped_waiting(work: Work, state: PoolState, queues: ShareQueues) -> tuple[WaitingName, str]:
    """The name of waiting of overdue, eligible work of a PodGroup, and one sentence."""
    name, sentence = _by_shares(work, state, queues)
    said = f" Its scheduler says: {work.refused}" if work.refused else ""
    return name, sentence + said


def _by_shares(work: Work, state: PoolState, queues: ShareQueues) -> tuple[WaitingName, str]:
    resource, free = state.pool.resource, state.free
    queue = queues.get((work.scheduler, work.queue)) if work.scheduler is not None else None
    share = queue.deserved.get(resource) if queue is not None else None
    if queue is not None and share is not None:
        used = queue.allocated.get(resource, 0.0)
        if work.gpus > share - used:
            told = f"Queue {queue.name} uses {used:g} of its {share:g} GPUs and {work.title} asks for {work.gpus} more"
            others = _borrowers(queue, resource, queues.values())
            if others:
                return WaitingName.STARVED, f"{told}, while {others}."
            return WaitingName.SHORT_OF_CAPACITY, f"{told}, and no other queue borrows."
    if state.fits(work.pods, work.gpus_per_pod):
        return WaitingName.BROKEN, "Nodes are free, and yet its pods are not bound: look at the scheduler."
    if free >= work.gpus or share is not None:
        shape = f"{work.pods} x {work.gpus_per_pod}"
        return WaitingName.BLOCKED, f"{gpus_are(free)} free, but no nodes have {shape} GPUs free: fragmentation."
    return WaitingName.SHORT_OF_CAPACITY, f"{gpus_are(free)} free and it needs {work.gpus}: the pool is full."


def _borrowers(own: ShareQueue, resource: str, queues: Iterable[ShareQueue]) -> str:
    """Which leaves of the same scheduler use more than their share, the largest first; "" when none does."""
    parents = {queue.parent for queue in queues}
    found = sorted(
        (-queue.borrowed(resource), queue.name)
        for queue in queues
        if queue.scheduler is own.scheduler and queue is not own and queue.name not in parents
    )
    named = [f"{name} borrows {-amount:g}" for amount, name in found if amount < 0]
    return ", ".join(named[:3]) + (f" and {len(named) - 3} more borrow" if len(named) > 3 else "")
