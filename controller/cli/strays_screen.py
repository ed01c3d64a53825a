"""The parts of `trimtab look` on fragments, pods that stay or stray, and queues of Volcano and KAI. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from collector.model.gangs import ShareQueue
from collector.model.quantities import counted, format_duration
from collector.model.snapshot import PoolState, Snapshot
from collector.model.strays import StuckPod
from controller.cli.output import left, right, section, shortened, table

_MOST_LISTED = 10


def shape_notes(snapshot: Snapshot) -> Iterator[RenderableType]:
    """For each pool with free GPUs, the largest gang of whole nodes that fits now."""
    for name, state in sorted(snapshot.pools.items()):
        size = state.gpus_per_node
        if state.free and size:
            gang = f"{state.places(size)} × {counted(size, 'GPU')}"
            yield Text(f"{name}: {state.free} free, the largest gang of whole nodes that fits now is {gang}", "italic")
        withdrawn = [node for node in state.nodes if node.withdrawn]
        if withdrawn:
            gpus, nodes = sum(node.withdrawn for node in withdrawn), shortened([node.name for node in withdrawn])
            yield Text(
                f"{name}: {counted(gpus, 'GPU')} not offered, their plugin calls them unhealthy ({nodes})", "yellow"
            )


def stray_sections(snapshot: Snapshot) -> Iterator[RenderableType]:
    """Pods that do not go away, and pods on nodes where they should not be; nothing when there are none."""
    if snapshot.strays.stuck:
        yield _stuck(snapshot.strays.stuck)
    lines = [
        Text(f"{one.tenant} holds {counted(one.gpus, 'GPU')} of pool {one.pool}, where nothing was agreed with it")
        for one in snapshot.strays.off_pool
    ]
    lines += [
        Text(
            f"{one.tenant} runs {counted(one.pods, 'pod')} without GPUs on {one.nodes} of the nodes of pool {one.pool}"
        )
        for one in snapshot.strays.bystanders
    ]
    if lines:
        yield section("On nodes where they should not be", *lines[:_MOST_LISTED])


def share_section(queues: tuple[ShareQueue, ...]) -> Iterator[RenderableType]:
    """What each queue of Volcano and KAI holds and uses; nothing where there are none."""
    if queues:
        titles = ("GUARANTEED", "DESERVED", "LIMIT", "USED", "BORROWED")
        shown = table(left("QUEUE"), left("OF"), left("RESOURCE"), *(right(title) for title in titles))
        for queue in queues:
            for resource in sorted({*queue.deserved, *queue.ceiling, *queue.allocated}):
                amounts = (queue.guaranteed, queue.deserved, queue.ceiling, queue.allocated)
                cells = ["–" if resource not in amount else f"{amount[resource]:g}" for amount in amounts]
                borrowed = f"{queue.borrowed(resource):g}" if resource in queue.deserved else "?"
                shown.add_row(queue.name, queue.scheduler.value, resource, *cells, borrowed)
        if shown.row_count:
            yield section("Queues of Volcano and KAI", shown)


def strays_record(snapshot: Snapshot) -> dict[str, Any]:
    """The same for scripts."""
    return {
        "stuck_pods": [
            {
                "namespace": pod.namespace,
                "name": pod.name,
                "tenant": pod.tenant,
                "pool": pod.pool or None,
                "node": pod.node,
                "gpus": pod.gpus,
                "stuck_seconds": round(pod.stuck_seconds, 1),
            }
            for pod in snapshot.strays.stuck
        ],
        "off_pool": [{"tenant": one.tenant, "pool": one.pool, "gpus": one.gpus} for one in snapshot.strays.off_pool],
        "bystanders": [
            {"tenant": one.tenant, "pool": one.pool, "pods": one.pods, "nodes": one.nodes}
            for one in snapshot.strays.bystanders
        ],
        "largest_gangs": [_gang_record(name, state) for name, state in sorted(snapshot.pools.items())],
        "scheduler_queues": [_queue_record(queue) for queue in snapshot.share_queues],
    }


def _gang_record(name: str, state: PoolState) -> dict[str, Any]:
    size = state.gpus_per_node
    return {"pool": name, "free_gpus": state.free, "nodes": state.places(size) if size else 0, "gpus_per_node": size}


def _queue_record(queue: ShareQueue) -> dict[str, Any]:
    return {
        "scheduler": queue.scheduler.value,
        "queue": queue.name,
        "parent": queue.parent,
        "open": queue.open,
        "guaranteed": dict(queue.guaranteed),
        "deserved": dict(queue.deserved),
        "limit": dict(queue.ceiling),
        "used": dict(queue.allocated),
        "borrowed": {resource: queue.borrowed(resource) for resource in queue.deserved},
    }


def _stuck(pods: tuple[StuckPod, ...]) -> RenderableType:
    shown = table(right("STUCK FOR"), right("GPUS"), left("TENANT"), left("POD"), left("NODE"))
    for pod in pods[:_MOST_LISTED]:
        row = (format_duration(pod.stuck_seconds), str(pod.gpus), pod.tenant, f"{pod.namespace}/{pod.name}", pod.node)
        shown.add_row(*row)
    return section(f"Deleted, and still holding {counted(sum(pod.gpus for pod in pods), 'GPU')}: {len(pods)}", shown)
