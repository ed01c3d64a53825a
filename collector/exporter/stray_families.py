"""Fragments, sick nodes, pods that stay or stray, shares of Volcano and KAI: as metric families, bounded by design."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from prometheus_client.core import Metric as Family

from collector.exporter.family import Rows, family
from collector.model.gangs import ShareQueue
from collector.model.snapshot import PoolState, Snapshot


def pod_sizes(state: PoolState) -> tuple[int, ...]:
    """GPUs per pod that are worth asking about: powers of two below the largest node, and that node."""
    most = state.gpus_per_node
    return (*(2**power for power in range(16) if 2**power < most), *((most,) if most else ()))


def shape_families(snapshot: Snapshot, cluster: str) -> Iterator[Family]:
    """What fits on the nodes of each pool."""
    pools = sorted(snapshot.pools.items())
    yield family(
        "trimtab_pool_largest_gang_gpus",
        (
            ((cluster, name, str(size)), float(state.largest_gang(size)))
            for name, state in pools
            for size in pod_sizes(state)
        ),
    )
    withdrawn = (((cluster, name), float(sum(node.withdrawn for node in state.nodes))) for name, state in pools)
    yield family("trimtab_pool_withdrawn_gpus", withdrawn)


def stray_families(snapshot: Snapshot, cluster: str) -> Iterator[Family]:
    """Pods that stay or stray, per tenant and pool."""
    stuck: dict[tuple[str, str], int] = defaultdict(int)
    for pod in snapshot.strays.stuck:
        stuck[pod.tenant, pod.pool] += pod.gpus
    yield family("trimtab_tenant_stuck_gpus", (((cluster, *key), float(gpus)) for key, gpus in sorted(stuck.items())))
    off_pool = (((cluster, one.tenant, one.pool), float(one.gpus)) for one in snapshot.strays.off_pool)
    yield family("trimtab_tenant_off_pool_gpus", off_pool)
    bystanders = (((cluster, one.tenant, one.pool), float(one.pods)) for one in snapshot.strays.bystanders)
    yield family("trimtab_tenant_bystander_pods", bystanders)


def share_families(snapshot: Snapshot, cluster: str) -> Iterator[Family]:
    """What the queues of Volcano and KAI hold and use; none where there are no such queues."""
    if snapshot.share_queues:
        rows = (row for queue in snapshot.share_queues for row in _shares(queue, cluster))
        yield family("trimtab_scheduler_queue_gpus", rows)


def _shares(queue: ShareQueue, cluster: str) -> Rows:
    parts = {
        "guaranteed": queue.guaranteed,
        "deserved": queue.deserved,
        "ceiling": queue.ceiling,
        "used": queue.allocated,
        "borrowed": {resource: queue.borrowed(resource) for resource in queue.deserved},
    }
    for part, amounts in parts.items():
        for resource, amount in sorted(amounts.items()):
            yield (cluster, queue.scheduler.value, queue.name, resource, part), amount
